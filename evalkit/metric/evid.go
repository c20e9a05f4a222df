package metric

import (
	"maps"
	"math"

	"github.com/chunkeval/chunkeval/evalkit"
)

// foundAt returns for every gold span the rank by which the union of the hits
// covers at least tau of it; 0 if none does.
func foundAt(tau float64, j *evalkit.Judgments, got []evalkit.RetrievedChunk) []int {
	all := gold(j).all
	found := make([]int, len(all))
	byDoc := map[evalkit.DocID][]evalkit.Span{}
	for i, c := range got {
		doc := c.Chunk.Doc
		if gold(j).byDoc[doc] == nil {
			continue
		}
		byDoc[doc] = evalkit.Union(append(byDoc[doc], c.Chunk.Span))
		for n, r := range all {
			if found[n] == 0 && r.Doc == doc && r.Span.Overlaps(c.Chunk.Span) && covered(j, r, byDoc[doc], tau) {
				found[n] = i + 1
			}
		}
	}
	return found
}

// evidence counts the gold spans found by rank k.
func evidence(p params, j *evalkit.Judgments, got []evalkit.RetrievedChunk) (found, all int) {
	for _, rank := range foundAt(p.tau, j, got) {
		if rank > 0 && rank <= p.k {
			found++
		}
		all++
	}
	return found, all
}

func evidHit(p params, j *evalkit.Judgments, _ evalkit.View, got []evalkit.RetrievedChunk) (float64, error) {
	found, _ := evidence(p, j, got)
	return indicator(found > 0), nil
}

func evidRecall(p params, j *evalkit.Judgments, _ evalkit.View, got []evalkit.RetrievedChunk) (float64, error) {
	found, all := evidence(p, j, got)
	return float64(found) / float64(all), nil
}

func evidFull(p params, j *evalkit.Judgments, _ evalkit.View, got []evalkit.RetrievedChunk) (float64, error) {
	found, all := evidence(p, j, got)
	return indicator(found == all), nil
}

func evidRR(p params, j *evalkit.Judgments, _ evalkit.View, got []evalkit.RetrievedChunk) (float64, error) {
	best := 0
	for _, rank := range foundAt(p.tau, j, got) {
		if rank > 0 && (best == 0 || rank < best) {
			best = rank
		}
	}
	if best == 0 || p.k > 0 && best > p.k {
		return 0, nil
	}
	return 1 / float64(best), nil
}

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// evidNDCG credits each gold character once, at the first hit that covers it:
//
//	Σ newly covered length / |G| / log2(rank+1)
//
// over the same sum for the greedy ideal order of the whole index.
//
// Note: with overlapping chunks the greedy order need not be the best one, and
// a ranking may beat it; the value is then 1.
func evidNDCG(p params, j *evalkit.Judgments, _ evalkit.View, got []evalkit.RetrievedChunk) (float64, error) {
	ideal := idealGains(j)
	best := discounted(ideal, p.k)
	if best == 0 {
		return 0, evalkit.Undefined("no chunk holds gold")
	}
	rest := uncovered(j)
	var gains []float64
	for _, c := range got[:min(p.k, len(got))] {
		gains = append(gains, float64(rest.take(j, c.Chunk)))
	}
	return min(1, discounted(gains, p.k)/best), nil
}

// discounted returns Σ gain/log2(rank+1) over the first k.
func discounted(gains []float64, k int) float64 {
	sum := 0.0
	for i, g := range gains[:min(k, len(gains))] {
		sum += g / math.Log2(float64(i+2))
	}
	return sum
}

// remaining is the gold that nothing has covered yet.
type remaining map[evalkit.DocID][]evalkit.Span

func uncovered(j *evalkit.Judgments) remaining {
	rest := remaining{}
	maps.Copy(rest, gold(j).byDoc)
	return rest
}

// peek returns the length in code points that c would cover.
func (r remaining) peek(j *evalkit.Judgments, c evalkit.Chunk) int {
	if len(r[c.Doc]) == 0 {
		return 0
	}
	return j.Texts.Sum(evalkit.Rune, c.Doc, evalkit.IntersectAll(r[c.Doc], []evalkit.Span{c.Span}))
}

// take covers what c covers and returns its length.
func (r remaining) take(j *evalkit.Judgments, c evalkit.Chunk) int {
	n := r.peek(j, c)
	if n > 0 {
		r[c.Doc] = evalkit.Subtract(r[c.Doc], []evalkit.Span{c.Span})
	}
	return n
}

type idealKey struct{}

// idealGains returns what each chunk covers anew when always the one that
// covers most comes next; of equals the first in document order.
func idealGains(j *evalkit.Judgments) []float64 {
	return j.Once(idealKey{}, func() any {
		rest := uncovered(j)
		candidates := goldChunks(j)
		gains := []float64{}
		for {
			best, at := 0, -1
			for i, c := range candidates {
				if n := rest.peek(j, c); n > best {
					best, at = n, i
				}
			}
			if at < 0 {
				return gains
			}
			gains = append(gains, float64(rest.take(j, candidates[at])))
		}
	}).([]float64)
}

type goldChunksKey struct{}

// goldChunks returns the chunks of the index that overlap gold, documents in
// the order of the qrels.
func goldChunks(j *evalkit.Judgments) []evalkit.Chunk {
	return j.Once(goldChunksKey{}, func() any {
		out := []evalkit.Chunk{}
		seen := map[evalkit.DocID]bool{}
		for _, doc := range gold(j).docs {
			if seen[doc] {
				continue
			}
			seen[doc] = true
			for _, c := range j.Chunks[doc] {
				for _, s := range gold(j).byDoc[doc] {
					if s.Overlaps(c.Span) {
						out = append(out, c)
						break
					}
				}
			}
		}
		return out
	}).([]evalkit.Chunk)
}
