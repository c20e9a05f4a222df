package compare

import (
	"slices"

	"github.com/chunkeval/chunkeval/evalkit"
)

// A Curve is recall against context tokens as more hits are sent, for one
// window. A hit with its neighbors is one unit: it is sent whole or not at all.
type Curve struct {
	Strategy string         `json:"strategy"`
	Window   evalkit.Window `json:"window"`
	Points   []Point        `json:"points"` // by depth, from 1

	tokens [][]int     // per query and depth
	recall [][]float64 // same
	docs   []evalkit.DocID
	ids    []evalkit.QueryID
}

// A Point is the mean over queries at one depth, or at one budget.
type Point struct {
	Depth    int       `json:"depth,omitempty"`  // hits sent
	Budget   int       `json:"budget,omitempty"` // tokens allowed
	Tokens   float64   `json:"tokens"`           // mean context tokens
	Recall   float64   `json:"recall"`           // mean recall, neighbors included
	Interval *Interval `json:"interval"`         // of recall, by document
	// At a budget: questions that not even the first unit fits, and those of which
	// all candidates fit, so that more of them might find more.
	Nothing int `json:"nothing_fits,omitempty"`
	Ended   int `json:"candidates_ended,omitempty"`
	N       int `json:"n"` // questions
}

// Comparable reports whether the budget says something about most questions: it is
// neither too small for a unit nor too large for the candidates.
func (p Point) Comparable() bool { return 2*p.Nothing <= p.N && 2*p.Ended <= p.N }

// Curve follows the candidates down the ranking with window w, which need not
// be the Experiment's: hits do not depend on it.
func (l *Look) Curve(w evalkit.Window, o Options) *Curve {
	o = o.withDefaults()
	c := &Curve{Strategy: l.Strategy, Window: w}
	depth := 0
	for i := range l.queries {
		depth = max(depth, len(l.queries[i].hits)+len(l.queries[i].below))
	}
	for i := range l.queries {
		x := &l.queries[i]
		tokens, recall := make([]int, depth), make([]float64, depth)
		p := l.newPile(x)
		candidates := x.candidates()
		for k := range depth {
			if k < len(candidates) {
				p.add(candidates[k].Chunk.Doc, l.unit(candidates[k], w)...)
			}
			tokens[k], recall[k] = p.tokens, p.recall()
		}
		c.tokens, c.recall, c.docs = append(c.tokens, tokens), append(c.recall, recall), append(c.docs, documentOf(x.judged.Query))
		c.ids = append(c.ids, x.judged.Query.ID)
	}
	for k := range depth {
		c.Points = append(c.Points, c.point(func(int) int { return k + 1 }, Point{Depth: k + 1}, o))
	}
	return c
}

// AtBudget returns the mean recall when every query is sent as many units, in
// rank order, as fit into a budget of tokens.
func (c *Curve) AtBudget(tokens int, o Options) Point {
	p := Point{Budget: tokens}
	for i, all := range c.tokens {
		switch c.fits(i, tokens) {
		case 0:
			p.Nothing++
		case len(all):
			p.Ended++
		}
	}
	return c.point(func(i int) int { return c.fits(i, tokens) }, p, o.withDefaults())
}

// fits returns how many units of query i fit into a budget.
func (c *Curve) fits(i, tokens int) int {
	n := slices.IndexFunc(c.tokens[i], func(t int) bool { return t > tokens })
	if n < 0 {
		return len(c.tokens[i])
	}
	return n
}

// RecallAtBudget returns the recall of every query at a budget; curves of one
// data set have the same queries in the same order if none failed.
func (c *Curve) RecallAtBudget(tokens int) []float64 {
	out := make([]float64, len(c.recall))
	for i := range out {
		if k := c.fits(i, tokens); k > 0 {
			out[i] = c.recall[i][k-1]
		}
	}
	return out
}

// point averages over queries, each at its own depth; depth 0 has found nothing.
func (c *Curve) point(depth func(i int) int, p Point, o Options) Point {
	p.N = len(c.recall)
	values := make([]float64, len(c.recall))
	for i := range c.recall {
		if k := depth(i); k > 0 {
			values[i] = c.recall[i][k-1]
			p.Tokens += float64(c.tokens[i][k-1]) / float64(len(c.recall))
		}
	}
	if len(values) == 0 {
		return p
	}
	p.Recall = average(values)
	clusters, _ := number(c.docs)
	if i, ok := Bootstrap(values, clusters, o.Bootstrap, o.Level, o.Seed); ok {
		p.Interval = &i
	}
	return p
}

// A BudgetRow is one curve at several budgets, beside another curve.
type BudgetRow struct {
	Curve  *Curve
	Points []Point  // per budget
	Deltas []*Delta // per budget, against the baseline; nil in a baseline
}

func (r BudgetRow) at(tokens int) Point {
	return r.Points[slices.IndexFunc(r.Points, func(p Point) bool { return p.Budget == tokens })]
}

// AtBudgets holds curves beside each other at equal context tokens, paired by
// question. The baseline of curve i is curve base[i], which stands before it, and none
// if that is i. p is corrected over all differences; there is none where a budget is
// not Comparable.
func AtBudgets(curves []*Curve, base, tokens []int, o Options) []BudgetRow {
	o = o.withDefaults().family(len(curves) * len(tokens))
	var rows []BudgetRow
	var family []*Delta
	var measures []Measure
	for i, c := range curves {
		row := BudgetRow{Curve: c}
		for _, t := range tokens {
			row.Points = append(row.Points, c.AtBudget(t, o))
			if base[i] == i {
				continue
			}
			d := deltaOf(curves[base[i]].pair(c, t), recallMeasure, o)
			if !row.Points[len(row.Points)-1].Comparable() || !rows[base[i]].at(t).Comparable() {
				d.P, d.Verdict = nil, NotTested
			}
			row.Deltas = append(row.Deltas, d)
			family, measures = append(family, d), append(measures, recallMeasure)
		}
		rows = append(rows, row)
	}
	decide(family, measures, o.Level)
	return rows
}

// pair matches two curves by question at a budget.
func (c *Curve) pair(other *Curve, tokens int) pairs {
	x, y := c.RecallAtBudget(tokens), other.RecallAtBudget(tokens)
	at := make(map[evalkit.QueryID]int, len(other.ids))
	for i, id := range other.ids {
		at[id] = i
	}
	var p pairs
	var docs []evalkit.DocID
	for i, id := range c.ids {
		if j, ok := at[id]; ok {
			p.diffs, docs = append(p.diffs, y[j]-x[i]), append(docs, c.docs[i])
		}
	}
	if p.clusters, p.n = number(docs); p.n == len(docs) {
		p.clusters = nil
	}
	return p
}
