package gate

import (
	"cmp"
	"slices"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/compare"
	"github.com/chunkeval/chunkeval/evalkit/expand"
	"github.com/chunkeval/chunkeval/evalkit/token"
)

// maxRegressed is the number of questions that a Verdict tells of.
const maxRegressed = 10

// A Regressed is a question that got worse, with what the candidate retrieved.
type Regressed struct {
	Query    evalkit.QueryID `json:"query"`
	Question string          `json:"question"`
	Strategy string          `json:"strategy"`
	Metric   string          `json:"metric"`
	Baseline float64         `json:"baseline"`
	Value    float64         `json:"value"`
	// Response is the candidate's, as it was stored; nil if it failed.
	Response *expand.Response `json:"response"`
}

// regressed finds the questions that lost most, in the first rule that did not
// pass of each strategy, or else in the first rule.
func (v *Verdict) regressed(loaded []*compare.Loaded, candidate compare.Input) error {
	seen := map[string]bool{}
	var all []Regressed
	places := map[string]int{}
	for _, k := range slices.SortedStableFunc(slices.Values(v.Checks), func(a, b Check) int { return cmp.Compare(order(a.State), order(b.State)) }) {
		if k.Delta == nil || seen[k.Strategy] {
			continue
		}
		seen[k.Strategy] = true
		base, arm := armOf(loaded[0], k.Strategy), armOf(loaded[1], k.Strategy)
		sign := 1.0
		if !compare.InfoOf(k.Measure.Metric).Higher {
			sign = -1
		}
		for _, m := range compare.Moved(base, arm, k.Measure, len(base.Queries)) {
			if sign*m.Delta >= 0 {
				continue
			}
			x, _ := base.Value(k.Measure, m.Base)
			y, _ := arm.Value(k.Measure, m.Arm)
			all = append(all, Regressed{Query: m.Query, Question: arm.Queries[m.Arm].Text, Strategy: k.Strategy, Metric: k.Metric, Baseline: x, Value: y})
			places[k.Strategy+" "+string(m.Query)] = m.Arm
		}
	}
	slices.SortStableFunc(all, func(a, b Regressed) int { return cmp.Compare(relative(b), relative(a)) })
	v.Regressed = all[:min(maxRegressed, len(all))]
	return v.responses(candidate, places)
}

func order(s State) int { return slices.Index([]State{Fail, Inconclusive, Pass}, s) }

// relative is how much a question lost, as a share of the larger value.
func relative(r Regressed) float64 {
	loss := max(r.Baseline-r.Value, r.Value-r.Baseline)
	if top := max(r.Baseline, r.Value); top > 0 {
		return loss / top
	}
	return loss
}

func armOf(l *compare.Loaded, strategy string) *compare.Arm {
	for _, a := range l.Arms {
		if a.Strategy == strategy {
			return a
		}
	}
	return l.Arms[0] // one against one
}

// responses reads the stored trees and flat lists of the questions to tell of.
func (v *Verdict) responses(candidate compare.Input, places map[string]int) error {
	x, err := candidate.Source.Overview()
	if err != nil {
		return err
	}
	ds, err := candidate.Source.Dataset()
	if err != nil {
		return err
	}
	tok, err := token.Parse(x.Record.Spec.Tokenizer)
	if err != nil {
		return err
	}
	texts := evalkit.NewTexts(ds.Docs, tok)
	for i, e := range x.Record.Effective {
		if !slices.ContainsFunc(v.Regressed, func(r Regressed) bool { return r.Strategy == e.Strategy }) {
			continue
		}
		s, err := candidate.Source.Strategy(i)
		if err != nil {
			return err
		}
		for j := range v.Regressed {
			r := &v.Regressed[j]
			if r.Strategy != e.Strategy {
				continue
			}
			q := &s.Queries[places[r.Strategy+" "+string(r.Query)]]
			req := expand.Request{Query: r.Question, Strategy: e.Strategy, TopK: x.Record.Spec.TopK, Window: s.Window}
			r.Response = expand.NewResponse(req, q.Tree, q.Flat, texts)
		}
	}
	return nil
}
