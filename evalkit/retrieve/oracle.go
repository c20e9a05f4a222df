package retrieve

import (
	"cmp"
	"context"
	"slices"

	"github.com/chunkeval/chunkeval/evalkit"
)

// An oracle ranks by the query's own gold spans: again and again the chunk
// that covers most bytes of gold not covered yet, which is its score. Chunks
// that touch gold but add nothing follow with score 0; chunks that touch none
// are not returned. It is an upper mark for real retrievers, not a bound: the
// greedy choice is not always the best set of k.
type oracle struct{ corpus *corpus }

func (o oracle) search(ctx context.Context, q evalkit.Query, k int) ([]scored, error) {
	open := q.Gold() // not covered yet
	var candidates []int
	for doc, gold := range open {
		lo, hi := o.corpus.of(doc)
		for c := lo; c < hi; c++ {
			if len(evalkit.IntersectAll(gold, o.span(c))) > 0 {
				candidates = append(candidates, c)
			}
		}
	}
	slices.Sort(candidates)
	var out []scored
	for len(out) < k && len(candidates) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		best := scored{chunk: -1, score: -1}
		for _, c := range candidates {
			if s := (scored{c, o.gain(c, open)}); s.before(best) {
				best = s
			}
		}
		out = append(out, best)
		doc := o.corpus.chunks[best.chunk].Doc
		open[doc] = evalkit.Subtract(open[doc], o.span(best.chunk))
		at, _ := slices.BinarySearchFunc(candidates, best.chunk, cmp.Compare[int])
		candidates = slices.Delete(candidates, at, at+1)
	}
	return out, nil
}

// gain returns the bytes of open that chunk c covers.
func (o oracle) gain(c int, open map[evalkit.DocID][]evalkit.Span) float64 {
	n := 0
	for _, s := range evalkit.IntersectAll(open[o.corpus.chunks[c].Doc], o.span(c)) {
		n += s.Len()
	}
	return float64(n)
}

func (o oracle) span(c int) []evalkit.Span { return []evalkit.Span{o.corpus.chunks[c].Span} }
