package compare

import (
	"fmt"
	"math"

	"github.com/chunkeval/chunkeval/evalkit"
)

// Options say how differences are tested. The zero value takes the defaults.
type Options struct {
	Measures  []Measure // the declared family; default Headline and OfAnswers
	Level     float64   // of intervals; default 0.95
	Bootstrap int       // resamples of an interval; default 2000
	Draws     int       // sign patterns of a test, at least; default 10,000
	Seed      uint64    // default 1
}

func (o Options) withDefaults() Options {
	if len(o.Measures) == 0 {
		o.Measures = append(Headline(), OfAnswers()...)
	}
	if o.Level == 0 {
		o.Level = 0.95
	}
	if o.Bootstrap == 0 {
		o.Bootstrap = 2000
	}
	if o.Draws == 0 {
		o.Draws = 10_000
	}
	if o.Seed == 0 {
		o.Seed = 1
	}
	return o
}

// family returns o with enough sign patterns for a family of n tests: the smallest
// p there is, times n, stays a tenth of what is significant.
func (o Options) family(n int) Options {
	o.Draws = max(o.Draws, int(math.Ceil(10*float64(n)/(1-o.Level))))
	return o
}

// Power is the power for which detectable differences are given.
const Power = 0.8

// minPairs is the number of pairs from which a test is made at all: of four, no
// pattern of signs is rarer than 1 in 8.
const minPairs = 5

// A Verdict says what a corrected test allows to claim.
type Verdict string

// The verdicts.
const (
	Better       Verdict = "better"
	Worse        Verdict = "worse"
	NotShown     Verdict = "not shown to differ"
	NoDifference Verdict = "no difference"
	NotTested    Verdict = "not tested"
)

// A Delta is what one arm has more than the baseline, paired by query.
type Delta struct {
	N       int       `json:"n"`    // pairs: queries with a value in both
	Mean    float64   `json:"mean"` // arm minus baseline, in the metric's unit
	SD      float64   `json:"sd"`   // of the differences, ddof 1
	Naive   *Interval `json:"interval"`
	Cluster *Interval `json:"cluster_interval"` // documents drawn whole; nil where each has one question
	// Clusters is the number of documents that the questions belong to.
	Clusters int `json:"clusters"`
	Win      int `json:"win"` // queries where the arm's value is better
	Tie      int `json:"tie"`
	Loss     int `json:"loss"`
	// P is the two-sided p of the sign-flip test, nil if it was not made;
	// Holm is P corrected over the family.
	P     *float64 `json:"p"`
	Exact bool     `json:"exact"`
	Holm  *float64 `json:"p_holm"`
	// Detectable is the smallest true difference that this n finds with 80 %
	// power before correction, nil if nothing varies.
	Detectable *float64 `json:"detectable"`
	Verdict    Verdict  `json:"verdict"`
	Warnings   []string `json:"warnings,omitempty"`

	// given: the settings leave no room for a difference, so there is no test.
	given bool
}

// Interval returns the wider of the intervals, which is the one to trust; nil
// if there is none.
func (d *Delta) Interval() *Interval {
	if d.Cluster != nil && (d.Naive == nil || d.Cluster.Hi-d.Cluster.Lo > d.Naive.Hi-d.Naive.Lo) {
		return d.Cluster
	}
	return d.Naive
}

// pairs are the queries of a baseline and an arm that have a value in both.
type pairs struct {
	diffs    []float64
	clusters []int // nil if each document has one question
	n        int   // clusters
}

// pair matches two arms by query id.
func pair(base, arm *Arm, m Measure) pairs {
	at := make(map[evalkit.QueryID]int, len(arm.Queries))
	for i, q := range arm.Queries {
		at[q.ID] = i
	}
	var p pairs
	var docs []evalkit.DocID
	for i, q := range base.Queries {
		j, ok := at[q.ID]
		if !ok || arm.Queries[j].Text != q.Text {
			continue
		}
		x, okx := base.Value(m, i)
		y, oky := arm.Value(m, j)
		if okx && oky {
			p.diffs = append(p.diffs, y-x)
			docs = append(docs, documentOf(q))
		}
	}
	p.clusters, p.n = number(docs)
	if p.n == len(docs) {
		p.clusters = nil
	}
	return p
}

// documentOf returns the document that a query belongs to: that of its first
// qrel; each query without gold is its own.
func documentOf(q evalkit.Query) evalkit.DocID {
	if len(q.Qrels) == 0 {
		return evalkit.DocID("query " + q.ID)
	}
	return q.Qrels[0].Doc
}

