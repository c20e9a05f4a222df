package chart

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
)

// A DeltaTable is one difference per question, arm minus baseline.
type DeltaTable struct {
	Title, Note  string
	Axis         string // name of the delta, with its unit
	QuestionHead string // default "question"
	Questions    []Question
}

// A Question is one pair. A nil Delta did not exist on one side.
type Question struct {
	Name  string
	Delta *float64
}

// Deltas draws every question as a thin bar, the largest gain first, up for a
// gain and down for a loss. None is left out, however many there are; those
// without a value come last, as a gap.
func Deltas(t DeltaTable) (*Chart, error) {
	if len(t.Questions) == 0 {
		return nil, fmt.Errorf("deltas %q: no questions", t.Title)
	}
	sorted := slices.Clone(t.Questions)
	slices.SortStableFunc(sorted, func(a, b Question) int {
		if a.Delta == nil || b.Delta == nil {
			return cmp.Compare(missing(a.Delta), missing(b.Delta))
		}
		return cmp.Compare(*b.Delta, *a.Delta)
	})
	table := Table{Head: []string{orDefault(t.QuestionHead, "question"), orDefault(t.Axis, "delta")}}
	names := make([]string, len(sorted))
	var signs [3][]datum // as signOf
	gaps := 0
	for i, q := range sorted {
		if err := finite(q.Delta, fmt.Sprintf("question %q: delta", q.Name)); err != nil {
			return nil, fmt.Errorf("deltas %q: %w", t.Title, err)
		}
		names[i] = q.Name
		table.Rows = append(table.Rows, []Cell{text(q.Name), number(q.Delta)})
		if q.Delta == nil {
			gaps++
			continue
		}
		at := signOf(*q.Delta)
		signs[at] = append(signs[at], datum{Value: []any{i, *q.Delta}, Row: i})
	}
	return t.build(table, names, signs, gaps)
}

// signOf is the place of a delta among gains, losses and no changes.
func signOf(delta float64) int {
	switch {
	case delta > 0:
		return 0
	case delta < 0:
		return 1
	}
	return 2
}

func (t DeltaTable) build(table Table, names []string, signs [3][]datum, gaps int) (*Chart, error) {
	b := charts.NewBar()
	axis := fmt.Sprintf("%d questions, largest gain first", len(names))
	if gaps > 0 {
		axis = fmt.Sprintf("%d questions, largest gain first, %d without a value last", len(names), gaps)
	}
	b.SetGlobalOptions(
		charts.WithXAxisOpts(opts.XAxis{
			Type: "category", Name: axis, NameLocation: "middle", NameGap: 12,
			AxisLabel: &opts.AxisLabel{Show: opts.Bool(false)}, AxisLine: &opts.AxisLine{OnZero: opts.Bool(true)},
		}),
		charts.WithYAxisOpts(opts.YAxis{Type: "value", Name: t.Axis, NameLocation: "end"}),
	)
	b.SetXAxis(names)
	var legend []string
	for i, kind := range []struct{ name, colour string }{{"gain", gainColour}, {"loss", lossColour}, {"no change", zeroColour}} {
		name := fmt.Sprintf("%s (%d)", kind.name, len(signs[i]))
		legend = append(legend, name)
		b.AddSeries(name, nil, charts.WithSeriesOpts(func(x *charts.SingleSeries) {
			x.Data = signs[i]
			x.Color = kind.colour
			// One bar per place, and no gap that would grow where bars are
			// thinner than a pixel.
			x.BarGap, x.BarCategoryGap, x.BarMinWidth = "-100%", "10%", "1"
			x.Large = opts.Bool(false)
		}))
	}
	f := frame{title: t.Title, note: t.Note, top: 3 * edge, plot: 300, legend: legend}
	c, err := f.build(b, table, yNameLeft(), patch{"tooltip.trigger", "axis"}, patch{"xAxis.0.axisTick", map[string]any{"show": false}})
	if err != nil {
		return nil, fmt.Errorf("deltas %q: %w", t.Title, err)
	}
	return c, nil
}

func missing(v *float64) int {
	if v == nil {
		return 1
	}
	return 0
}
