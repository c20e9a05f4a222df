package chart_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit/chart"
	"github.com/chunkeval/chunkeval/evalkit/internal/golden"
)

func barTable() chart.BarTable {
	return chart.BarTable{
		Title: "Two metrics", Note: "Longer is better.", Axis: "mean", GroupHead: "metric", SeriesHead: "strategy",
		Groups: []string{"recall", "precision"},
		Series: []chart.BarSeries{
			{Name: "fixed_size(size=200)", Values: []chart.Value{{Value: new(0.75), Lo: new(0.7), Hi: new(0.8)}, {Value: new(0.25)}}},
			{Name: "sentence(size=5)", Values: []chart.Value{{Value: new(0.5), Lo: new(0.4), Hi: new(0.6)}, {}}},
		},
	}
}

func curveTable() chart.CurveTable {
	return chart.CurveTable{
		Title: "Curve", XAxis: "context tokens", YAxis: "recall", SeriesHead: "strategy",
		Series: []chart.CurveSeries{
			{Name: "a", Points: []chart.CurvePoint{{X: 1000, Y: new(0.9), Label: "k=10"}, {X: 200, Y: new(0.5), Lo: new(0.4), Hi: new(0.55), Label: "k=2"}}},
			{Name: "b", Points: []chart.CurvePoint{{X: 64, Y: new(0.25)}, {X: 128}}},
		},
	}
}

func paretoTable() chart.ParetoTable {
	return chart.ParetoTable{
		Title: "Front", XAxis: "context tokens", YAxis: "recall",
		Points: []chart.ParetoPoint{{500, 0.5, "c", false, ""}, {100, 0.4, "a", true, ""}, {400, 0.7, "b", true, "b, the best"}},
	}
}

func deltaTable() chart.DeltaTable {
	return chart.DeltaTable{
		Title: "Deltas", Axis: "recall",
		Questions: []chart.Question{{"q1", new(-0.5)}, {"q2", nil}, {"q3", new(0.25)}, {"q4", new(0.0)}},
	}
}

func heatTable() chart.HeatTable {
	return chart.HeatTable{
		Title: "Matrix", Axis: "recall", RowHead: "strategy", Rows: []string{"a", "b"}, Columns: []string{"k=5", "k=10"},
		Values: [][]*float64{{new(0.125), new(0.5)}, {nil, new(1.0)}},
	}
}

func stackTable() chart.StackTable {
	return chart.StackTable{
		Title: "Parts", Axis: "recall", RowHead: "strategy", Parts: []string{"hits", "prev 1", "next 1"},
		Rows: []chart.StackRow{{"a", []*float64{new(0.5), new(0.25), new(0.125)}}, {"b", []*float64{new(0.75), nil, new(0.0)}}},
	}
}

func waterfallTable() chart.WaterfallTable {
	return chart.WaterfallTable{
		Title: "Losses", Axis: "recall", SeriesHead: "strategy", Levels: []string{"segmentation", "candidates", "oracle", "actual"},
		Series: []chart.WaterfallSeries{
			{"a", []*float64{new(1.0), new(0.875), new(0.75), new(0.25)}},
			{"b", []*float64{new(0.5), nil, new(0.25), new(0.25)}},
		},
	}
}

// each makes a small chart of every kind.
func each(t testing.TB) map[string]*chart.Chart {
	t.Helper()
	out := map[string]*chart.Chart{}
	add := func(name string) func(c *chart.Chart, err error) {
		return func(c *chart.Chart, err error) {
			require.NoError(t, err, name)
			out[name] = c
		}
	}
	add("bars")(chart.Bars(barTable()))
	add("curve")(chart.Curve(curveTable()))
	add("pareto")(chart.Pareto(paretoTable()))
	add("deltas")(chart.Deltas(deltaTable()))
	add("heat")(chart.Heat(heatTable()))
	add("stack")(chart.Stack(stackTable()))
	add("waterfall")(chart.Waterfall(waterfallTable()))
	return out
}

func TestGolden(t *testing.T) {
	for name, c := range each(t) {
		var b bytes.Buffer
		require.NoError(t, json.Indent(&b, c.Option, "", " "))
		golden.Equal(t, name+".json", b.String()+"\n")
		golden.Equal(t, name+".csv", c.CSV())
	}
	golden.Equal(t, "figure.html", string(chart.HTML(each(t)["bars"])))
}

