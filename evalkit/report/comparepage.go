package report

import (
	"fmt"
	"html/template"
	"io"
	"slices"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/chart"
	"github.com/chunkeval/chunkeval/evalkit/compare"
)

// compareView is a Comparison as a page shows it.
type compareView struct {
	Columns   []columnView
	General   []compare.Warning // not about one column
	Family    compare.Family
	AxisNames []string
	Sheets    []sheetView
	Charts    []*chart.Chart
}

type columnView struct {
	compare.Column
	Badge    Badge
	Embedder string
}

type sheetView struct {
	Title   string
	Common  int
	LeftOut []string
	Heads   []headView
	Rows    []compareRow
}

type headView struct {
	Column  int
	Name    string
	Full    string // of a strategy, its written form
	Badge   Badge
	Missing bool
}

type compareRow struct {
	compare.Row
	Doc   string
	Cells []compareCell
}

type compareCell struct {
	compare.Cell
	Value  float64
	Column int
	Higher bool
	Delta  *deltaView
}

type deltaView struct {
	*compare.Delta
	Interval      *compare.Interval
	P, Holm       float64
	HasP          bool
	Detectable    float64
	HasDetectable bool
	Clear         bool // the interval leaves out 0
}

// A difference is a setting in which Experiments differ, with its values.
type difference struct {
	Name   string
	Values []string // each once, in the order of the columns
}

// Differences returns the settings in which columns differ. The Compare page, where
// columns can be hidden, says it of each column instead.
func (v compareView) Differences() []difference {
	var out []difference
	for i, name := range v.AxisNames {
		d := difference{Name: name}
		for _, c := range v.Columns {
			if c.Gap == "" && !slices.Contains(d.Values, c.Axes[i].Value) {
				d.Values = append(d.Values, c.Axes[i].Value)
			}
		}
		if len(d.Values) > 1 {
			out = append(out, d)
		}
	}
	return out
}

func newCompare(c *compare.Comparison, entries []*Entry) (compareView, error) {
	v := compareView{Family: c.Family}
	byID := map[string]*Entry{}
	for _, x := range entries {
		byID[x.ID] = x
	}
	for _, col := range c.Columns {
		cv := columnView{Column: col}
		if x := byID[col.ID]; x != nil {
			cv.Badge = x.Badge
		}
		for i, a := range col.Axes {
			if len(v.AxisNames) <= i {
				v.AxisNames = append(v.AxisNames, a.Name)
			}
			if a.Name == compare.AxisEmbedder {
				cv.Embedder = a.Value
			}
		}
		v.Columns = append(v.Columns, cv)
	}
	for _, w := range c.Warnings {
		if !w.Columns {
			v.General = append(v.General, w)
		}
	}
	for i := range c.Sheets {
		v.Sheets = append(v.Sheets, newSheet(c, &c.Sheets[i], v.Columns))
	}
	bars, err := compareChart(c)
	if err != nil {
		return v, err
	}
	v.Charts = append(v.Charts, bars...)
	return v, nil
}

func newSheet(c *compare.Comparison, s *compare.Sheet, columns []columnView) sheetView {
	v := sheetView{Title: s.Title, Common: s.Common}
	for _, id := range s.LeftOut {
		v.LeftOut = append(v.LeftOut, string(id))
	}
	across := len(c.Sheets) == 1 && s.Title == compare.AllStrategies
	at := make([]int, len(s.Arms))
	for i, a := range s.Arms {
		h := headView{Column: i, Missing: a == nil}
		switch {
		case a == nil:
			h.Name = columns[i].Name
		case across:
			h.Column, h.Name, h.Full, h.Badge = a.Column, display(a.Strategy), a.Strategy, strategyBadge(a.Strategy, a.Arm.Window)
			if len(c.Columns) > 1 {
				h.Name += " · " + columns[a.Column].Name
			} else {
				h.Column = i // the strategies of one Experiment are the columns
			}
		default:
			h.Name, h.Badge = columns[i].Name, strategyBadge(a.Strategy, a.Arm.Window)
		}
		at[i] = h.Column
		v.Heads = append(v.Heads, h)
	}
	for _, row := range s.Rows {
		r := compareRow{Row: row, Doc: compare.InfoOf(row.Metric).Doc}
		for i, cell := range row.Cells {
			r.Cells = append(r.Cells, newCell(cell, at[i], row.Higher))
		}
		v.Rows = append(v.Rows, r)
	}
	return v
}

