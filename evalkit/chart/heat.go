package chart

import (
	"cmp"
	"fmt"
	"math"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
)

// A HeatTable is a matrix: strategies × settings, for one.
type HeatTable struct {
	Title, Note string
	Axis        string // what the numbers are, with their unit
	RowHead     string // what a row is; default "row"
	Rows        []string
	Columns     []string     // in the order to be shown
	Values      [][]*float64 // rows × columns; nil is an empty cell
}

const heatCell = 68 // pixels

// Heat draws a matrix with the number written in each cell.
func Heat(t HeatTable) (*Chart, error) {
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("heat %q: %w", t.Title, err)
	}
	low, high := t.bounds()
	table := Table{Head: append([]string{orDefault(t.RowHead, "row")}, t.Columns...)}
	var data []datum
	for r, name := range t.Rows {
		row := []Cell{text(name)}
		for c, v := range t.Values[r] {
			row = append(row, number(v))
			if v != nil {
				data = append(data, datum{Value: []any{c, r, *v}, Row: r, Col: c + 1, Label: heatLabel(*v, low, high)})
			}
		}
		table.Rows = append(table.Rows, row)
	}
	b := charts.NewHeatMap()
	b.SetGlobalOptions(barAxes(t.Rows, "")...)
	tall := 0
	for _, c := range t.Columns {
		tall = max(tall, lines(c, heatCell-4)*lineHeight)
	}
	b.SetGlobalOptions(
		charts.WithXAxisOpts(opts.XAxis{
			Type: "category", Data: t.Columns, Position: "top",
			AxisLabel: &opts.AxisLabel{Show: opts.Bool(true), Width: heatCell - 4, Overflow: "break"},
		}),
		charts.WithVisualMapOpts(opts.VisualMap{
			Type: "continuous", Orient: "horizontal", Left: "center", Bottom: "0",
			InRange: &opts.VisualMapInRange{Color: heatColours}, Calculable: opts.Bool(false),
		}),
	)
	b.AddSeries(orDefault(t.Axis, "value"), nil, charts.WithSeriesOpts(func(x *charts.SingleSeries) {
		x.Data = data
		x.ItemStyle = &opts.ItemStyle{BorderWidth: 1, BorderColor: "transparent"}
	}))
	f := frame{
		title: t.Title, note: t.Note, top: tall + 2*edge, plot: plotHeight(t.Rows, 30), names: t.Rows,
		minWidth: labelWidth + 4*edge + heatCell*len(t.Columns),
	}
	patches := append(namePatches("yAxis.0"), namePatches("xAxis.0")...)
	// go-echarts keeps the ends in single precision and drops a zero.
	patches = append(patches,
		patch{"visualMap.0.min", low}, patch{"visualMap.0.max", high}, patch{"visualMap.0.precision", decimals(high - low)},
		patch{"visualMap.0.text", []string{short(high), orDefault(t.Axis, "value") + "  " + short(low)}},
	)
	return f.build(b, table, patches...)
}

func (t HeatTable) check() error {
	if err := cmp.Or(distinct("row", t.Rows), distinct("column", t.Columns)); err != nil {
		return err
	}
	if len(t.Values) != len(t.Rows) {
		return fmt.Errorf("%d rows of values for %d rows", len(t.Values), len(t.Rows))
	}
	for r, row := range t.Values {
		if len(row) != len(t.Columns) {
			return fmt.Errorf("row %q: %d values for %d columns", t.Rows[r], len(row), len(t.Columns))
		}
		for c, v := range row {
			if err := finite(v, fmt.Sprintf("row %q: column %q: value", t.Rows[r], t.Columns[c])); err != nil {
				return err
			}
		}
	}
	return nil
}

// bounds are the least and the greatest value, 0 and 1 if there is none.
func (t HeatTable) bounds() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, row := range t.Values {
		for _, v := range row {
			if v != nil {
				low, high = min(low, *v), max(high, *v)
			}
		}
	}
	switch {
	case low > high:
		return 0, 1
	case low == high:
		return low - 0.5, high + 0.5
	}
	return low, high
}

// heatLabel is written dark on the light half of the colours and light on the
// dark half; the ground is the cell's, so the page's theme has no say in it.
func heatLabel(v, low, high float64) map[string]any {
	ink := "#000"
	if (v-low)/(high-low) > 0.6 {
		ink = "#fff"
	}
	return map[string]any{"show": true, "formatter": short(v), "color": ink, "fontSize": fontSize - 1}
}

// decimals are those that show a hundredth of a range.
func decimals(span float64) int {
	return min(max(0, 2-int(math.Floor(math.Log10(span)))), 12)
}
