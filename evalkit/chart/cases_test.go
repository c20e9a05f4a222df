package chart_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit/chart"
)

const hostile = `Price </script><script>document.title='pwned'</script> & <b>bold</b>`

// named makes every kind of chart with the same text in every place for one.
func named(t testing.TB, s string) []*chart.Chart {
	t.Helper()
	var out []*chart.Chart
	add := func(c *chart.Chart, err error) {
		require.NoError(t, err)
		out = append(out, c)
	}
	one := []*float64{new(0.5)}
	add(chart.Bars(chart.BarTable{
		Title: s, Note: s, Axis: s, GroupHead: s, SeriesHead: s, Groups: []string{s},
		Series: []chart.BarSeries{{s, []chart.Value{{Value: new(0.5), Lo: new(0.4), Hi: new(0.6)}}}},
	}))
	add(chart.Curve(chart.CurveTable{s, s, s, s, s, []chart.CurveSeries{{Name: s, Points: []chart.CurvePoint{{X: 1, Y: new(0.5), Label: s}}}}}))
	add(chart.Pareto(chart.ParetoTable{s, s, s, s, s, []chart.ParetoPoint{{1, 0.5, s, true, s}, {2, 0.4, s, false, s}}}))
	add(chart.Deltas(chart.DeltaTable{s, s, s, s, []chart.Question{{s, new(0.5)}}}))
	add(chart.Heat(chart.HeatTable{s, s, s, s, []string{s}, []string{s}, [][]*float64{one}}))
	add(chart.Stack(chart.StackTable{s, s, s, s, []string{s}, []chart.StackRow{{s, one}}}))
	add(chart.Waterfall(chart.WaterfallTable{s, s, s, s, []string{s}, []chart.WaterfallSeries{{s, one}}}))
	return out
}

func TestHO_RP_01_ScriptEndInNames(t *testing.T) {
	harmless := named(t, "harmless")
	for i, c := range named(t, hostile) {
		assert.NotContains(t, string(c.Option), "<")
		assert.NotContains(t, string(c.Option), ">")
		assert.NotContains(t, string(c.Option), "&")
		html := string(chart.HTML(c))
		assert.NotContains(t, html, "<b>")
		for _, tag := range []string{"<script", "</script"} {
			assert.Equal(t, strings.Count(string(chart.HTML(harmless[i])), tag), strings.Count(html, tag), tag)
		}
		assert.Contains(t, html, "Price &lt;/script&gt;", "shown literally")
		// The option in the page is the option of the chart, byte for byte.
		_, rest, _ := strings.Cut(html, `class="chart-option">`)
		inPage, _, _ := strings.Cut(rest, "</script>")
		assert.Equal(t, string(c.Option), inPage)
		if legend := read(t, c).Legend.Data; len(legend) > 0 && i < 2 {
			assert.Equal(t, []string{hostile}, legend, "the name comes back whole")
		}
	}
}

func FuzzNames(f *testing.F) {
	for _, s := range []string{hostile, "a\nb", `"quoted" 'x'`, "{a} {b|c} {@0}", "日本語", "\u2028", "$& $1", "\x00\x1f", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strings.TrimSpace(s) == "" {
			return
		}
		for _, c := range named(t, s) {
			require.True(t, json.Valid(c.Option))
			require.NotContains(t, string(c.Option), "<")
			require.Equal(t, 1, strings.Count(string(chart.HTML(c)), "<script"))
			require.Regexp(t, `^chart-[a-z0-9-]+$`, c.ID)
		}
	})
}

func TestHO_RP_03_NumericOrder(t *testing.T) {
	var points []chart.CurvePoint
	for _, x := range []float64{9.5, 100, 10.2, 0.002, 1024, 64, 128} {
		points = append(points, chart.CurvePoint{X: x, Y: new(0.5)})
	}
	c, err := chart.Curve(chart.CurveTable{Title: "x", Series: []chart.CurveSeries{{Name: "s", Points: points}}})
	require.NoError(t, err)
	var got []float64
	for _, d := range read(t, c).Series[0].Data {
		got = append(got, d.Value.([]any)[0].(float64))
	}
	assert.Equal(t, []float64{0.002, 9.5, 10.2, 64, 100, 128, 1024}, got)

	heat := heatTable()
	heat.Columns = []string{"5", "10", "20"}
	heat.Values = [][]*float64{{nil, nil, nil}, {nil, nil, nil}}
	c, err = chart.Heat(heat)
	require.NoError(t, err)
	assert.Equal(t, []string{"strategy", "5", "10", "20"}, c.Table.Head, "the order of the caller")
}