// option reads the parts of an option that tests look at.
type option struct {
	Animation *bool
	Legend    struct {
		Data     []string
		Bottom   string
		Selected map[string]bool
	}
	Grid []struct{ Top, Bottom, Left string }
	// Series of all kinds; values are numbers or lists of numbers.
	Series []struct {
		Name, Type, Symbol string
		Data               []struct {
			Value any
			Row   int
			Col   int
			Label struct{ Formatter string }
		}
		Sampling  string
		Large     *bool
		LineStyle struct {
			Type  any
			Color string
		}
		ItemStyle struct {
			Color, BorderColor string
			Decal              map[string]any
		}
	}
	YAxis []struct{ Min, Max float64 }
}

func read(t testing.TB, c *chart.Chart) option {
	t.Helper()
	var o option
	require.NoError(t, json.Unmarshal(c.Option, &o))
	return o
}

func TestSameTableSameBytes(t *testing.T) {
	first, second := each(t), each(t)
	for name, c := range first {
		assert.Equal(t, c, second[name], name)
		assert.Equal(t, chart.HTML(c), chart.HTML(second[name]), name)
		assert.Regexp(t, `^chart-[a-z0-9-]+$`, c.ID)
		assert.Equal(t, new(false), read(t, c).Animation, name)
	}
}

func TestIDsOfTitles(t *testing.T) {
	seen := map[string]string{}
	for _, title := range []string{"Recall", "recall", "Recall!", "日本", "日本語", strings.Repeat("long ", 40), "…"} {
		table := barTable()
		table.Title = title
		c, err := chart.Bars(table)
		require.NoError(t, err)
		assert.Regexp(t, `^chart-[a-z0-9-]{8,60}$`, c.ID)
		assert.Empty(t, seen[c.ID], title)
		seen[c.ID] = title
	}
	table := barTable()
	table.Title = " "
	_, err := chart.Bars(table)
	assert.ErrorContains(t, err, "without a title")
}

// TestShareEndsAtOne: an axis of shares does not run past what a share can be.
func TestShareEndsAtOne(t *testing.T) {
	pareto := paretoTable()
	for i := range pareto.Points {
		pareto.Points[i].Y = 1
	}
	c, err := chart.Pareto(pareto)
	require.NoError(t, err)
	axis := read(t, c).YAxis[0]
	assert.InDelta(t, 1, axis.Max, 0)
	assert.InDelta(t, 0.4, axis.Min, 1e-9)
	pareto.Points[0].Y = 1200
	c, err = chart.Pareto(pareto)
	require.NoError(t, err)
	assert.Greater(t, read(t, c).YAxis[0].Max, 1000.0, "no share")
	curve := curveTable()
	curve.Series[0].Points[0].Y, curve.Series[0].Points[0].X = new(1.0), 5
	c, err = chart.Curve(curve)
	require.NoError(t, err)
	assert.InDelta(t, 1, read(t, c).YAxis[0].Max, 0)
}

// TestParetoKey: numbers on the front, in the order of cost, and what they name.
func TestParetoKey(t *testing.T) {
	c := each(t)["pareto"]
	assert.Equal(t, []string{"a", "b, the best"}, c.Key)
	assert.Contains(t, string(chart.HTML(c)), `<ol class="chart-key"><li>a</li><li>b, the best</li></ol>`)
	o := read(t, c)
	assert.Equal(t, []string{"1", "2"}, []string{o.Series[0].Data[0].Label.Formatter, o.Series[0].Data[1].Label.Formatter})
	assert.Equal(t, "transparent", o.Series[1].ItemStyle.Color, "hollow on any ground")
	assert.Empty(t, o.Series[1].Data[0].Label.Formatter)
	assert.NotContains(t, string(c.Option), "empty", "ECharts fills those with white")
}

// TestCurveLooks: colour and symbol by one thing, dash by another, and what is
// off at first.
func TestCurveLooks(t *testing.T) {
	points := []chart.CurvePoint{{X: 1, Y: new(0.5)}}
	table := chart.CurveTable{Title: "x", Note: "Read it.", Series: []chart.CurveSeries{
		{Name: "a", Points: points, Colour: "a", Dash: "0"},
		{Name: "a 1", Points: points, Colour: "a", Dash: "1"},
		{Name: "b", Points: points, Colour: "b", Dash: "0"},
		{Name: "b 1", Points: points, Colour: "b", Dash: "1", Off: true},
	}}
	c, err := chart.Curve(table)
	require.NoError(t, err)
	s := read(t, c).Series
	for _, same := range [][2]int{{0, 1}, {2, 3}} {
		assert.Equal(t, s[same[0]].LineStyle.Color, s[same[1]].LineStyle.Color)
		assert.Equal(t, s[same[0]].Symbol, s[same[1]].Symbol)
	}
	for _, same := range [][2]int{{0, 2}, {1, 3}} {
		assert.Equal(t, s[same[0]].LineStyle.Type, s[same[1]].LineStyle.Type)
		assert.NotEqual(t, s[same[0]].LineStyle.Color, s[same[1]].LineStyle.Color)
	}
	assert.NotEqual(t, s[0].LineStyle.Type, s[1].LineStyle.Type)
	assert.Equal(t, map[string]bool{"b 1": false}, read(t, c).Legend.Selected)
	assert.Equal(t, "Read it. The legend switches 1 more line on.", c.Note)
	assert.Len(t, c.Table.Rows, 4, "the table has all")
}

