package report

import (
	"math"
	"slices"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/compare"
	"github.com/chunkeval/chunkeval/evalkit/experiment"
)

// listView is the Experiments list.
type listView struct {
	Rows   []listRow
	Heads  []string
	Errors []string // Experiments that cannot be read
	Max    int      // of a Compare
}

type listRow struct {
	experiment.Record
	Badge     Badge
	Order     int // of the badge, for sorting
	Retriever string
	Best      string // strategy with the highest expanded recall
	Values    []*float64
}

// listed are the measures of the list: those that decide.
var listed = []compare.Measure{{Metric: "recall", View: evalkit.HitOnly}, {Metric: "recall", View: evalkit.Expanded}, {Metric: "context_tokens", View: evalkit.Expanded}, {Metric: "full_evidence", View: evalkit.Expanded}}

func newList(all []*Entry, errors []string) listView {
	v := listView{Errors: errors, Max: compare.MaxColumns}
	for _, m := range listed {
		v.Heads = append(v.Heads, m.String())
	}
	for _, x := range all {
		row := listRow{Record: x.Record, Badge: x.Badge, Order: 1000*x.Badge.Prev + x.Badge.Next, Retriever: nameOf(x.Spec.Retriever)}
		best := bestStrategy(x.Overview)
		if best != nil {
			row.Best = best.Strategy
		}
		for _, m := range listed {
			row.Values = append(row.Values, meanOf(best, m))
		}
		v.Rows = append(v.Rows, row)
	}
	return v
}

// nameOf is a component without its settings.
func nameOf(s string) string {
	e, err := evalkit.ParseExpr(s)
	if err != nil {
		return s
	}
	return e.Name
}

// bestStrategy returns the strategy with the highest recall in the expanded
// view, of equals that with the fewest context tokens, then the first; nil if
// recall was not measured.
func bestStrategy(r *experiment.Result) *experiment.StrategyResult {
	var best *experiment.StrategyResult
	top, tokens := 0.0, 0.0
	for i := range r.Strategies {
		s := &r.Strategies[i]
		v := meanOf(s, compare.Measure{Metric: "recall", View: evalkit.Expanded})
		if v == nil {
			continue
		}
		cost := math.Inf(1)
		if t := meanOf(s, compare.Measure{Metric: "context_tokens", View: evalkit.Expanded}); t != nil {
			cost = *t
		}
		if best == nil || *v > top || *v == top && cost < tokens {
			best, top, tokens = s, *v, cost
		}
	}
	return best
}

func summaryOf(s *experiment.StrategyResult, m compare.Measure) *experiment.SummaryRow {
	if s == nil {
		return nil
	}
	for i, row := range s.Summary {
		if row.Metric == m.Metric && row.View == m.View {
			return &s.Summary[i]
		}
	}
	return nil
}

func meanOf(s *experiment.StrategyResult, m compare.Measure) *float64 {
	if row := summaryOf(s, m); row != nil {
		return row.Mean
	}
	return nil
}

// strategyTable is the headline of the strategies of one Experiment.
type strategyTable struct {
	Heads []string
	Rows  []strategyRow
}

type strategyRow struct {
	Strategy string
	Badge    Badge
	N        int
	Failed   int
	Values   []*float64
	Chunks   experiment.ChunkStats
}

// costFirst puts what the expanded view costs directly after what it brings, so
// that a narrow window shows both.
func costFirst(measures []compare.Measure) []compare.Measure {
	cost := compare.Measure{Metric: "context_tokens", View: evalkit.Expanded}
	at := slices.Index(measures, compare.Measure{Metric: "recall", View: evalkit.Expanded})
	if at < 0 || !slices.Contains(measures, cost) {
		return measures
	}
	rest := slices.DeleteFunc(slices.Clone(measures[at+1:]), func(m compare.Measure) bool { return m == cost })
	return slices.Concat(measures[:at+1], []compare.Measure{cost}, rest)
}

func newStrategyTable(x *Entry, measures []compare.Measure) strategyTable {
	var t strategyTable
	measures = costFirst(measures)
	for _, m := range measures {
		t.Heads = append(t.Heads, m.String())
	}
	for i := range x.Overview.Strategies {
		s := &x.Overview.Strategies[i]
		row := strategyRow{Strategy: s.Strategy, Badge: strategyBadge(s.Strategy, s.Window)}
		if i < len(x.Effective) {
			row.Chunks = x.Effective[i].Chunks
		}
		for _, m := range measures {
			row.Values = append(row.Values, meanOf(s, m))
			if r := summaryOf(s, m); r != nil {
				row.N, row.Failed = max(row.N, r.N), max(row.Failed, r.Failed)
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