func newCell(c compare.Cell, column int, higher bool) compareCell {
	out := compareCell{Cell: c, Column: column, Higher: higher}
	if c.Mean != nil {
		out.Value = *c.Mean
	}
	if d := c.Delta; d != nil {
		out.Delta = &deltaView{Delta: d, Interval: d.Interval()}
		out.Delta.Clear = d.Interval() != nil && !d.Interval().Contains(0)
		if d.P != nil && d.Holm != nil {
			out.Delta.P, out.Delta.Holm, out.Delta.HasP = *d.P, *d.Holm, true
		}
		if d.Detectable != nil {
			out.Delta.Detectable, out.Delta.HasDetectable = *d.Detectable, true
		}
	}
	return out
}

// charted are the measures that a Compare draws, where they were measured.
var charted = []struct {
	measure compare.Measure
	title   string
}{
	{compare.Measure{Metric: "recall", View: evalkit.Expanded}, "Recall of hits and neighbors"},
	{compare.Measure{Metric: "context_tokens", View: evalkit.Expanded}, "Context tokens of hits and neighbors"},
	{compare.Measure{Metric: "token_f1", View: compare.Answers}, "Words that answers share with references"},
	{compare.Measure{Metric: "correctness", View: compare.Answers}, "Answers judged correct"},
}