// number numbers equal names from 0, in order of first occurrence.
func number(docs []evalkit.DocID) (numbers []int, n int) {
	seen := map[evalkit.DocID]int{}
	for _, d := range docs {
		i, ok := seen[d]
		if !ok {
			i = len(seen)
			seen[d] = i
		}
		numbers = append(numbers, i)
	}
	return numbers, len(seen)
}

// newDelta compares two arms in one measure. Holm and Verdict are set when the
// whole family is known.
func newDelta(base, arm *Arm, m Measure, o Options) *Delta {
	return deltaOf(pair(base, arm, m), m, o)
}

func deltaOf(p pairs, m Measure, o Options) *Delta {
	d := &Delta{N: len(p.diffs), Clusters: p.n, Verdict: NotTested}
	if d.N == 0 {
		d.Warnings = append(d.Warnings, "no query has a value in both")
		return d
	}
	higher := InfoOf(m.Metric).Higher
	for _, v := range p.diffs {
		d.Mean += v / float64(d.N)
		switch {
		case v == 0:
			d.Tie++
		case (v > 0) == higher:
			d.Win++
		default:
			d.Loss++
		}
	}
	if d.Tie == d.N {
		d.Mean = 0
	}
	d.SD = deviation(p.diffs)
	d.intervals(p, o)
	d.test(p, o)
	return d
}

func (d *Delta) intervals(p pairs, o Options) {
	if i, ok := Bootstrap(p.diffs, nil, o.Bootstrap, o.Level, o.Seed); ok {
		d.Naive = &i
	}
	if p.clusters == nil {
		return
	}
	if i, ok := Bootstrap(p.diffs, p.clusters, o.Bootstrap, o.Level, o.Seed); ok {
		d.Cluster = &i
	}
	if p.n < 10 {
		d.Warnings = append(d.Warnings, fmt.Sprintf("only %d documents: the interval by document needs about 10", p.n))
	}
}

func (d *Delta) test(p pairs, o Options) {
	if d.N < minPairs {
		d.Warnings = append(d.Warnings, fmt.Sprintf("not tested: %s; a test needs at least %d", plural(d.N, "pair"), minPairs))
		return
	}
	t := SignFlip(p.diffs, o.Draws, o.Seed)
	d.P, d.Exact = &t.P, t.Exact
	if d.SD == 0 {
		return
	}
	detectable := Detectable(d.SD, d.N, 1-o.Level, Power)
	d.Detectable = &detectable
	if a := math.Abs(d.Mean); a < detectable && d.Mean != 0 {
		d.Warnings = append(d.Warnings, fmt.Sprintf("a true difference of %.3g would need about %d queries; there are %d", a, Needed(d.SD, a, 1-o.Level, Power), d.N))
	}
}

// inFamily reports whether d was tested, and could have found something.
func (d *Delta) inFamily() bool { return d.P != nil && !d.given }

// decide corrects the p of all deltas that were tested and sets verdicts. The
// family is all of them, but for those whose settings cannot make a difference.
func decide(family []*Delta, measures []Measure, level float64) {
	var p []float64
	for _, d := range family {
		if d.inFamily() {
			p = append(p, *d.P)
		}
	}
	corrected := Holm(p)
	for i, d := range family {
		if d.given {
			d.P, d.Verdict = nil, NoDifference
		}
		if d.P == nil {
			continue
		}
		holm := corrected[0]
		corrected = corrected[1:]
		d.Holm = &holm
		switch {
		case d.Tie == d.N:
			d.Verdict = NoDifference
		case holm > 1-level:
			d.Verdict = NotShown
		case d.Interval().Contains(0):
			d.Verdict = NotShown
			d.Warnings = append(d.Warnings, "significant question by question, but not when documents are drawn whole: the questions of a document depend on each other")
		case (d.Mean > 0) == InfoOf(measures[i].Metric).Higher:
			d.Verdict = Better
		default:
			d.Verdict = Worse
		}
	}
}

// deviation returns the sample standard deviation.
func deviation(x []float64) float64 {
	if len(x) < 2 || same(x) {
		return 0
	}
	mean, ss := average(x), 0.0
	for _, v := range x {
		ss += (v - mean) * (v - mean)
	}
	return math.Sqrt(ss / float64(len(x)-1))
}

func average(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
