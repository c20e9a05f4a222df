package compare

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/expand"
	"github.com/chunkeval/chunkeval/evalkit/experiment"
)

// planted is one document of n chunks of ten letters, and one question for each
// entry of plans.
type plan struct {
	gold   evalkit.Span
	ranked []int // chunk_index by rank
}

func planted(t *testing.T, n, k int, w evalkit.Window, plans ...plan) *Look {
	t.Helper()
	ds := &evalkit.Dataset{Docs: []evalkit.Document{{ID: "d", Text: strings.Repeat("abcdefghij", n)}}}
	s := &experiment.StrategyResult{Strategy: "fixed_size(size=10)", Window: w}
	for i := range n {
		span := evalkit.Span{Start: 10 * i, End: 10*i + 10}
		s.Chunks = append(s.Chunks, evalkit.Chunk{Doc: "d", Index: i, Span: span, Text: ds.Docs[0].Text[span.Start:span.End]})
	}
	for i, p := range plans {
		id := evalkit.QueryID(fmt.Sprint("q", i))
		ds.Queries = append(ds.Queries, evalkit.Query{ID: id, Qrels: []evalkit.Qrel{{Doc: "d", Span: p.gold, Grade: 1}}})
		var hits []evalkit.Hit
		for rank, at := range p.ranked {
			hits = append(hits, evalkit.Hit{Chunk: s.Chunks[at], Rank: rank + 1})
		}
		r := experiment.QueryResult{Query: id, Below: hits[min(k, len(hits)):]}
		r.Tree, r.Flat = expand.Neighbors{}.Expand(hits[:min(k, len(hits))], map[evalkit.DocID][]evalkit.Chunk{"d": s.Chunks}, w)
		s.Queries = append(s.Queries, r)
	}
	l, err := NewLook(experiment.Record{Spec: experiment.Spec{Tokenizer: "rune", TopK: k}}, s, ds)
	require.NoError(t, err)
	return l
}

func TestWaterfallNamesEachLoss(t *testing.T) {
	// Gold fills chunks 0 to 3. Ranked: 9, 0, 8, 1; two are served.
	l := planted(t, 10, 2, evalkit.Window{Next: 1}, plan{evalkit.Span{Start: 0, End: 40}, []int{9, 0, 8, 1}})
	assert.Equal(t, Waterfall{
		Segmentation: 1,    // four chunks of the index hold all of it
		Candidates:   0.5,  // 0 and 1 were found
		Oracle:       0.5,  // and would be served in a perfect order
		Actual:       0.25, // 9 and 0 were
		Expanded:     0.5,  // 0 brings 1
		Depth:        4, TopK: 2,
	}, l.Waterfall())
}

func TestAttributionByDistance(t *testing.T) {
	// The hit 5 holds a tenth; 4 and 6 a chunk each; 3 nothing of the gold.
	l := planted(t, 10, 1, evalkit.Window{Prev: 2, Next: 2}, plan{evalkit.Span{Start: 40, End: 75}, []int{5}})
	got := l.Attribution()
	want := []Share{{0, 10.0 / 35}, {-1, 10.0 / 35}, {1, 10.0 / 35}, {-2, 0}, {2, 5.0 / 35}}
	require.Len(t, got, len(want))
	for i := range want {
		assert.Equal(t, want[i].Distance, got[i].Distance)
		assert.InDelta(t, want[i].Recall, got[i].Recall, 1e-12)
	}
}

// TestPlaceboTellsNeighborhoodFromText: where gold stands beside the hit the
// window wins; where it stands anywhere it does not.
func TestPlaceboTellsNeighborhoodFromText(t *testing.T) {
	var beside, anywhere []plan
	for i := range 30 {
		at := 2 + 3*i%90
		beside = append(beside, plan{evalkit.Span{Start: 10 * (at - 1), End: 10*at + 10}, []int{at}})
		far := (at + 7 + 11*i) % 100
		anywhere = append(anywhere, plan{evalkit.Span{Start: 10 * far, End: 10*far + 10}, []int{at}})
	}
	w := evalkit.Window{Prev: 1, Next: 1}
	p := planted(t, 100, 1, w, beside...).Placebo(Options{})
	assert.InDelta(t, 0.5, p.HitOnly, 1e-12)
	assert.InDelta(t, 1, p.Real, 1e-12)
	assert.Less(t, p.Random, 0.55)
	assert.Equal(t, Better, p.Delta.Verdict)
	assert.InDelta(t, p.RealTokens, p.RandomTokens, 1e-9, "chunks of equal length cost the same")
	p = planted(t, 100, 1, w, anywhere...).Placebo(Options{})
	assert.NotEqual(t, Better, p.Delta.Verdict)
}

func TestBoundaryCountsTheWindowNeeded(t *testing.T) {
	hit := []int{0}
	l := planted(t, 10, 1, evalkit.Window{},
		plan{evalkit.Span{Start: 12, End: 18}, hit}, // inside chunk 1
		plan{evalkit.Span{Start: 10, End: 20}, hit}, // all of chunk 1, touching both sides
		plan{evalkit.Span{Start: 18, End: 25}, hit}, // cut: from chunk 2, one before
		plan{evalkit.Span{Start: 15, End: 48}, hit}, // from chunk 2: one before, two after
		plan{evalkit.Span{Start: 0, End: 100}, hit}, // from chunk 0: nine after
	)
	b := l.Boundary()
	assert.Equal(t, Boundary{Spans: 5, Cut: 3, Needed: []int{2, 1, 1, 0, 0, 0, 0, 0, 0, 1}}, b)
	assert.InDelta(t, 0.6, b.Rate(), 1e-12)
}

func TestCurveServesUnitsWhole(t *testing.T) {
	w := evalkit.Window{Prev: 1, Next: 1}
	l := planted(t, 10, 2, w, plan{evalkit.Span{Start: 0, End: 40}, []int{1, 2, 9}})
	c := l.Curve(w, Options{})
	// 0-2; then 1-3 adds 3; then 8 and 9, which have no next.
	for k, want := range []Point{{Depth: 1, Tokens: 30, Recall: 0.75, N: 1}, {Depth: 2, Tokens: 40, Recall: 1, N: 1}, {Depth: 3, Tokens: 60, Recall: 1, N: 1}} {
		assert.Equal(t, want, c.Points[k])
	}
	assert.Equal(t, []float64{0}, c.RecallAtBudget(29), "a unit that does not fit is not cut")
	assert.Equal(t, []float64{0.75}, c.RecallAtBudget(39))
	assert.Equal(t, Point{Budget: 45, Tokens: 40, Recall: 1, N: 1}, c.AtBudget(45, Options{}))
	assert.Equal(t, Point{Budget: 29, Nothing: 1, N: 1}, c.AtBudget(29, Options{}))
	assert.Equal(t, Point{Budget: 99, Tokens: 60, Recall: 1, Ended: 1, N: 1}, c.AtBudget(99, Options{}))
	for budget, want := range map[int]bool{29: false, 45: true, 99: false} {
		rows := AtBudgets([]*Curve{c, c}, []int{0, 0}, []int{budget}, Options{})
		assert.Equal(t, want, rows[1].Points[0].Comparable())
	}
}