func manyDeltas(n int) chart.DeltaTable {
	t := chart.DeltaTable{Title: "Many", Axis: "recall"}
	for i := range n {
		t.Questions = append(t.Questions, chart.Question{"q" + strconv.Itoa(i), new(math.Sin(float64(i)))})
	}
	return t
}

func TestHO_RP_03_NothingThinnedOut(t *testing.T) {
	c, err := chart.Deltas(manyDeltas(5000))
	require.NoError(t, err)
	assert.Len(t, c.Table.Rows, 5000)
	items := map[int]float64{}
	for _, s := range read(t, c).Series {
		assert.Empty(t, s.Sampling)
		assert.Equal(t, new(false), s.Large)
		for _, d := range s.Data {
			v := d.Value.([]any)
			items[int(v[0].(float64))] = v[1].(float64)
			assert.Equal(t, strings.HasPrefix(s.Name, "higher"), v[1].(float64) > 0)
		}
	}
	require.Len(t, items, 5000)
	for i := 1; i < 5000; i++ {
		require.LessOrEqual(t, items[i], items[i-1], "highest first")
	}
}

func TestHO_RP_04_NaNAndInfAreNamed(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		bars := barTable()
		bars.Series[1].Values[0].Value = &bad
		_, err := chart.Bars(bars)
		require.ErrorContains(t, err, fmt.Sprintf(`bars "Two metrics": series "sentence(size=5)": group "recall": value is %v`, bad))
		bars = barTable()
		bars.Series[0].Values[0].Hi = &bad
		_, err = chart.Bars(bars)
		require.ErrorContains(t, err, `series "fixed_size(size=200)": group "recall": high end`)
		curve := curveTable()
		curve.Series[0].Points[1].X = bad
		_, err = chart.Curve(curve)
		require.ErrorContains(t, err, `series "a": point 2 "k=2": x is`)
		curve = curveTable()
		curve.Series[1].Points[0].Y = &bad
		_, err = chart.Curve(curve)
		require.ErrorContains(t, err, `series "b": point 1 "": value is`)
		pareto := paretoTable()
		pareto.Points[1].Y = bad
		_, err = chart.Pareto(pareto)
		require.ErrorContains(t, err, `point 2 "a": y is`)
		deltas := deltaTable()
		deltas.Questions[2].Delta = &bad
		_, err = chart.Deltas(deltas)
		require.ErrorContains(t, err, `question "q3": delta is`)
		heat := heatTable()
		heat.Values[1][0] = &bad
		_, err = chart.Heat(heat)
		require.ErrorContains(t, err, `row "b": column "k=5": value is`)
		stack := stackTable()
		stack.Rows[1].Values[2] = &bad
		_, err = chart.Stack(stack)
		require.ErrorContains(t, err, `row "b": part "next 1" is`)
		fall := waterfallTable()
		fall.Series[0].Values[3] = &bad
		_, err = chart.Waterfall(fall)
		require.ErrorContains(t, err, `series "a": level "actual" is`)
	}
}

func TestHO_RP_04_MissingIsAGapAndNA(t *testing.T) {
	for name, c := range each(t) {
		missing := slices.ContainsFunc(c.Table.Rows, func(row []chart.Cell) bool {
			return slices.ContainsFunc(row, func(cell chart.Cell) bool { return cell.Text == "n/a" && cell.Num && cell.Value == nil })
		})
		assert.Equal(t, name != "pareto", missing, name) // a point of a scatter has both coordinates
	}
	bars := read(t, each(t)["bars"])
	assert.Nil(t, bars.Series[1].Data[1].Value)
	assert.Len(t, read(t, each(t)["heat"]).Series[0].Data, 3, "no item for an empty cell")
}

