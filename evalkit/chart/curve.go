package chart

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
)

// A CurveTable is one line per series: recall against context tokens, for one.
type CurveTable struct {
	Title, Note  string
	XAxis, YAxis string // names with units
	SeriesHead   string // what a series is; default "series"
	Series       []CurveSeries
}

// A CurveSeries is a line. Its points are drawn in the order of X whatever
// their order here.
type CurveSeries struct {
	Name   string
	Points []CurvePoint
}

// A CurvePoint is a place on a line. A nil Y is a gap.
type CurvePoint struct {
	X         float64
	Y, Lo, Hi *float64
	Label     string // the setting, "k=5 ±1/1"
}

const labelledPoints = 24 // labels of more points would hide one another

// Curve draws lines; the series differ by colour, symbol and dash.
func Curve(t CurveTable) (*Chart, error) {
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("curve %q: %w", t.Title, err)
	}
	t.SeriesHead = orDefault(t.SeriesHead, "series")
	points := 0
	for _, s := range t.Series {
		points += len(s.Points)
	}
	b := charts.NewLine()
	b.SetGlobalOptions(valueAxes(t.XAxis, t.YAxis)...)
	patches := []patch{yNameLeft()}
	var names []string
	table := Table{Head: []string{t.SeriesHead, orDefault(t.XAxis, "x"), orDefault(t.YAxis, "y"), "low", "high", "setting"}}
	for i, s := range t.Series {
		sorted := slices.Clone(s.Points)
		slices.SortStableFunc(sorted, func(a, b CurvePoint) int { return cmp.Compare(a.X, b.X) })
		names = append(names, s.Name)
		b.AddSeries(s.Name, nil, line(i, curveData(sorted, len(table.Rows), points <= labelledPoints)))
		at := fmt.Sprintf("series.%d.", i)
		patches = append(patches, patch{at + "lineStyle.type", dashes[i%len(dashes)]}) // a type may be a list
		if marks := errorBars(sorted); marks != nil {
			patches = append(patches, patch{at + "markLine", marks})
		}
		for _, p := range sorted {
			table.Rows = append(table.Rows, []Cell{text(s.Name), number(&p.X), number(p.Y), number(p.Lo), number(p.Hi), text(p.Label)})
		}
	}
	f := frame{title: t.Title, note: t.Note, top: 3 * edge, plot: 340, legend: names}
	return f.build(b, table, patches...)
}

func (t CurveTable) check() error {
	var names []string
	for _, s := range t.Series {
		names = append(names, s.Name)
		if len(s.Points) == 0 {
			return fmt.Errorf("series %q: no points", s.Name)
		}
		for i, p := range s.Points {
			where := fmt.Sprintf("series %q: point %d %q", s.Name, i+1, p.Label)
			if err := finite(&p.X, where+": x"); err != nil {
				return err
			}
			if err := interval(p.Y, p.Lo, p.Hi, where); err != nil {
				return err
			}
		}
	}
	return distinct("series", names)
}

// line is a series with the symbol and the dash of its place.
func line(i int, data []datum) charts.SeriesOpts {
	return charts.WithSeriesOpts(func(x *charts.SingleSeries) {
		x.Data = data
		x.Symbol, x.SymbolSize, x.ShowSymbol = symbols[i%len(symbols)], 9, opts.Bool(true)
		x.LineStyle = &opts.LineStyle{Width: 2}
		x.LabelLayout = &opts.LabelLayout{HideOverlap: opts.Bool(true)}
	})
}

func curveData(points []CurvePoint, row int, labels bool) []datum {
	out := make([]datum, len(points))
	for i, p := range points {
		value := []any{p.X, nil}
		if p.Y != nil {
			value[1] = *p.Y
		}
		out[i] = datum{Value: value, Row: row + i}
		if labels && p.Label != "" {
			out[i].Label = map[string]any{"show": true, "position": "top", "formatter": plain(p.Label), "fontSize": fontSize - 1}
		}
	}
	return out
}

// errorBars are mark lines from low to high, the one thing that stands on a
// number axis without a function. nil if there are none.
func errorBars(points []CurvePoint) map[string]any {
	var data []any
	for _, p := range points {
		if p.Lo != nil {
			data = append(data, []any{map[string]any{"coord": []float64{p.X, *p.Lo}}, map[string]any{"coord": []float64{p.X, *p.Hi}}})
		}
	}
	if data == nil {
		return nil
	}
	return map[string]any{
		"silent": true, "animation": false, "symbol": "rect", "symbolSize": []float64{8, 1.5}, "label": map[string]any{"show": false},
		"lineStyle": map[string]any{"type": "solid", "width": 1.5, "opacity": 0.7}, "data": data,
	}
}
