package compare

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/expand"
	"github.com/chunkeval/chunkeval/evalkit/experiment"
)

// world is a random index of overlapping chunks over two documents of single-byte
// characters, with random gold, ranking and window.
func world(t testing.TB, seed uint64) (*Look, map[evalkit.DocID][]evalkit.Chunk) {
	r := rand.New(rand.NewPCG(seed, 5))
	w := evalkit.Window{Prev: r.IntN(3), Next: r.IntN(3)}
	ds := &evalkit.Dataset{}
	s := &experiment.StrategyResult{Strategy: "fixed_size(size=10)", Window: w}
	byDoc := map[evalkit.DocID][]evalkit.Chunk{}
	for _, id := range []evalkit.DocID{"a", "b"} {
		text := strings.Repeat("x", 40+r.IntN(60))
		ds.Docs = append(ds.Docs, evalkit.Document{ID: id, Text: text})
		for at, end := 0, 0; end < len(text); at = max(at+1, end-r.IntN(5)) {
			end = min(len(text), max(end+1, at+5+r.IntN(10)))
			byDoc[id] = append(byDoc[id], evalkit.Chunk{Doc: id, Index: len(byDoc[id]), Span: evalkit.Span{Start: at, End: end}, Text: text[at:end]})
		}
		s.Chunks = append(s.Chunks, byDoc[id]...)
	}
	k := 1 + r.IntN(4)
	for i := range 4 {
		q := evalkit.Query{ID: evalkit.QueryID(fmt.Sprint(i))}
		for range 1 + r.IntN(3) {
			doc := ds.Docs[r.IntN(2)]
			start := r.IntN(len(doc.Text) - 1)
			q.Qrels = append(q.Qrels, evalkit.Qrel{Doc: doc.ID, Span: evalkit.Span{Start: start, End: start + 1 + r.IntN(min(20, len(doc.Text)-start))}, Grade: 1})
		}
		ds.Queries = append(ds.Queries, q)
		var hits []evalkit.Hit
		for rank, at := range r.Perm(len(s.Chunks))[:min(len(s.Chunks), 2+r.IntN(6))] {
			hits = append(hits, evalkit.Hit{Chunk: s.Chunks[at], Rank: rank + 1})
		}
		served := min(k, len(hits))
		res := experiment.QueryResult{Query: q.ID, Below: hits[served:]}
		res.Tree, res.Flat = expand.Neighbors{}.Expand(hits[:served], byDoc, w)
		s.Queries = append(s.Queries, res)
	}
	l, err := NewLook(experiment.Record{Spec: experiment.Spec{Tokenizer: "rune", TopK: k}}, s, ds)
	require.NoError(t, err)
	return l, byDoc
}

// covered marks the bytes of some chunks, and returns the recall and the number
// of bytes: no span algebra at all.
func covered(x *looked, chunks []evalkit.Chunk) (recall float64, size int) {
	type place struct {
		doc evalkit.DocID
		at  int
	}
	seen, gold, hit := map[place]bool{}, map[place]bool{}, 0
	for _, q := range x.judged.Query.Qrels {
		for i := q.Span.Start; i < q.Span.End; i++ {
			gold[place{q.Doc, i}] = true
		}
	}
	for _, c := range chunks {
		for i := c.Span.Start; i < c.Span.End; i++ {
			seen[place{c.Doc, i}] = true
		}
	}
	for p := range gold {
		if seen[p] {
			hit++
		}
	}
	return float64(hit) / float64(len(gold)), len(seen)
}

// best is the recall of the best k of chunks, by trying all.
func bestOf(x *looked, chunks []evalkit.Chunk, k int) float64 {
	top := 0.0
	var try func(from int, chosen []evalkit.Chunk)
	try = func(from int, chosen []evalkit.Chunk) {
		if r, _ := covered(x, chosen); r > top {
			top = r
		}
		if len(chosen) == k {
			return
		}
		for i := from; i < len(chunks); i++ {
			try(i+1, append(chosen[:len(chosen):len(chosen)], chunks[i]))
		}
	}
	try(0, nil)
	return top
}

func checkWorld(t testing.TB, seed uint64) {
	l, byDoc := world(t, seed)
	var actual, all, exact, expanded float64
	n := float64(len(l.queries))
	curve := l.Curve(l.Window, Options{Bootstrap: 20})
	for i := range l.queries {
		x := &l.queries[i]
		r, _ := covered(x, chunksOf(x.hits))
		actual += r / n
		r, _ = covered(x, chunksOf(x.candidates()))
		all += r / n
		exact += bestOf(x, chunksOf(x.candidates()), l.TopK) / n
		var flat, units []evalkit.Chunk
		for _, c := range x.flat {
			flat = append(flat, c.Chunk)
		}
		r, _ = covered(x, flat)
		expanded += r / n
		for k, h := range x.candidates() {
			for j := max(0, h.Chunk.Index-l.Window.Prev); j <= min(len(byDoc[h.Chunk.Doc])-1, h.Chunk.Index+l.Window.Next); j++ {
				units = append(units, byDoc[h.Chunk.Doc][j])
			}
			r, size := covered(x, units)
			assert.InDelta(t, r, curve.recall[i][k], 1e-12, "seed %d", seed)
			assert.Equal(t, size, curve.tokens[i][k], "seed %d: a rune is a token here", seed)
		}
	}
	w := l.Waterfall()
	assert.InDelta(t, actual, w.Actual, 1e-12, "seed %d", seed)
	assert.InDelta(t, all, w.Candidates, 1e-12, "seed %d", seed)
	assert.InDelta(t, expanded, w.Expanded, 1e-12, "seed %d", seed)
	// Greedy choice of overlapping chunks finds at least 1-1/e of the best.
	assert.LessOrEqual(t, w.Oracle, exact+1e-12, "seed %d", seed)
	assert.GreaterOrEqual(t, w.Oracle, 0.63*exact, "seed %d", seed)
	assert.GreaterOrEqual(t, w.Oracle, w.Actual)
	assert.GreaterOrEqual(t, w.Candidates, w.Oracle-1e-12)
	assert.GreaterOrEqual(t, w.Segmentation, w.Candidates-1e-12)
	sum := 0.0
	for _, s := range l.Attribution() {
		sum += s.Recall
	}
	assert.InDelta(t, expanded, sum, 1e-12, "seed %d", seed)
	b := l.Boundary()
	total := 0
	for _, c := range b.Needed {
		total += c
	}
	assert.Equal(t, b.Spans, total, "seed %d", seed)
}

// FuzzAids holds the decision aids to brute force.
func FuzzAids(f *testing.F) {
	for seed := range uint64(60) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) { checkWorld(t, seed) })
}
