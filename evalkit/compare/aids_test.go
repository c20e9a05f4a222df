package compare_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/compare"
	"github.com/chunkeval/chunkeval/evalkit/experiment"
	"github.com/chunkeval/chunkeval/evalkit/internal/trial"
)

var few = compare.Options{Bootstrap: 200, Draws: 200}

func look(t *testing.T, r *experiment.Result, i int) *compare.Look {
	t.Helper()
	l, err := compare.NewLook(r.Record, &r.Strategies[i], r.Dataset)
	require.NoError(t, err)
	return l
}

// mean is the stored mean of a metric.
func mean(t *testing.T, r *experiment.Result, i int, metric string, v evalkit.View) float64 {
	t.Helper()
	for _, row := range r.Strategies[i].Summary {
		if row.Metric == metric && row.View == v {
			return *row.Mean
		}
	}
	t.Fatalf("no %s", metric)
	return 0
}

// TestAidsAgreeWithTheMetrics holds every aid to the number that was measured.
func TestAidsAgreeWithTheMetrics(t *testing.T) {
	all := trial.Handbook(t, "strategies: [fixed_size(size=100), 'fixed_size(size=80,overlap=30)', markdown]\nretriever: bm25\ntop_k: 3\nneighbor_prev: 1\nneighbor_next: 2\n")
	r := all[0]
	for i, s := range r.Strategies {
		l := look(t, r, i)
		hit, expanded := mean(t, r, i, "recall", evalkit.HitOnly), mean(t, r, i, "recall", evalkit.Expanded)

		c := l.Curve(s.Window, few)
		require.Len(t, c.Points, 20, "all candidates")
		assert.InDelta(t, expanded, c.Points[2].Recall, 1e-12, s.Strategy)
		// The metric tokenizes each piece on its own, the curve counts the
		// document's tokens: a piece may differ by one or two.
		assert.InDelta(t, mean(t, r, i, "context_tokens", evalkit.Expanded), c.Points[2].Tokens, 1e-9, "the same tokens as in the table")
		assert.InDelta(t, hit, l.Curve(evalkit.Window{}, few).Points[2].Recall, 1e-12)
		for k := 1; k < len(c.Points); k++ {
			assert.GreaterOrEqual(t, c.Points[k].Recall, c.Points[k-1].Recall)
			assert.GreaterOrEqual(t, c.Points[k].Tokens, c.Points[k-1].Tokens)
		}
		budget := c.AtBudget(500, few)
		assert.LessOrEqual(t, budget.Tokens, 500.0)
		assert.InDelta(t, 0, c.AtBudget(0, few).Recall, 0)
		assert.InDelta(t, c.Points[19].Recall, c.AtBudget(1<<30, few).Recall, 1e-12)

		sum := 0.0
		for _, share := range l.Attribution() {
			sum += share.Recall
		}
		assert.InDelta(t, expanded, sum, 1e-12, "the shares add up")
		assert.InDelta(t, hit, l.Attribution()[0].Recall, 1e-12)

		w := l.Waterfall()
		assert.InDelta(t, hit, w.Actual, 1e-12)
		assert.InDelta(t, expanded, w.Expanded, 1e-12)
		assert.GreaterOrEqual(t, w.Segmentation, w.Candidates)
		assert.GreaterOrEqual(t, w.Candidates, w.Oracle)
		assert.GreaterOrEqual(t, w.Oracle, w.Actual)
		assert.Equal(t, 20, w.Depth)

		p := l.Placebo(few)
		if !evalkit.Expands(named(s.Strategy)) {
			assert.Nil(t, p, "no neighbors, no placebo")
			continue
		}
		assert.InDelta(t, expanded, p.Real, 1e-12)
		assert.InDelta(t, hit, p.HitOnly, 1e-12)
		assert.GreaterOrEqual(t, p.Random, p.HitOnly)
		assert.Equal(t, p, l.Placebo(few), "same seed, same numbers")
	}
}

// named is a strategy by name alone.
type named string

func (n named) String() string { return string(n) }

func (named) Split(context.Context, evalkit.Document) ([]evalkit.Chunk, error) { return nil, nil }

// TestAtBudgets: at equal tokens a curve does not differ from itself, and the
// difference of two is that of their points.
func TestAtBudgets(t *testing.T) {
	all := trial.Handbook(t, "strategies: [fixed_size(size=100)]\nretriever: bm25\ntop_k: 3\nqueries: ['h0*']\n")
	l := look(t, all[0], 0)
	a, b := l.Curve(evalkit.Window{}, few), l.Curve(evalkit.Window{Prev: 1, Next: 1}, few)
	rows := compare.AtBudgets([]*compare.Curve{a, a, b, b, a}, []int{0, 0, 0, 3, 3}, []int{500, 1000}, few)
	assert.Nil(t, rows[0].Deltas)
	assert.Nil(t, rows[3].Deltas, "a baseline of its own")
	for i := range 2 {
		assert.Equal(t, compare.NoDifference, rows[1].Deltas[i].Verdict)
		assert.InDelta(t, rows[2].Points[i].Recall-rows[0].Points[i].Recall, rows[2].Deltas[i].Mean, 1e-12)
		assert.InDelta(t, -rows[2].Deltas[i].Mean, rows[4].Deltas[i].Mean, 1e-12, "the other way round")
		assert.LessOrEqual(t, rows[2].Points[i].Tokens, []float64{500, 1000}[i])
	}
}
