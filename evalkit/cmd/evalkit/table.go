package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/chunkeval/chunkeval/evalkit/compare"
	"github.com/chunkeval/chunkeval/evalkit/store"
)

// column is a metric in a view.
type column struct{ metric, view, head string }

// headline is what the table of a run shows, as far as it was measured.
var headline = []column{
	{"recall", "hit_only", "recall"},
	{"recall", "expanded", "recall+"},
	{"full_evidence", "expanded", "full+"},
	{"precision", "expanded", "precision+"},
	{"IoU", "expanded", "IoU+"},
	{"evid.nDCG@10", "hit_only", "evid.nDCG@10"},
	{"context_tokens", "hit_only", "tokens"},
	{"context_tokens", "expanded", "tokens+"},
	{"token_f1", answers, "token_f1"},
	{"correctness", answers, "correctness"},
}

// answers is the view of scores of answers, which are in no table of metrics.
const answers = string(compare.Answers)

// printTable prints a row per Experiment and strategy. A head with a plus is
// of the expanded view.
func printTable(w io.Writer, all []*store.Experiment) error {
	t := &table{rows: map[rowKey]map[[2]string]store.SummaryRow{}}
	for i, x := range all {
		if err := t.add(i, x); err != nil {
			return err
		}
	}
	columns := t.columns()
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	last := ""
	for i, x := range all {
		if head := setting(x); head != last {
			if last != "" {
				fmt.Fprintln(tw)
			}
			fmt.Fprintf(tw, "%s\n", head)
			fmt.Fprint(tw, "strategy\tk\t±P/N\tn")
			for _, c := range columns {
				fmt.Fprint(tw, "\t", c.head)
			}
			fmt.Fprintln(tw)
			last = head
		}
		for _, e := range x.Record.Effective {
			badge := fmt.Sprintf("±%d/%d", e.NeighborPrev, e.NeighborNext)
			if e.Note != "" {
				badge = "(" + badge + ")"
			}
			row := t.rows[rowKey{i, e.Strategy}]
			fmt.Fprintf(tw, "%s\t%d\t%s\t%s", e.Strategy, x.Record.Spec.TopK, badge, count(row, columns))
			for _, c := range columns {
				fmt.Fprint(tw, "\t", cell(row[[2]string{c.metric, c.view}]))
			}
			fmt.Fprintln(tw)
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	return t.printNotes(w, all)
}

type rowKey struct {
	experiment int
	strategy   string
}

// table holds the summary rows of all Experiments.
type table struct {
	rows    map[rowKey]map[[2]string]store.SummaryRow
	metrics []column // all, in order of first occurrence
}

func (t *table) add(i int, x *store.Experiment) error {
	summary, err := x.Summary()
	if err != nil {
		return err
	}
	for _, s := range summary {
		k := rowKey{i, s.Strategy}
		if t.rows[k] == nil {
			t.rows[k] = map[[2]string]store.SummaryRow{}
		}
		t.rows[k][[2]string{s.Metric, s.View}] = s
		if !slices.ContainsFunc(t.metrics, func(c column) bool { return c.metric == s.Metric && c.view == s.View }) {
			head := s.Metric
			if s.View == "expanded" {
				head += "+"
			}
			t.metrics = append(t.metrics, column{s.Metric, s.View, head})
		}
	}
	for _, e := range x.Record.Effective {
		if e.Answers == nil {
			continue
		}
		k := rowKey{i, e.Strategy}
		if t.rows[k] == nil {
			t.rows[k] = map[[2]string]store.SummaryRow{}
		}
		for _, m := range e.Answers.Means {
			t.rows[k][[2]string{m.Metric, answers}] = store.SummaryRow{Metric: m.Metric, Mean: m.Mean}
			if c := (column{m.Metric, answers, m.Metric}); !slices.Contains(t.metrics, c) {
				t.metrics = append(t.metrics, c)
			}
		}
	}
	return nil
}

// columns returns the headline metrics that exist; if there are none, the first eight.
func (t *table) columns() []column {
	var out []column
	for _, c := range headline {
		if slices.ContainsFunc(t.metrics, func(m column) bool { return m.metric == c.metric && m.view == c.view }) {
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		out = t.metrics[:min(8, len(t.metrics))]
	}
	return out
}

// saturated reports whether there are several settings and all of them have full
// recall with their hits alone.
func (t *table) saturated() bool {
	for _, row := range t.rows {
		if r := row[[2]string{"recall", "hit_only"}]; r.Mean == nil || *r.Mean < 1 {
			return false
		}
	}
	return len(t.rows) > 1
}

// count returns the queries in the means: "148", or "147-148" where metrics differ.
func count(row map[[2]string]store.SummaryRow, columns []column) string {
	lo, hi := int32(0), int32(0)
	for i, c := range columns {
		if c.view == answers {
			continue // their own n is in evalkit show
		}
		n := row[[2]string{c.metric, c.view}].N
		if i == 0 || n < lo {
			lo = n
		}
		hi = max(hi, n)
	}
	if lo != hi {
		return fmt.Sprintf("%d-%d", lo, hi)
	}
	return fmt.Sprint(lo)
}

func cell(s store.SummaryRow) string {
	switch {
	case s.Mean == nil:
		return "n/a"
	case *s.Mean >= 10:
		return fmt.Sprintf("%.0f", *s.Mean)
	}
	return fmt.Sprintf("%.3f", *s.Mean)
}

func setting(x *store.Experiment) string {
	s := x.Record.Spec
	out := fmt.Sprintf("%s · %s", s.Dataset, s.Retriever)
	if s.Embedder != "" {
		out += " · " + s.Embedder
	}
	return out
}

// printNotes prints what the table rests on: counts, then each warning once.
func (t *table) printNotes(w io.Writer, all []*store.Experiment) error {
	if len(all) == 0 {
		return nil
	}
	c := all[0].Record.Counts
	n := max(1, len(all[0].Record.Effective))
	parts := []string{fmt.Sprintf("%d queries", c.Units/n)}
	for _, p := range []struct {
		n    int
		what string
	}{{c.NoGold / n, "skipped: no gold"}, {c.Unanswerable / n, "unanswerable, in no mean"}, {c.NoResults, "units without results"}, {c.Failed, "units failed, counted as 0"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	fmt.Fprintf(w, "\n%s. A plus marks the expanded view, hits and neighbors; neighbors do not apply where the badge is in brackets.\n", strings.Join(parts, ", "))
	if t.saturated() {
		fmt.Fprintln(w, "note: every setting finds all of the evidence, so nothing here tells them apart: try smaller chunks or a smaller top_k")
	}
	seen := map[string]bool{}
	for _, x := range all {
		for _, warning := range x.Record.Warnings {
			if !seen[warning] && !strings.Contains(warning, "apply to fixed_size only") {
				seen[warning] = true
				fmt.Fprintf(w, "warning: %s\n", warning)
			}
		}
	}
	return nil
}
