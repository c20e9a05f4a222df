package gate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/compare"
	"github.com/chunkeval/chunkeval/evalkit/experiment"
)

// world is a candidate that differs from its baseline by change and noise.
type world struct {
	questions, strategies, documents int // documents 0: one per question
	change, question, document       float64
}

// draw makes a baseline of zeros and a candidate.
func (w world) draw(seed uint64) (baseline, candidate *experiment.Result) {
	r := rand.New(rand.NewPCG(seed, 3))
	docs := w.documents
	if docs == 0 {
		docs = w.questions
	}
	baseline, candidate = many("a", w.strategies, docs, make([]float64, w.questions)), many("b", w.strategies, docs, make([]float64, w.questions))
	for i := range candidate.Strategies {
		effect := make([]float64, docs)
		for d := range effect {
			effect[d] = w.document * r.NormFloat64()
		}
		for q := range candidate.Strategies[i].Queries {
			candidate.Strategies[i].Queries[q].Scores[0].Value = w.change + effect[q%docs] + w.question*r.NormFloat64()
		}
	}
	return baseline, candidate
}

// many is scored with several strategies, its questions spread over documents.
func many(id string, strategies, docs int, values []float64) *experiment.Result {
	r := scored(id, values)
	for i := range r.Dataset.Queries {
		r.Dataset.Queries[i].Qrels[0].Doc = evalkit.DocID(fmt.Sprint("d", i%docs))
	}
	r.Strategies, r.Record.Effective = nil, nil
	for k := range strategies {
		s := scored(id, values).Strategies[0]
		s.Strategy = fmt.Sprintf("page(n=%d)", k)
		r.Strategies = append(r.Strategies, s)
		r.Record.Effective = append(r.Record.Effective, experiment.Effective{Strategy: s.Strategy})
	}
	return r
}

// rates returns the share of gates in each state.
func rates(t *testing.T, w world, p Policy, rounds int) map[State]float64 {
	t.Helper()
	var counts [3]atomic.Int64
	states := []State{Pass, Inconclusive, Fail}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := next.Add(1); i <= int64(rounds); i = next.Add(1) {
				p := p
				p.Seed = uint64(i)
				a, b := w.draw(uint64(i))
				v, err := Decide(input(a), input(b), p, Options{})
				if !assert.NoError(t, err) {
					return
				}
				counts[order(Fail)-order(v.State)+2].Add(1)
			}
		})
	}
	wg.Wait()
	out := map[State]float64{}
	for i, s := range states {
		out[s] = float64(counts[i].Load()) / float64(rounds)
	}
	return out
}

// rounds is the number of simulated gates, and the tolerance of a rate of 80 %.
func rounds() (n int, tolerance float64) {
	if os.Getenv("EVALKIT_LONG") != "" {
		return 3000, 0.03
	}
	return 200, 0.085 // three standard errors
}

func policyOf(margin float64, s Significant) Policy {
	return Policy{Alpha: 0.05, Significant: s, Rules: []Rule{{Measure: compare.Measure{Metric: "recall", View: evalkit.Expanded}, Margin: margin}}}
}

// TestDetectableLossIsCaught: a true loss of the size that a check prints fails
// with 80 % power, whatever the policy, and no loss fails at most 5 %.
func TestDetectableLossIsCaught(t *testing.T) {
	n, tolerance := rounds()
	for name, p := range map[string]Policy{
		"no margin":               policyOf(0, SignificantBeyond),
		"a margin":                policyOf(0.05, SignificantBeyond),
		"significant fails":       policyOf(0.05, SignificantFails),
		"the margin alone":        policyOf(0.05, SignificantPasses),
		"a margin as wide as all": policyOf(0.2, SignificantBeyond),
	} {
		t.Run(name, func(t *testing.T) {
			w := world{questions: 60, strategies: 1, question: 0.3}
			w.change = -spread{0.3, 60, 1, p, p.Rules[0].Margin}.detectable()
			assert.InDelta(t, 0.8, rates(t, w, p, n)[Fail], tolerance)
			w.change = 0
			assert.LessOrEqual(t, rates(t, w, p, n)[Fail], 0.05)
		})
	}
}

// TestNeededQuestionsAreEnough: with the number of questions that an
// inconclusive check prints, a true change of the size that it saw is decided
// with 80 % power.
func TestNeededQuestionsAreEnough(t *testing.T) {
	n, tolerance := rounds()
	for name, c := range map[string]struct {
		policy Policy
		gain   float64
		want   State
	}{
		"a loss":                      {policyOf(0.02, SignificantBeyond), -0.09, Fail},
		"a loss beyond the margin":    {policyOf(0.02, SignificantPasses), -0.10, Fail},
		"a gain":                      {policyOf(0.05, SignificantBeyond), 0.04, Pass},
		"a loss smaller than allowed": {policyOf(0.08, SignificantPasses), -0.01, Pass},
	} {
		t.Run(name, func(t *testing.T) {
			// A pilot whose mean and deviation are those of the world.
			baseline, pilot := world{questions: 30, strategies: 1}.draw(1)
			for i := range pilot.Strategies[0].Queries {
				pilot.Strategies[0].Queries[i].Scores[0].Value = c.gain + 0.3*math.Sqrt(29./30)*float64(2*(i%2)-1)
			}
			v, err := Decide(input(baseline), input(pilot), c.policy, Options{})
			require.NoError(t, err)
			require.Equal(t, Inconclusive, v.State)
			k := v.Checks[0]
			require.Contains(t, k.Text, fmt.Sprintf("about %d would be needed", k.Needed))
			got := rates(t, world{questions: k.Needed, strategies: 1, change: c.gain, question: 0.3}, c.policy, n)
			assert.InDelta(t, 0.8, got[c.want], tolerance, "%d questions: %v", k.Needed, got)
		})
	}
}

// TestNoLossFailsRarely: an unchanged candidate fails at most 5 %, over all
// tests of the policy together, and where questions share documents.
func TestNoLossFailsRarely(t *testing.T) {
	n, limit, meanings := 60, 0.05+2*0.028, []Significant{SignificantBeyond} // two standard errors
	if os.Getenv("EVALKIT_LONG") != "" {
		n, limit, meanings = 1000, 0.05, append(meanings, SignificantPasses, SignificantFails)
	}
	for name, w := range map[string]world{
		"five strategies":                {questions: 60, strategies: 5, question: 0.3},
		"questions of ten documents":     {questions: 60, strategies: 1, documents: 10, question: 0.3, document: 0.3},
		"five strategies, ten documents": {questions: 60, strategies: 5, documents: 10, question: 0.3, document: 0.3},
	} {
		for _, s := range meanings {
			t.Run(name+" "+string(s), func(t *testing.T) {
				assert.LessOrEqual(t, rates(t, w, policyOf(0, s), n)[Fail], limit)
			})
		}
	}
}