func TestHO_RP_07_ThirtySeriesWithLongNames(t *testing.T) {
	var names []string
	bars := chart.BarTable{Title: "Thirty", Groups: []string{"recall"}}
	curve := chart.CurveTable{Title: "Thirty"}
	for i := range 30 {
		name := fmt.Sprintf("fixed_size(size=%d,overlap=%d,unit=token,tokenizer=cl100k_base)", 100+i, i+10)
		require.GreaterOrEqual(t, len(name), 60)
		names = append(names, name)
		bars.Series = append(bars.Series, chart.BarSeries{name, []chart.Value{{Value: new(0.5)}}})
		curve.Series = append(curve.Series, chart.CurveSeries{Name: name, Points: []chart.CurvePoint{{X: 1, Y: new(0.5)}}})
	}
	b, err := chart.Bars(bars)
	require.NoError(t, err)
	l, err := chart.Curve(curve)
	require.NoError(t, err)
	for _, c := range []*chart.Chart{b, l} {
		o := read(t, c)
		assert.Equal(t, names, o.Legend.Data, "full names")
		total := 0
		for _, h := range c.Legend {
			assert.GreaterOrEqual(t, h, 30, "60 characters do not fit into one line of a narrow window")
			total += h
		}
		bottom, err := strconv.Atoi(o.Grid[0].Bottom)
		require.NoError(t, err)
		assert.Equal(t, "0", o.Legend.Bottom)
		assert.Greater(t, bottom, total, "the plot ends above the legend")
		top, err := strconv.Atoi(o.Grid[0].Top)
		require.NoError(t, err)
		assert.GreaterOrEqual(t, c.Height-top-bottom, 300, "the plot keeps its room")
		looks := map[string]bool{}
		for i, s := range o.Series {
			looks[fmt.Sprint(s.Symbol, s.LineStyle.Type, s.ItemStyle.Color, s.ItemStyle.BorderColor, s.ItemStyle.Decal, i%6)] = true // six colours
		}
		assert.Len(t, looks, 30, "no two series look the same")
		html := string(chart.HTML(c))
		for _, name := range names {
			assert.Contains(t, html, "<td>"+name+"</td>")
		}
	}
}

func TestRefusals(t *testing.T) {
	bars := barTable()
	bars.Series[1].Name = bars.Series[0].Name
	_, err := chart.Bars(bars)
	assert.ErrorContains(t, err, `series "fixed_size(size=200)": given twice`)
	bars = barTable()
	bars.Series[1].Values = bars.Series[1].Values[:1]
	_, err = chart.Bars(bars)
	assert.ErrorContains(t, err, `series "sentence(size=5)": 1 values for 2 groups`)
	bars = barTable()
	bars.Series[0].Values[0].Hi = nil
	_, err = chart.Bars(bars)
	assert.ErrorContains(t, err, "one end only")
	bars = barTable()
	bars.Series[0].Values[0].Lo = new(0.9)
	_, err = chart.Bars(bars)
	assert.ErrorContains(t, err, "low end above high end")
	bars = barTable()
	bars.Series[0].Values[0].Value = nil
	_, err = chart.Bars(bars)
	assert.ErrorContains(t, err, "interval without a value")
	_, err = chart.Bars(chart.BarTable{Title: "x"})
	assert.ErrorContains(t, err, "no group")
	_, err = chart.Curve(chart.CurveTable{Title: "x", Series: []chart.CurveSeries{{Name: "s"}}})
	assert.ErrorContains(t, err, `series "s": no points`)
	_, err = chart.Pareto(chart.ParetoTable{Title: "x"})
	assert.ErrorContains(t, err, "no points")
	_, err = chart.Deltas(chart.DeltaTable{Title: "x"})
	assert.ErrorContains(t, err, "no questions")
	heat := heatTable()
	heat.Values[1] = nil
	_, err = chart.Heat(heat)
	assert.ErrorContains(t, err, `row "b": 0 values for 2 columns`)
	stack := stackTable()
	stack.Rows[0].Values[1] = new(-0.1)
	_, err = chart.Stack(stack)
	assert.ErrorContains(t, err, `row "a": part "prev 1" is -0.1`)
	fall := waterfallTable()
	fall.Series[1].Values[2] = new(0.6) // above the 0.5 before the gap
	_, err = chart.Waterfall(fall)
	assert.ErrorContains(t, err, `series "b": level "oracle" is 0.6: levels fall`)
}

func TestWaterfallAddsUp(t *testing.T) {
	c, err := chart.Waterfall(waterfallTable())
	require.NoError(t, err)
	sum := 0.0
	for _, s := range read(t, c).Series {
		sum += s.Data[0].Value.(float64)
	}
	assert.InDelta(t, 1.0, sum, 1e-12, "the last level and the losses reach the first")
	fall := waterfallTable()
	fall.Series[0].Values[1] = new(1 + 1e-12) // the error of a sum is no rise
	_, err = chart.Waterfall(fall)
	assert.NoError(t, err)
}