func TestArgumentsStay(t *testing.T) {
	curve, deltas, pareto := curveTable(), deltaTable(), paretoTable()
	_, err := chart.Curve(curve)
	require.NoError(t, err)
	_, err = chart.Deltas(deltas)
	require.NoError(t, err)
	_, err = chart.Pareto(pareto)
	require.NoError(t, err)
	assert.Equal(t, curveTable(), curve)
	assert.Equal(t, deltaTable(), deltas)
	assert.Equal(t, paretoTable(), pareto)
}

// TestTooltipRows holds what the page's script relies on: every item names the
// row, and in a matrix the column, of its number.
func TestTooltipRows(t *testing.T) {
	for name, c := range each(t) {
		for _, s := range read(t, c).Series {
			if s.Type == "boxplot" {
				continue
			}
			for _, d := range s.Data {
				row := c.Table.Rows[d.Row]
				got := d.Value
				if list, ok := got.([]any); ok {
					got = list[len(list)-1]
				}
				col := d.Col
				if col == 0 {
					col = map[string]int{"bars": 2, "curve": 2, "pareto": 2, "deltas": 1}[name]
				}
				if got == nil {
					assert.Nil(t, row[col].Value, "%s %q", name, s.Name)
					assert.Equal(t, "n/a", row[col].Text)
					continue
				}
				require.NotNil(t, row[col].Value, "%s %q %d", name, s.Name, d.Row)
				assert.InDelta(t, *row[col].Value, got, 0, "%s %q", name, s.Name)
			}
		}
	}
}

func TestCSVIsReadBack(t *testing.T) {
	table := barTable()
	table.Groups = []string{"a,\"b\"\nc", " blank before"}
	c, err := chart.Bars(table)
	require.NoError(t, err)
	got, err := csv.NewReader(strings.NewReader(c.CSV())).ReadAll()
	require.NoError(t, err)
	assert.Equal(t, []string{"metric", "strategy", "mean", "low", "high"}, got[0])
	assert.Equal(t, []string{"a,\"b\"\nc", "fixed_size(size=200)", "0.75", "0.7", "0.8"}, got[1])
	assert.Equal(t, []string{" blank before", "sentence(size=5)", "n/a", "n/a", "n/a"}, got[4])
}

func TestFullPrecisionBesideShortText(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 0.1 + 0.2: "0.3", 1.0 / 3: "0.3333", 12.3456: "12.346", 1234.56: "1234.6", 1e6: "1000000", 0.00012345: "0.000123", -0.5: "-0.5", 99.9999: "100", 1e300: "1e+300",
	} {
		c, err := chart.Heat(chart.HeatTable{Title: "x", Rows: []string{"r"}, Columns: []string{"c"}, Values: [][]*float64{{&v}}})
		require.NoError(t, err)
		cell := c.Table.Rows[0][1]
		assert.Equal(t, want, cell.Text)
		assert.InDelta(t, v, *cell.Value, 0)
		var back float64
		_, err = fmt.Sscan(strings.Split(strings.Split(c.CSV(), "\n")[1], ",")[1], &back)
		require.NoError(t, err)
		assert.InDelta(t, v, back, 0, "CSV has every digit")
	}
}

func Example() {
	c, err := chart.Bars(chart.BarTable{
		Title: "Recall", Axis: "recall", GroupHead: "strategy", SeriesHead: "experiment",
		Groups: []string{"fixed_size(size=200)", "sentence(size=5)"},
		Series: []chart.BarSeries{{Name: "k=5", Values: []chart.Value{{Value: new(0.8), Lo: new(0.7), Hi: new(0.9)}, {}}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.ID, c.Height)
	fmt.Print(c.CSV())
	// Output:
	// chart-recall-71e2046e 135
	// strategy,experiment,recall,low,high
	// fixed_size(size=200),k=5,0.8,0.7,0.9
	// sentence(size=5),k=5,n/a,n/a,n/a
}

func BenchmarkDeltas5000(b *testing.B) {
	table := manyDeltas(5000)
	for b.Loop() {
		if _, err := chart.Deltas(table); err != nil {
			b.Fatal(err)
		}
	}
}
