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

// Deltas draws every question as a thin bar, the highest first, up or down as
// its sign; whether higher is better the note should say. None is left out,
// however many there are; those without a value come last, as a gap.
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
	var signs [4][]datum // as signOf
	for i, q := range sorted {
		if err := finite(q.Delta, fmt.Sprintf("question %q: delta", q.Name)); err != nil {
			return nil, fmt.Errorf("deltas %q: %w", t.Title, err)
		}
		names[i] = q.Name
		table.Rows = append(table.Rows, []Cell{text(q.Name), number(q.Delta)})
		d := datum{Value: []any{i, nil}, Row: i}
		if q.Delta != nil {
			d.Value = []any{i, *q.Delta}
		}
		at := signOf(q.Delta)
		signs[at] = append(signs[at], d)
	}
	return t.build(table, names, signs)
}

const gap = 3 // the place of deltas that do not exist

// signOf is the place of a delta among the higher, the lower, the unchanged and the gaps.
func signOf(delta *float64) int {
	switch {
	case delta == nil:
		return gap
	case *delta > 0:
		return 0
	case *delta < 0:
		return 1
	}
	return 2
}

func (t DeltaTable) build(table Table, names []string, signs [4][]datum) (*Chart, error) {
	b := charts.NewBar()
	b.SetGlobalOptions(
		charts.WithXAxisOpts(opts.XAxis{
			Type: "category", Name: fmt.Sprintf("%d questions, highest first", len(names)), NameLocation: "middle", NameGap: 12,
			AxisLabel: &opts.AxisLabel{Show: opts.Bool(false)}, AxisLine: &opts.AxisLine{OnZero: opts.Bool(true)},
		}),
		charts.WithYAxisOpts(opts.YAxis{Type: "value", Name: t.Axis, NameLocation: "end"}),
	)
	b.SetXAxis(names)
	var legend []string
	for i, kind := range []struct{ name, colour string }{
		{"higher", higherColour}, {"lower", lowerColour}, {"no change", sameColour}, {"no value, at the right end", "transparent"},
	} {
		if i == gap && len(signs[gap]) == 0 {
			continue
		}
		name := fmt.Sprintf("%s (%d)", kind.name, len(signs[i]))
		legend = append(legend, name)
		b.AddSeries(name, nil, charts.WithSeriesOpts(func(x *charts.SingleSeries) {
			x.Data = append([]datum{}, signs[i]...) // never null
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
