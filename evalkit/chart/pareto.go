package chart

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
)

// A ParetoTable is a cloud of settings: what they cost (X, less is better) and
// what they bring (Y, more is better).
type ParetoTable struct {
	Title, Note  string
	XAxis, YAxis string // names with units
	PointHead    string // what a point is; default "setting"
	Points       []ParetoPoint
}

// A ParetoPoint is one setting. Front says that no other one costs less and
// brings more; the caller decides it.
type ParetoPoint struct {
	X, Y  float64
	Label string
	Front bool
}

// Pareto draws the points; those on the front are filled and joined by steps.
// Of many points only those on the front are labelled; the table names all.
func Pareto(t ParetoTable) (*Chart, error) {
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("pareto %q: %w", t.Title, err)
	}
	points := slices.Clone(t.Points)
	slices.SortStableFunc(points, func(a, b ParetoPoint) int { return cmp.Or(cmp.Compare(a.X, b.X), cmp.Compare(b.Y, a.Y)) })
	table := Table{Head: []string{orDefault(t.PointHead, "setting"), orDefault(t.XAxis, "x"), orDefault(t.YAxis, "y"), "on the front"}}
	var front, others []datum
	middle := (points[0].X + points[len(points)-1].X) / 2
	for i, p := range points {
		d := datum{Value: []float64{p.X, p.Y}, Row: i}
		if p.Front || len(points) <= labelledPoints {
			d.Label = paretoLabel(p, middle)
		}
		onFront := "no"
		if p.Front {
			front, onFront = append(front, d), "yes"
		} else {
			others = append(others, d)
		}
		table.Rows = append(table.Rows, []Cell{text(p.Label), number(&p.X), number(&p.Y), text(onFront)})
	}
	b := charts.NewScatter()
	b.SetGlobalOptions(valueAxes(t.XAxis, t.YAxis)...)
	apart := &opts.LabelLayout{HideOverlap: opts.Bool(true)}
	var names []string
	if front != nil {
		names = append(names, "on the front")
		steps := charts.NewLine()
		steps.AddSeries(names[0], nil, charts.WithSeriesOpts(func(x *charts.SingleSeries) {
			x.Data, x.Step, x.Symbol, x.SymbolSize, x.LabelLayout = front, "end", "diamond", 13, apart
			x.Color = higherColour
		}))
		b.Overlap(steps)
	}
	if others != nil {
		names = append(names, "not on the front")
		b.AddSeries("not on the front", nil, charts.WithSeriesOpts(func(x *charts.SingleSeries) {
			x.Data, x.Symbol, x.SymbolSize, x.LabelLayout = others, "emptyCircle", 9, apart
			x.Color = lowerColour
		}))
	}
	f := frame{title: t.Title, note: t.Note, top: 3 * edge, plot: 360, legend: names}
	return f.build(b, table, yNameLeft())
}

func (t ParetoTable) check() error {
	if len(t.Points) == 0 {
		return errors.New("no points")
	}
	for i, p := range t.Points {
		where := fmt.Sprintf("point %d %q", i+1, p.Label)
		if err := cmp.Or(finite(&p.X, where+": x"), finite(&p.Y, where+": y")); err != nil {
			return err
		}
	}
	return nil
}

// paretoLabel stands above the step of a point on the front and beside the
// others, on the side where there is room. Labels that would hide one another
// are left out; the table and the tooltip have them all.
func paretoLabel(p ParetoPoint, middle float64) map[string]any {
	label := map[string]any{
		"show": true, "formatter": plain(p.Label), "fontSize": fontSize - 1, "lineHeight": lineHeight - 2,
		"width": labelWidth, "overflow": "break",
	}
	switch {
	case p.Front && p.X > middle:
		label["position"], label["align"], label["verticalAlign"] = []int{8, -4}, "right", "bottom"
	case p.Front:
		label["position"], label["align"], label["verticalAlign"] = []int{4, -4}, "left", "bottom"
	case p.X > middle:
		label["position"] = "left"
	default:
		label["position"] = "right"
	}
	if p.Front {
		label["fontWeight"] = "bold"
	}
	return label
}

// plain keeps a text from being read as a template, of which ECharts replaces
// {a} and the like: a space of no width follows each opening brace.
func plain(s string) string {
	return strings.NewReplacer("{", "{\u200b", "\n", " ").Replace(s)
}
