package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

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
	// Series with the same Colour share colour and symbol, those with the same
	// Dash share the dash: two ways in which lines can be alike. Where neither is
	// given all three change from series to series.
	Colour, Dash string
	Off          bool // not drawn until it is switched on in the legend
}

// A CurvePoint is a place on a line. A nil Y is a gap.
type CurvePoint struct {
	X         float64
	Y, Lo, Hi *float64
	Label     string // the setting, "k=5 ±1/1"
}

// labelledPoints is up to how many points all are labelled; of more, those of the
// first series, for labels would hide one another.
const labelledPoints = 12

// manySeries is from how many series on a plot holds the lines alone: labels and
// intervals would hide them, and are left to the table.
const manySeries = 9

// Curve draws lines; the series differ by colour, symbol and dash. Of nine
// series or more the intervals stand in the table only, and the note says so.
func Curve(t CurveTable) (*Chart, error) {
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("curve %q: %w", t.Title, err)
	}
	t.SeriesHead = orDefault(t.SeriesHead, "series")
	points, few := 0, len(t.Series) < manySeries
	for _, s := range t.Series {
		points += len(s.Points)
	}
	b := charts.NewLine()
	b.SetGlobalOptions(valueAxes(t.XAxis, t.YAxis)...)
	from, to, step := t.bounds()
	patches := []patch{yNameLeft(), {"yAxis.0.min", from}, {"yAxis.0.max", to}, {"yAxis.0.interval", step}}
	var names []string
	hidden, off, looks := "", map[string]bool{}, t.looks()
	table := Table{Head: []string{t.SeriesHead, orDefault(t.XAxis, "x"), orDefault(t.YAxis, "y"), "low", "high", "setting"}}
	for i, s := range t.Series {
		sorted := slices.Clone(s.Points)
		slices.SortStableFunc(sorted, func(a, b CurvePoint) int { return cmp.Compare(a.X, b.X) })
		names = append(names, s.Name)
		l := looks[i]
		b.AddSeries(s.Name, nil, line(l, curveData(sorted, len(table.Rows), few && (i == 0 || points <= labelledPoints))))
		at := fmt.Sprintf("series.%d.", i)
		patches = append(patches, patch{at + "lineStyle.type", l.dash}, patch{at + "lineStyle.color", l.colour}, patch{at + "itemStyle", l.item()}) // a type may be a list
		if s.Off {
			off[s.Name] = false
		}
		if marks := errorBars(sorted, l.colour); marks != nil && few {
			patches = append(patches, patch{at + "markLine", marks})
		} else if marks != nil {
			hidden = " The intervals are in the table."
		}
		for _, p := range sorted {
			table.Rows = append(table.Rows, []Cell{text(s.Name), number(&p.X), number(p.Y), number(p.Lo), number(p.Hi), text(p.Label)})
		}
	}
	if len(off) > 0 {
		patches = append(patches, patch{"legend.selected", off})
		what := "lines"
		if len(off) == 1 {
			what = "line"
		}
		hidden += fmt.Sprintf(" The legend switches %d more %s on.", len(off), what)
	}
	f := frame{title: t.Title, note: strings.TrimSpace(t.Note + hidden), top: 3 * edge, plot: 340, legend: names}
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

// bounds are the ends of the y axis and the step of its ticks: ECharts itself
// would not count the intervals.
func (t CurveTable) bounds() (from, to, step float64) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, s := range t.Series {
		for _, p := range s.Points {
			for _, v := range []*float64{p.Y, p.Lo, p.Hi} {
				if v != nil {
					low, high = min(low, *v), max(high, *v)
				}
			}
		}
	}
	if low > high {
		low, high = 0, 1
	}
	return roundOut(low, high)
}

// roundOut widens a range to multiples of a step that is 1, 2 or 5 times a power
// of ten and goes into it at most six times. What lies within 0 and 1 is a share:
// its axis ends there.
func roundOut(low, high float64) (from, to, step float64) {
	share := low >= 0 && high <= 1
	if low == high {
		low, high = low-0.5*math.Abs(low)-0.05, high+0.5*math.Abs(high)+0.05
	}
	digits := int(math.Floor(math.Log10((high - low) / 6)))
	for _, m := range []float64{1, 2, 5, 10} {
		if step = m * math.Pow10(digits); (high-low)/step <= 6 {
			break
		}
	}
	const slack = 1e-9                   // of a step: an end that is a multiple stays
	decimal := func(v float64) float64 { // as it is written, without the error of the product
		d, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'f', max(0, -digits), 64), 64)
		return d
	}
	from, to = decimal(math.Floor(low/step+slack)*step), decimal(math.Ceil(high/step-slack)*step)
	if share {
		from, to = max(from, 0), min(to, 1)
	}
	return from, to, decimal(step)
}

// looks returns what each series looks like.
func (t CurveTable) looks() []look {
	colours, dashesOf := map[string]int{}, map[string]int{}
	place := func(of map[string]int, key string) int {
		if _, ok := of[key]; !ok {
			of[key] = len(of)
		}
		return of[key]
	}
	out := make([]look, len(t.Series))
	for i, s := range t.Series {
		c, d := i, i
		if s.Colour != "" || s.Dash != "" {
			c, d = place(colours, s.Colour), place(dashesOf, s.Dash)
		}
		out[i] = look{palette[c%len(palette)], symbols[c%len(symbols)], dashes[d%len(dashes)]}
	}
	return out
}

// line is a series with its symbol.
func line(l look, data []datum) charts.SeriesOpts {
	return charts.WithSeriesOpts(func(x *charts.SingleSeries) {
		x.Data = data
		x.Symbol, x.SymbolSize, x.ShowSymbol = l.symbol.shape, 9, opts.Bool(true)
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
			out[i].Label = map[string]any{"show": true, "position": []int{12, 5}, "formatter": plain(p.Label), "fontSize": fontSize - 1}
		}
	}
	return out
}

// errorBars are mark lines from low to high, the one thing that stands on a
// number axis without a function. nil if there are none.
func errorBars(points []CurvePoint, colour string) map[string]any {
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
		"itemStyle": map[string]any{"color": colour},
		"lineStyle": map[string]any{"color": colour, "type": "solid", "width": 1.5, "opacity": 0.7}, "data": data,
	}
}
