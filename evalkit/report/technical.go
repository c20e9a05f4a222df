package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/chart"
	"github.com/chunkeval/chunkeval/evalkit/compare"
	"github.com/chunkeval/chunkeval/evalkit/experiment"
)

// technicalView is the full report.
type technicalView struct {
	Title       string
	Warnings    []string // of the runs; each once
	Setup       setup
	Curves      []studyBudgets
	Experiments []technicalEntry
	Compare     compareView
	R           *compare.Recommendation
	Options     []optionView
	Charts      []*chart.Chart
	Shown, All  int // questions opened in full, of all
	MaxRows     int
}

// technicalEntry is one Experiment in the full report.
type technicalEntry struct {
	experimentView
	Provenance experiment.Provenance
	Metrics    []strategyMetrics
	Questions  []questionRow
	Left       int // rows left out
	Details    []detailGroup
}

// strategyMetrics is every metric of a strategy, both views side by side.
type strategyMetrics struct {
	Strategy string
	Rows     []metricRow
}

type metricRow struct {
	Metric, Doc   string
	Hit, Expanded *experiment.SummaryRow
}

// questionRow is a question with the recall of every strategy.
type questionRow struct {
	ID, Text, Kind string
	Values         []*float64
}

type detailGroup struct {
	Strategy  string
	Questions []Question
}

// Limits of the full report; what they leave out is said with its count.
const (
	maxQuestionRows = 1000 // questions listed per Experiment
	chunkRunes      = 1500 // of a chunk's text
)

// Technical writes the full report as a page that stands alone. details is the
// number of questions per strategy that are opened in full, the most telling
// first; all of them if negative.
func (s *Study) Technical(w io.Writer, details int) error {
	p, err := s.technical(details)
	if err != nil {
		return err
	}
	p.Alone = true
	return p.write(w)
}

func (s *Study) technical(details int) (page, error) {
	v := technicalView{Title: s.title(), R: s.Recommendation, MaxRows: maxQuestionRows, Setup: newSetup(s.Experiments), Curves: s.budgets()}
	var err error
	if v.Compare, err = newCompare(s.Comparison, s.Experiments); err != nil {
		return page{}, err
	}
	for i := range s.Recommendation.Options {
		v.Options = append(v.Options, *s.option(i))
	}
	if v.Charts, err = s.charts(); err != nil {
		return page{}, err
	}
	for _, x := range s.Experiments {
		e, err := s.technicalEntry(x, details)
		if err != nil {
			return page{}, err
		}
		for _, d := range e.Details {
			v.Shown += len(d.Questions)
		}
		v.All += len(x.Effective) * x.Dataset.Queries
		v.Experiments = append(v.Experiments, e)
	}
	v.Warnings = s.warnings()
	return page{Title: v.Title, name: "technical", Body: v}, nil
}

// warnings gathers those of the runs, each once with the Experiments that have it.
func (s *Study) warnings() []string {
	var order []string
	of := map[string][]string{}
	for _, x := range s.Experiments {
		for _, w := range x.FoldedWarnings() {
			if of[w] == nil {
				order = append(order, w)
			}
			of[w] = append(of[w], s.name(x.ID))
		}
	}
	for i, w := range order {
		if n := len(of[w]); n < len(s.Experiments) {
			order[i] = fmt.Sprintf("%s (in %s)", w, strings.Join(of[w], ", "))
		}
	}
	return order
}

// charts returns the charts over all Experiments.
func (s *Study) charts() ([]*chart.Chart, error) {
	var out []*chart.Chart
	for _, make := range []func() (*chart.Chart, error){
		s.paretoChart,
		func() (*chart.Chart, error) { return curveChart(s.Experiments, s.picked()) },
		s.heatChart,
		func() (*chart.Chart, error) { return attributionChart(s.Experiments) },
		func() (*chart.Chart, error) { return waterfallChart(s.Experiments) },
	} {
		c, err := make()
		if err != nil {
			return nil, err
		}
		if c != nil {
			out = append(out, c)
		}
	}
	return out, nil
}

// name returns the name of an Experiment, different from all others.
func (s *Study) name(id string) string {
	for _, c := range s.Comparison.Columns {
		if c.ID == id {
			return c.Name
		}
	}
	return id
}

// heatChart shows the expanded recall of every strategy in every Experiment.
func (s *Study) heatChart() (*chart.Chart, error) {
	t := chart.HeatTable{Title: "Recall by strategy and Experiment", Axis: "recall of hits and neighbors", RowHead: "strategy"}
	at := map[string]int{}
	for j, x := range s.Experiments {
		t.Columns = append(t.Columns, s.name(x.ID))
		for i := range x.Overview.Strategies {
			st := &x.Overview.Strategies[i]
			name := display(st.Strategy)
			row, ok := at[name]
			if !ok {
				row = len(t.Rows)
				at[name] = row
				t.Rows = append(t.Rows, name)
				t.Values = append(t.Values, make([]*float64, len(s.Experiments)))
			}
			t.Values[row][j] = meanOf(st, compare.Measure{Metric: "recall", View: evalkit.Expanded})
		}
	}
	return chart.Heat(t)
}

func (s *Study) technicalEntry(x *Entry, details int) (technicalEntry, error) {
	e := technicalEntry{Provenance: x.Provenance}
	e.Entry, e.Table = x, newStrategyTable(x, compare.Headline())
	ds, err := x.dataset()
	if err != nil {
		return e, err
	}
	for _, q := range ds.Queries[:min(maxQuestionRows, len(ds.Queries))] {
		e.Questions = append(e.Questions, questionRow{ID: string(q.ID), Text: q.Text, Kind: kindOf(q)})
	}
	e.Left = len(ds.Queries) - len(e.Questions)
	for i := range x.Effective {
		o, err := x.open(i)
		if err != nil {
			return e, err
		}
		st := o.result
		e.Metrics = append(e.Metrics, newStrategyMetrics(st))
		for j := range e.Questions {
			var v *float64
			if r := scoreOf(&st.Queries[j], "recall", evalkit.Expanded); r == r {
				v = &r
			}
			e.Questions[j].Values = append(e.Questions[j].Values, v)
		}
		n := details
		if n < 0 {
			n = len(ds.Queries)
		}
		g := detailGroup{Strategy: st.Strategy}
		for _, j := range pickTelling(st, ds.Queries, n) {
			q := o.question(j)
			q.Limit = chunkRunes
			g.Questions = append(g.Questions, q)
		}
		e.Details = append(e.Details, g)
	}
	return e, nil
}

func newStrategyMetrics(s *experiment.StrategyResult) strategyMetrics {
	m := strategyMetrics{Strategy: s.Strategy}
	for i := range s.Summary {
		row := &s.Summary[i]
		at := slices.IndexFunc(m.Rows, func(r metricRow) bool { return r.Metric == row.Metric })
		if at < 0 {
			at = len(m.Rows)
			m.Rows = append(m.Rows, metricRow{Metric: row.Metric, Doc: compare.InfoOf(row.Metric).Doc})
		}
		if row.View == evalkit.HitOnly {
			m.Rows[at].Hit = row
		} else {
			m.Rows[at].Expanded = row
		}
	}
	return m
}
