package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/chunkeval/chunkeval/evalkit/chart"
	"github.com/chunkeval/chunkeval/evalkit/compare"
)

// trendView is one measure over the last runs.
type trendView struct {
	Measure compare.Measure
	Doc     string
	Charts  []*chart.Chart
	Rows    []trendRow
	Left    int // older runs that are not shown
}

type trendRow struct {
	*Entry
	Number  int
	Cells   []trendCell // per strategy
	Changes []string    // of the setup, since the run before
}

type trendCell struct {
	Strategy string
	Mean     *float64
	Interval *compare.Interval
	N        int
}

// Trend writes a page with one measure over the last runs, the oldest first:
// each run is a point with its interval, and what changed in the setup since the
// run before stands at it. Runs of other data sets than that of the last one are
// left out.
func Trend(w io.Writer, in []compare.Input, m compare.Measure, last int) error {
	v := trendView{Measure: m, Doc: compare.InfoOf(m.Metric).Doc}
	var all []*Entry
	for _, x := range in {
		e, err := newEntry(x.Source)
		if err != nil {
			return err
		}
		all = append(all, e)
	}
	slices.SortStableFunc(all, func(a, b *Entry) int { return cmp.Compare(a.Provenance.Started, b.Provenance.Started) })
	if len(all) == 0 {
		return fmt.Errorf("trend: nothing is stored")
	}
	name := all[len(all)-1].Dataset.Name
	all = slices.DeleteFunc(all, func(e *Entry) bool { return e.Dataset.Name != name })
	v.Left = max(0, len(all)-last)
	var before *compare.Loaded
	for i, e := range all[v.Left:] {
		l, err := compare.Load(compare.Input{ID: e.ID, Source: e.Source}, compare.Options{Measures: []compare.Measure{m}})
		if err != nil {
			return err
		}
		row := trendRow{Entry: e, Number: i + 1, Changes: compare.Changes(before, l)}
		before = l
		for _, a := range l.Arms {
			c := compare.Describe(a, m, compare.Options{})
			row.Cells = append(row.Cells, trendCell{a.Strategy, c.Mean, c.Interval, c.N})
		}
		v.Rows = append(v.Rows, row)
	}
	c, err := v.chart()
	if err != nil {
		return err
	}
	v.Charts = []*chart.Chart{c}
	return page{Title: "Trend of " + m.String(), Alone: true, name: "trend", Body: v}.write(w)
}

func (v trendView) chart() (*chart.Chart, error) {
	t := chart.CurveTable{
		Title: "Trend of " + v.Measure.String(), XAxis: "run, the oldest first", YAxis: v.Measure.String(), SeriesHead: "strategy",
		Note: "Whiskers are 95 % intervals. Where the setup changed a point is not the same measurement as the one before; the table says what changed.",
	}
	at := map[string]int{}
	for _, row := range v.Rows {
		for _, c := range row.Cells {
			if c.Mean == nil {
				continue
			}
			name := display(c.Strategy)
			i, ok := at[name]
			if !ok {
				i = len(t.Series)
				at[name] = i
				t.Series = append(t.Series, chart.CurveSeries{Name: name})
			}
			p := chart.CurvePoint{X: float64(row.Number), Y: c.Mean}
			if len(row.Changes) > 0 {
				p.Label = "setup changed"
			}
			if c.Interval != nil {
				p.Lo, p.Hi = &c.Interval.Lo, &c.Interval.Hi
			}
			t.Series[i].Points = append(t.Series[i].Points, p)
		}
	}
	return chart.Curve(t)
}