// compareChart draws them with intervals.
func compareChart(c *compare.Comparison) ([]*chart.Chart, error) {
	var out []*chart.Chart
	for _, m := range charted {
		t := chart.BarTable{
			Title: m.title, Axis: m.measure.Metric, GroupHead: "strategy", SeriesHead: "Experiment",
			Note: fmt.Sprintf("Whiskers are %.0f %% intervals of the mean itself; whether two differ stands in the table, which pairs by question.", 100*c.Family.Level),
		}
		for _, col := range c.Columns {
			if col.Gap == "" {
				t.Series = append(t.Series, chart.BarSeries{Name: col.Name})
			}
		}
		any := false
		for i := range c.Sheets {
			any = addBars(&t, c, &c.Sheets[i], m.measure) || any
		}
		if !any {
			continue
		}
		x, err := chart.Bars(t)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

// addBars adds the arms of a sheet: a group per strategy, a series per column.
func addBars(t *chart.BarTable, c *compare.Comparison, s *compare.Sheet, m compare.Measure) bool {
	series := map[int]int{} // column -> series
	for i, col := range c.Columns {
		if col.Gap == "" {
			series[i] = len(series)
		}
	}
	any := false
	for _, row := range s.Rows {
		if row.Measure != m {
			continue
		}
		groups := map[string]int{}
		for i, cell := range row.Cells {
			if s.Arms[i] == nil || cell.Mean == nil {
				continue
			}
			name := display(s.Arms[i].Strategy)
			g, ok := groups[name]
			if !ok {
				g = len(t.Groups)
				groups[name] = g
				t.Groups = append(t.Groups, name)
				for j := range t.Series {
					t.Series[j].Values = append(t.Series[j].Values, chart.Value{})
				}
			}
			v := &t.Series[series[s.Arms[i].Column]].Values[g]
			v.Value = cell.Mean
			if cell.Interval != nil {
				v.Lo, v.Hi = &cell.Interval.Lo, &cell.Interval.Hi
			}
			any = true
		}
	}
	return any
}

// Fragment returns the Comparison as HTML: warnings, columns, charts and tables.
func (s *Study) Fragment() (template.HTML, error) {
	v, err := newCompare(s.Comparison, s.Experiments)
	if err != nil {
		return "", err
	}
	return render("compare", v)
}

// Compare writes the Comparison as a page that stands alone, with the values of
// all questions and the details of those that moved most.
func (s *Study) Compare(w io.Writer) error {
	v, err := newCompare(s.Comparison, s.Experiments)
	if err != nil {
		return err
	}
	deltas, err := s.deltaCharts()
	if err != nil {
		return err
	}
	v.Charts = append(v.Charts, deltas...)
	p := page{Title: "Compare", Alone: true, name: "compare", Body: v}
	add := func(name string, value any) error {
		b, err := toJSON(value)
		p.Data = append(p.Data, Script{name, b})
		return err
	}
	if err := add("columns", v.ids()); err != nil {
		return err
	}
	for _, x := range s.Experiments {
		l, err := x.load(s.options)
		if err != nil {
			return err
		}
		if err := add("scores/"+x.ID, newScores(x, l)); err != nil {
			return err
		}
	}
	if err := s.details(add); err != nil {
		return err
	}
	return p.write(w)
}

// deltaCharts draws the change of every question, for each column of the first
// sheet against the baseline.
func (s *Study) deltaCharts() ([]*chart.Chart, error) {
	var out []*chart.Chart
	sheet := s.Comparison.Sheets[0]
	m := compare.Measure{Metric: "recall", View: evalkit.Expanded}
	var base *compare.Arm
	for i, info := range sheet.Arms {
		if info == nil || base == nil {
			if info != nil {
				base = info.Arm
			}
			continue
		}
		to := s.Comparison.Columns[info.Column].Name
		if len(s.Comparison.Columns) == 1 {
			to = display(info.Strategy)
		}
		t := chart.DeltaTable{
			Title: fmt.Sprintf("Change of %s by question: %s (%d)", m, to, i), Axis: "change of recall",
			Note: "Above the line is better than the baseline. Questions that did not change are left out; their number stands in the table below.",
		}
		for _, move := range compare.Moved(base, info.Arm, m, len(base.Queries)) {
			delta := move.Delta
			t.Questions = append(t.Questions, chart.Question{Name: base.Queries[move.Base].Text, Delta: &delta})
		}
		if len(t.Questions) == 0 {
			continue
		}
		c, err := chart.Deltas(t)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// movedDetails is the number of questions, per strategy and column, whose details
// a page that stands alone holds: those that moved most.
const movedDetails = 12

// details adds the fragments of the questions that moved most between the
// baseline and any column, in the recall of the expanded view.
func (s *Study) details(add func(name string, value any) error) error {
	wanted := map[string]map[int]bool{} // Experiment and strategy -> queries
	mark := func(a *compare.Arm, i int) {
		key := a.Experiment + " " + a.Strategy
		if wanted[key] == nil {
			wanted[key] = map[int]bool{}
		}
		wanted[key][i] = true
	}
	for _, sheet := range s.Comparison.Sheets {
		var base *compare.Arm
		for _, info := range sheet.Arms {
			switch {
			case info == nil:
			case base == nil:
				base = info.Arm
			default:
				for _, m := range compare.Moved(base, info.Arm, compare.Measure{Metric: "recall", View: evalkit.Expanded}, movedDetails) {
					mark(base, m.Base)
					mark(info.Arm, m.Arm)
				}
			}
		}
	}
	for _, x := range s.Experiments {
		for i, e := range x.Effective {
			if err := s.addDetails(x, i, wanted[x.ID+" "+e.Strategy], add); err != nil {
				return err
			}
		}
	}
	return nil
}

// addDetails adds the fragments of some queries of one strategy, by page.
func (s *Study) addDetails(x *Entry, strategy int, queries map[int]bool, add func(string, any) error) error {
	o, err := x.open(strategy)
	if err != nil {
		return err
	}
	bare := len(x.ds.Docs) == 0
	for p := range (len(o.queries) + perPage - 1) / perPage {
		fragments := map[string]string{}
		for i := p * perPage; i < min(len(o.queries), (p+1)*perPage); i++ {
			if !queries[i] {
				continue
			}
			if bare {
				fragments[string(o.queries[i].ID)] = `<p class="note">A baseline file holds values only, and no trees.</p>`
				continue
			}
			q := o.question(i)
			q.Limit = chunkRunes
			html, err := q.Fragment()
			if err != nil {
				return err
			}
			fragments[string(o.queries[i].ID)] = string(html)
		}
		if err := add(fmt.Sprintf("q/%s/%d/%d", x.ID, strategy, p), fragments); err != nil {
			return err
		}
	}
	return nil
}
