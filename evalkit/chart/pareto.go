package chart

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-echarts/go-echarts/v2/charts"
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
	Key   string // names a point on the front below the plot; default Label
}

// Pareto draws the points; those on the front are numbered and joined by steps,
// and the Key names them: names beside the points would hide one another. The
// table and the tooltip name all.
func Pareto(t ParetoTable) (*Chart, error) {
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("pareto %q: %w", t.Title, err)
	}
	points := slices.Clone(t.Points)
	slices.SortStableFunc(points, func(a, b ParetoPoint) int { return cmp.Or(cmp.Compare(a.X, b.X), cmp.Compare(b.Y, a.Y)) })
	table := Table{Head: []string{orDefault(t.PointHead, "setting"), orDefault(t.XAxis, "x"), orDefault(t.YAxis, "y"), "number on the front"}}
	var front, others []datum
	low, high := math.Inf(1), math.Inf(-1)
	var key []string
	for i, p := range points {
		d := datum{Value: []float64{p.X, p.Y}, Row: i}
		low, high = min(low, p.Y), max(high, p.Y)
		onFront := "–"
		if p.Front {
			key = append(key, orDefault(p.Key, p.Label))
			onFront = strconv.Itoa(len(key))
			d.Label = map[string]any{"show": true, "formatter": onFront, "position": "inside", "color": onFill, "fontSize": fontSize - 1, "fontWeight": "bold"}
			front = append(front, d)
		} else {
			others = append(others, d)
		}
		table.Rows = append(table.Rows, []Cell{text(p.Label), number(&p.X), number(&p.Y), text(onFront)})
	}
	b := charts.NewScatter()
	b.SetGlobalOptions(valueAxes(t.XAxis, t.YAxis)...)
	from, to, step := roundOut(low, high)
	patches := []patch{yNameLeft(), {"yAxis.0.min", from}, {"yAxis.0.max", to}, {"yAxis.0.interval", step}}
	var names []string
	if front != nil {
		names = append(names, "on the front")
		steps := charts.NewLine()
		steps.AddSeries(names[0], nil, charts.WithSeriesOpts(func(x *charts.SingleSeries) {
			x.Data, x.Step, x.Symbol, x.SymbolSize = front, "end", "circle", 19
			x.Color = higherColour
		}))
		b.Overlap(steps)
	}
	if others != nil {
		names = append(names, "not on the front")
		b.AddSeries("not on the front", nil, charts.WithSeriesOpts(func(x *charts.SingleSeries) {
			x.Data, x.Symbol, x.SymbolSize = others, "circle", 9
			x.Color = lowerColour
		}))
		patches = append(patches, patch{fmt.Sprintf("series.%d.itemStyle", len(names)-1), look{colour: lowerColour, symbol: symbol{hollow: true}}.item()})
	}
	f := frame{title: t.Title, note: t.Note, top: 4 * edge, plot: 360, legend: names}
	c, err := f.build(b, table, patches...)
	if err != nil {
		return nil, err
	}
	c.Key = key
	return c, nil
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

// plain keeps a text from being read as a template, of which ECharts replaces
// {a} and the like: a space of no width follows each opening brace.
func plain(s string) string {
	return strings.NewReplacer("{", "{\u200b", "\n", " ").Replace(s)
}
