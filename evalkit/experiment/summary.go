package experiment

import (
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit"
)

// A SummaryRow is one metric in one view over the answerable queries of one
// strategy.
type SummaryRow struct {
	Metric string
	View   evalkit.View
	Mean   *float64 // nil: no query has a value
	SD     *float64 // over queries, with DDOF; nil if it is not defined
	DDOF   int      // 0 for the chroma family, as its source has it, else 1
	// MacroDoc is the mean over documents of the mean of their queries; a
	// query belongs to the document of its first qrel.
	MacroDoc  *float64
	N         int // queries in the mean, failed ones included
	Undefined int // queries without a value, left out
	Failed    int // queries that failed and count 0
}

// Counted returns the value with which a query counts in a mean. ok is false if
// it is left out: an unanswerable query, one without gold, and one without a value.
// A failed query counts 0, except for a metric without an upper limit, a cost: there
// it is left out.
func (r *QueryResult) Counted(q evalkit.Query, s Score, m evalkit.Info) (value float64, ok bool) {
	switch {
	case q.Unanswerable, len(q.Gold()) == 0:
		return 0, false
	case r.Failed != "":
		return 0, !math.IsInf(m.Hi, 1)
	}
	return s.Value, s.Reason == ""
}

// summarize returns a row per metric and view.
func summarize(metrics []evalkit.Metric, queries []evalkit.Query, results []QueryResult) []SummaryRow {
	var rows []SummaryRow
	for i, m := range metrics {
		for j, v := range []evalkit.View{evalkit.HitOnly, evalkit.Expanded} {
			s := sample{ddof: ddof(m)}
			for n, q := range queries {
				r := &results[n]
				value, ok := r.Counted(q, r.Scores[2*i+j], m.Info())
				switch {
				case ok && r.Failed != "":
					s.failed++
					s.add(q, 0)
				case ok:
					s.add(q, value)
				case !q.Unanswerable:
					s.undefined++
				}
			}
			rows = append(rows, s.row(m.String(), v))
		}
	}
	return rows
}

func ddof(m evalkit.Metric) int {
	if m.Info().Family == "chroma" {
		return 0
	}
	return 1
}

// sample gathers the values of one metric in one view.
type sample struct {
	ddof              int
	values            []float64
	docs              []evalkit.DocID
	undefined, failed int
}

func (s *sample) add(q evalkit.Query, v float64) {
	doc := evalkit.DocID("")
	if len(q.Qrels) > 0 {
		doc = q.Qrels[0].Doc
	}
	s.values = append(s.values, v)
	s.docs = append(s.docs, doc)
}

func (s *sample) row(metric string, v evalkit.View) SummaryRow {
	row := SummaryRow{Metric: metric, View: v, DDOF: s.ddof, N: len(s.values), Undefined: s.undefined, Failed: s.failed}
	if len(s.values) == 0 {
		return row
	}
	m := mean(s.values)
	row.Mean = &m
	if n := len(s.values) - s.ddof; n > 0 {
		ss := 0.0
		for _, x := range s.values {
			ss += (x - m) * (x - m)
		}
		sd := math.Sqrt(ss / float64(n))
		row.SD = &sd
	}
	macro := s.macro()
	row.MacroDoc = &macro
	return row
}

func (s *sample) macro() float64 {
	byDoc := map[evalkit.DocID][]float64{}
	for i, v := range s.values {
		byDoc[s.docs[i]] = append(byDoc[s.docs[i]], v)
	}
	docs := make([]evalkit.DocID, 0, len(byDoc))
	for d := range byDoc {
		docs = append(docs, d)
	}
	slices.Sort(docs) // the order of a sum is part of its value
	means := make([]float64, len(docs))
	for i, d := range docs {
		means[i] = mean(byDoc[d])
	}
	return mean(means)
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// unanswerable describes the queries marked so; nil if there are none.
func unanswerable(queries []evalkit.Query, results []QueryResult) *Unanswerable {
	u := &Unanswerable{}
	var hit, expanded, yes, no []float64
	for i, q := range queries {
		r := results[i]
		if r.Failed != "" || !q.Unanswerable && len(q.Gold()) == 0 {
			continue // nobody knows whether it can be answered
		}
		top := math.Inf(-1) // nothing found: below every score
		if len(r.Tree) > 0 {
			top = r.Tree[0].Hit.Score
		}
		if !q.Unanswerable {
			yes = append(yes, top)
			continue
		}
		u.N++
		no = append(no, top)
		for _, s := range r.Scores {
			if s.Metric == "context_tokens" && s.Reason == "" {
				if s.View == evalkit.HitOnly {
					hit = append(hit, s.Value)
				} else {
					expanded = append(expanded, s.Value)
				}
			}
		}
	}
	if u.N == 0 {
		return nil
	}
	u.TokensHitOnly, u.TokensExpanded, u.AUROC = optionalMean(hit), optionalMean(expanded), auroc(yes, no)
	return u
}

func optionalMean(values []float64) *float64 {
	if len(values) == 0 {
		return nil
	}
	m := mean(values)
	return &m
}

// auroc returns the share of pairs in which the value of yes is above that of
// no; an equal pair counts half. It is nil if either is empty.
func auroc(yes, no []float64) *float64 {
	if len(yes) == 0 || len(no) == 0 {
		return nil
	}
	no = slices.Clone(no)
	slices.Sort(no)
	wins := 0.0
	for _, y := range yes {
		below := sort.SearchFloat64s(no, y)
		notAbove := sort.Search(len(no), func(i int) bool { return no[i] > y })
		wins += float64(below) + float64(notAbove-below)/2
	}
	a := wins / float64(len(yes)*len(no))
	return &a
}

// shortcomings returns warnings about what the summary rests on.
func shortcomings(s *StrategyResult) []string {
	seen := map[string]bool{}
	var out []string
	for _, q := range s.Queries {
		for _, v := range q.Scores {
			if strings.HasPrefix(v.Reason, "error: ") && !seen[v.Metric] {
				seen[v.Metric] = true
				out = append(out, s.Strategy+": query "+string(q.Query)+": "+v.Reason)
			}
		}
	}
	return out
}
