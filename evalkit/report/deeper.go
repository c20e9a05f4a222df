package report

import (
	"fmt"
	"math"
	"strconv"

	"github.com/chunkeval/chunkeval/evalkit/compare"
)

// fewer is the share of the tokens of a recommendation that a point of a curve
// may cost to be worth a word: less is within what a difference of settings does.
const fewer = 0.8

// A depth is a place on a curve of recall against tokens: a setting that sends
// another number of hits.
type depth struct {
	*compare.Curve
	Retriever string
	compare.Point
}

// cheapest returns the point that costs least among those of all curves that find
// at least recall, on average, for at most limit tokens; nil if there is none.
// Points that were run as a setting are passed over: they were weighed already.
func cheapest(curves []*compare.Curve, retrievers []string, recall, limit float64, ran func(depth) bool) *depth {
	const slack = 1e-9 // the error of a mean is no difference
	var best *depth
	for i, c := range curves {
		for _, p := range c.Points {
			d := depth{c, retrievers[i], p}
			if p.Recall >= recall-slack && p.Tokens <= limit && (best == nil || p.Tokens < best.Tokens) && !ran(d) {
				best = &d
			}
		}
	}
	return best
}

// deeper looks for a setting that was not run and, by the candidates that were
// kept, finds as much as the recommended one for clearly fewer tokens. Curves of
// Experiments with failed queries are left out: those count 0 in the
// recommendation, and not at all in a curve.
func (s *Study) deeper() *depth {
	r := s.Recommendation
	if r.Pick < 0 {
		return nil
	}
	var curves []*compare.Curve
	var retrievers []string
	all, of := s.Curves()
	for i, c := range all {
		if len(c.RecallAtBudget(0)) == s.answered() {
			curves, retrievers = append(curves, c), append(retrievers, of[i])
		}
	}
	pick := r.Options[r.Pick]
	return cheapest(curves, retrievers, pick.Recall, fewer*pick.Tokens, s.ran)
}

// ran reports whether an Experiment served d.
func (s *Study) ran(d depth) bool {
	for _, o := range s.Recommendation.Options {
		x := s.entry(o.Experiment)
		if o.Strategy == d.Strategy && o.Window == d.Window && x.Spec.TopK == d.Depth && x.Retriever() == d.Retriever {
			return true
		}
	}
	return false
}

// Badge is the window.
func (d depth) Badge() Badge { return strategyBadge(d.Strategy, d.Window) }

// String names the setting in words.
func (d depth) String() string {
	return fmt.Sprintf("%s with %s and top_k %d", label(d.Strategy, d.Window), d.Retriever, d.Depth)
}

// About is the tokens, to two digits that count.
func (d depth) About() string {
	unit := math.Pow10(max(0, int(math.Floor(math.Log10(max(d.Tokens, 1))))-1))
	return strconv.FormatFloat(unit*math.Round(d.Tokens/unit), 'f', 0, 64)
}
