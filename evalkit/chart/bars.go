package chart

import (
	"fmt"
	"slices"

	"github.com/go-echarts/go-echarts/v2/charts"
)

// A Value is a number with its interval, all in the unit of the axis. A nil
// Value is a gap; Lo and Hi exist both or not at all.
type Value struct{ Value, Lo, Hi *float64 }

// A BarTable is groups × series: what Bars shows.
type BarTable struct {
	Title, Note string
	Axis        string   // name of the number axis, with its unit
	GroupHead   string   // what a group is; default "group"
	SeriesHead  string   // what a series is; default "series"
	Groups      []string // from top to bottom
	Series      []BarSeries
}

// A BarSeries has one value for every group, in their order.
type BarSeries struct {
	Name   string
	Values []Value
}

// Bars draws grouped horizontal bars, with an interval across the end of each
// bar that has one.
func Bars(t BarTable) (*Chart, error) {
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("bars %q: %w", t.Title, err)
	}
	t.GroupHead, t.SeriesHead = orDefault(t.GroupHead, "group"), orDefault(t.SeriesHead, "series")
	names := make([]string, len(t.Series))
	for i, s := range t.Series {
		names[i] = s.Name
	}
	b := charts.NewBar()
	b.SetGlobalOptions(barAxes(t.Groups, t.Axis)...)
	for i, s := range t.Series {
		b.AddSeries(s.Name, nil, charts.WithSeriesOpts(func(x *charts.SingleSeries) {
			// Written out, for the default depends on the number of series and
			// the intervals must share it.
			x.BarGap, x.BarCategoryGap = "30%", "20%"
			x.Data = t.barData(i)
		}))
	}
	patches := append(namePatches("yAxis.0"), patterns(len(t.Series))...)
	if t.hasIntervals() {
		b.Overlap(t.intervals())
		for i := range t.Series {
			at := fmt.Sprintf("series.%d.", len(t.Series)+i)
			patches = append(patches,
				patch{at + "silent", true},               // the tooltip is the bar's
				patch{at + "boxWidth", []int{3, 9}},      // pixels, of the caps
				patch{at + "z", 5},                       // above the bars
				patch{at + "itemStyle.borderWidth", 1.5}, // the colour is the theme's
			)
		}
	}
	thick := 13 // pixels of a bar
	switch {
	case len(t.Series) == 1:
		thick = 18
	case len(t.Series) > 12:
		thick = 10
	}
	// A band holds the bars, gaps of 30 % between them and 20 % around them.
	band := max(int(float64(thick)*(1.3*float64(len(t.Series))-0.3)/0.8), 30)
	f := frame{title: t.Title, note: t.Note, top: edge, plot: plotHeight(t.Groups, band), legend: names, names: t.Groups}
	return f.build(b, t.table(), patches...)
}

func (t BarTable) check() error {
	if err := distinct("group", t.Groups); err != nil {
		return err
	}
	var names []string
	for _, s := range t.Series {
		names = append(names, s.Name)
		if len(s.Values) != len(t.Groups) {
			return fmt.Errorf("series %q: %d values for %d groups", s.Name, len(s.Values), len(t.Groups))
		}
		for i, v := range s.Values {
			if err := interval(v.Value, v.Lo, v.Hi, fmt.Sprintf("series %q: group %q", s.Name, t.Groups[i])); err != nil {
				return err
			}
		}
	}
	return distinct("series", names)
}

func (t BarTable) hasIntervals() bool {
	return slices.ContainsFunc(t.Series, func(s BarSeries) bool {
		return slices.ContainsFunc(s.Values, func(v Value) bool { return v.Lo != nil })
	})
}

func (t BarTable) barData(series int) []datum {
	out := make([]datum, len(t.Groups))
	for g := range t.Groups {
		out[g].Row = g*len(t.Series) + series
		if v := t.Series[series].Values[g].Value; v != nil {
			out[g].Value = *v
		}
	}
	return out
}

// intervals are box plots without a box: both quartiles lie at the value.
// ECharts places box plots in a band much as bars with gaps of 30 % and 20 %:
// their centres differ by less than 1 % of the band. Every series has one, even
// if empty, or the places would not agree. They bear the names of the bars and
// come and go with them.
func (t BarTable) intervals() *charts.BoxPlot {
	b := charts.NewBoxPlot()
	for i, s := range t.Series {
		data := t.barData(i)
		for g, v := range s.Values {
			data[g].Value = []any{nil, nil, nil, nil, nil}
			if v.Lo != nil {
				data[g].Value = []any{*v.Lo, *v.Value, *v.Value, *v.Value, *v.Hi}
			}
		}
		b.AddSeries(s.Name, nil, charts.WithSeriesOpts(func(x *charts.SingleSeries) { x.Data = data }))
	}
	return b
}

func (t BarTable) table() Table {
	out := Table{Head: []string{t.GroupHead, t.SeriesHead, orDefault(t.Axis, "value")}}
	bounds := t.hasIntervals()
	if bounds {
		out.Head = append(out.Head, "low", "high")
	}
	for g, group := range t.Groups {
		for _, s := range t.Series {
			v := s.Values[g]
			row := []Cell{text(group), text(s.Name), number(v.Value)}
			if bounds {
				row = append(row, number(v.Lo), number(v.Hi))
			}
			out.Rows = append(out.Rows, row)
		}
	}
	return out
}

func orDefault(s, def string) string {
	if s == "" {
		return def
	}
	return s
}
