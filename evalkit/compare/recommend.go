package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/chunkeval/chunkeval/evalkit"
)

// Margin is the loss of recall that a recommendation accepts by default.
const Margin = 0.02

// minQueries is the number of questions below which nothing is recommended.
const minQueries = 20

// Confidence says how far a recommendation is carried by the data.
type Confidence string

// The confidences.
const (
	Clear Confidence = "clear" // every cheaper setting is shown to be worse
	Open  Confidence = "open"  // some cheaper setting is neither shown worse nor shown good enough
	None  Confidence = "none"  // nothing can be recommended
)

// An Option is a setting that could be shipped: an arm with its cost.
type Option struct {
	Experiment string         `json:"experiment"`
	Strategy   string         `json:"strategy"`
	Window     evalkit.Window `json:"window"` // in force
	Recall     float64        `json:"recall"`
	Tokens     float64        `json:"tokens"`
	Interval   *Interval      `json:"interval"` // of recall
	Front      bool           `json:"front"`    // no other has at least its recall for fewer tokens
	// ToBest is the recall minus that of the best, paired; nil for the best.
	ToBest *Delta `json:"to_best"`
	// Enough: the interval of ToBest does not reach below -margin.
	Enough bool `json:"enough"`
	// Short: shown to be worse than the best by the corrected test.
	Short bool `json:"short"`
}

// A Recommendation names the cheapest setting whose recall is not worse than
// the best by more than a margin, and says how sure that is.
type Recommendation struct {
	Margin     float64    `json:"margin"`
	Options    []Option   `json:"options"` // by tokens, then recall falling
	Pick       int        `json:"pick"`    // of Options; -1: none
	Best       int        `json:"best"`    // highest recall; -1: none
	Confidence Confidence `json:"confidence"`
	Reason     string     `json:"reason"` // a sentence
	Rule       string     `json:"rule"`   // a sentence
	// Undecided are the cheaper Options that more questions could bring in.
	Undecided []int `json:"undecided"`
	// Needed is the number of questions that would decide the first of them.
	Needed int `json:"needed_queries"`
}

var (
	recallMeasure = Measure{"recall", evalkit.Expanded}
	tokensMeasure = Measure{"context_tokens", evalkit.Expanded}
)

// Recommend weighs arms by recall and context tokens of what the LLM sees, the
// expanded view. Arms without either are left out.
func Recommend(arms []*Arm, margin float64, o Options) *Recommendation {
	o = o.withDefaults()
	r := &Recommendation{
		Margin: margin, Pick: -1, Best: -1, Confidence: None, Options: []Option{}, Undecided: []int{},
		Rule: fmt.Sprintf("the cheapest setting whose recall is not more than %.3g below the best one's: the whole %.0f %% interval of the paired difference lies above −%.3g", margin, 100*o.Level, margin),
	}
	var kept []*Arm
	for _, a := range arms {
		var recall, tokens Cell
		fill(&recall, a, recallMeasure, o)
		fill(&tokens, a, tokensMeasure, o)
		if recall.Mean != nil && tokens.Mean != nil {
			kept = append(kept, a)
			r.Options = append(r.Options, Option{Experiment: a.Experiment, Strategy: a.Strategy, Window: a.Window, Recall: *recall.Mean, Tokens: *tokens.Mean, Interval: recall.Interval})
		}
	}
	kept = r.sort(kept)
	if len(kept) == 0 {
		r.Reason = "no setting has both recall and context tokens"
		return r
	}
	for i, x := range r.Options {
		if r.Best < 0 || x.Recall > r.Options[r.Best].Recall {
			r.Best = i
		}
	}
	r.front()
	r.weigh(kept, o)
	r.choose(kept, o)
	return r
}

// sort orders options, and the arms with them, by cost.
func (r *Recommendation) sort(arms []*Arm) []*Arm {
	order := make([]int, len(arms))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := r.Options[i], r.Options[j]
		return cmp.Or(cmp.Compare(a.Tokens, b.Tokens), cmp.Compare(b.Recall, a.Recall))
	})
	options, sorted := make([]Option, len(arms)), make([]*Arm, len(arms))
	for to, from := range order {
		options[to], sorted[to] = r.Options[from], arms[from]
	}
	r.Options = options
	return sorted
}

// front marks the Pareto front: in order of cost, what beats all before it.
func (r *Recommendation) front() {
	best := math.Inf(-1)
	for i := range r.Options {
		if x := &r.Options[i]; x.Recall > best {
			x.Front, best = true, x.Recall
		}
	}
}

// weigh compares every option with the best.
func (r *Recommendation) weigh(arms []*Arm, o Options) {
	o = o.family(len(r.Options) - 1)
	var family []*Delta
	var measures []Measure
	for i := range r.Options {
		x := &r.Options[i]
		if i == r.Best {
			x.Enough = true
			continue
		}
		x.ToBest = newDelta(arms[r.Best], arms[i], recallMeasure, o)
		family, measures = append(family, x.ToBest), append(measures, recallMeasure)
	}
	decide(family, measures, o.Level)
	for i := range r.Options {
		if x := &r.Options[i]; x.ToBest != nil {
			interval := x.ToBest.Interval()
			x.Enough = interval != nil && interval.Lo >= -r.Margin
			x.Short = x.ToBest.Verdict == Worse
		}
	}
}

// choose picks the first option that is good enough, and says what speaks
// against being sure.
func (r *Recommendation) choose(arms []*Arm, o Options) {
	n := 0
	for i := range arms[r.Best].Queries {
		if _, ok := arms[r.Best].Value(recallMeasure, i); ok {
			n++
		}
	}
	if n < minQueries {
		r.Reason = fmt.Sprintf("%s with gold: a recommendation needs at least %d", plural(n, "question"), minQueries)
		r.Needed = minQueries
		return
	}
	r.Pick = slices.IndexFunc(r.Options, func(x Option) bool { return x.Enough })
	for i, x := range r.Options[:r.Pick] {
		if !x.Short {
			r.Undecided = append(r.Undecided, i)
			if need := neededForMargin(arms[r.Best], arms[i], r.Margin, o); r.Needed == 0 || need < r.Needed {
				r.Needed = need
			}
		}
	}
	switch {
	case len(r.Options) == 1:
		r.Confidence, r.Reason = Open, "there is only one setting: nothing to compare it with"
	case len(r.Undecided) > 0:
		r.Confidence = Open
		r.Reason = fmt.Sprintf("%s neither shown to be worse nor shown to be good enough with %d questions", cheaper(len(r.Undecided)), n)
	case r.Pick == 0:
		r.Confidence, r.Reason = Clear, "it is the cheapest, and its recall is not worse than the best by more than the margin"
	default:
		r.Confidence, r.Reason = Clear, "every cheaper setting is shown to find less"
	}
}

func cheaper(n int) string {
	if n == 1 {
		return "1 cheaper setting is"
	}
	return fmt.Sprintf("%d cheaper settings are", n)
}

// neededForMargin estimates the questions after which the interval of the
// difference would lie on one side of -margin, if the mean stays.
func neededForMargin(best, arm *Arm, margin float64, o Options) int {
	p := pair(best, arm, recallMeasure)
	if len(p.diffs) < 2 {
		return minQueries
	}
	away := math.Abs(average(p.diffs) + margin)
	return max(len(p.diffs)+1, Needed(deviation(p.diffs), away, 1-o.Level, Power))
}
