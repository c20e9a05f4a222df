package metric

import (
	"cmp"
	"math"
	"slices"

	"github.com/chunkeval/chunkeval/evalkit"
)

// A Ranking is a ranked list seen through its judgments. Its metrics agree
// with trec_eval 10.0.
type Ranking struct {
	Grades   []float64 // by rank; 0: not relevant
	Relevant []float64 // grades of all relevant items, falling
}

// NewRanking judges ids, which are in rank order. An id that occurs again is
// not relevant again. Grades of 0 and below are not relevant.
func NewRanking[ID comparable](ids []ID, grades map[ID]float64) Ranking {
	r := Ranking{Grades: make([]float64, len(ids))}
	seen := map[ID]bool{}
	for i, id := range ids {
		if !seen[id] {
			r.Grades[i] = max(0, grades[id])
		}
		seen[id] = true
	}
	for _, g := range grades {
		if g > 0 {
			r.Relevant = append(r.Relevant, g)
		}
	}
	slices.SortFunc(r.Relevant, func(a, b float64) int { return cmp.Compare(b, a) })
	return r
}

func (r Ranking) hits(k int) int {
	n := 0
	for _, g := range r.Grades[:min(k, len(r.Grades))] {
		if g > 0 {
			n++
		}
	}
	return n
}

// P returns the relevant items by rank k, over k even when fewer came back.
func (r Ranking) P(k int) float64 { return float64(r.hits(k)) / float64(k) }

// R returns the relevant items by rank k over all relevant ones.
func (r Ranking) R(k int) float64 { return float64(r.hits(k)) / float64(len(r.Relevant)) }

// Success returns 1 if a relevant item is ranked by k, else 0.
func (r Ranking) Success(k int) float64 { return indicator(r.hits(k) > 0) }

// RR returns 1/rank of the first relevant item; 0 if none is ranked by k. k = 0
// sets no limit.
func (r Ranking) RR(k int) float64 {
	for i, g := range r.Grades {
		if k > 0 && i >= k {
			break
		}
		if g > 0 {
			return 1 / float64(i+1)
		}
	}
	return 0
}

// AP returns the mean over all relevant items of the precision at their rank, 0
// for those not ranked by k. k = 0 sets no limit.
func (r Ranking) AP(k int) float64 {
	sum, n := 0.0, 0
	for i, g := range r.Grades {
		if k > 0 && i >= k {
			break
		}
		if g > 0 {
			n++
			sum += float64(n) / float64(i+1)
		}
	}
	return sum / float64(len(r.Relevant))
}

// NDCG returns the discounted gain over that of the ideal ranking of all
// relevant items, both of the first k:
//
//	Σ gain/log2(rank+1), gain = grade, or 2^grade − 1 if exponential
func (r Ranking) NDCG(k int, exponential bool) float64 {
	gains := func(grades []float64) []float64 {
		out := slices.Clone(grades)
		for i, g := range out {
			if exponential {
				out[i] = math.Exp2(g) - 1
			}
		}
		return out
	}
	return discounted(gains(r.Grades), k) / discounted(gains(r.Relevant), k)
}

type gradesKey struct{ tau float64 }

// grades returns the relevant chunks of the index. A chunk has the highest
// grade of the gold spans that it overlaps in at least tau of the shorter of
// the two, in code points.
func grades(tau float64, j *evalkit.Judgments) map[evalkit.ChunkID]float64 {
	return j.Once(gradesKey{tau}, func() any {
		out := map[evalkit.ChunkID]float64{}
		for _, c := range goldChunks(j) {
			size := j.Texts.Len(evalkit.Rune, c.Doc, c.Span)
			for _, r := range gold(j).all {
				if r.Doc != c.Doc || !r.Span.Overlaps(c.Span) {
					continue
				}
				common := j.Texts.Len(evalkit.Rune, c.Doc, r.Span.Intersect(c.Span))
				if atLeast(tau, common, min(size, j.Texts.Len(evalkit.Rune, c.Doc, r.Span))) {
					out[c.ID()] = max(out[c.ID()], r.Grade)
				}
			}
		}
		return out
	}).(map[evalkit.ChunkID]float64)
}

// ranking judges hits; it is undefined if no chunk of the index is relevant.
func ranking(tau float64, j *evalkit.Judgments, got []evalkit.RetrievedChunk) (Ranking, error) {
	g := grades(tau, j)
	if len(g) == 0 {
		return Ranking{}, evalkit.Undefined("no chunk of the index is relevant")
	}
	ids := make([]evalkit.ChunkID, len(got))
	for i, c := range got {
		ids[i] = c.Chunk.ID()
	}
	return NewRanking(ids, g), nil
}

// ranked makes a scorer of a metric of a Ranking.
func ranked(f func(r Ranking, p params) float64) scorer {
	return func(p params, j *evalkit.Judgments, _ evalkit.View, got []evalkit.RetrievedChunk) (float64, error) {
		r, err := ranking(p.tau, j, got)
		if err != nil {
			return 0, err
		}
		return f(r, p), nil
	}
}

func rankP(r Ranking, p params) float64       { return r.P(p.k) }
func rankR(r Ranking, p params) float64       { return r.R(p.k) }
func rankRR(r Ranking, p params) float64      { return r.RR(p.k) }
func rankAP(r Ranking, p params) float64      { return r.AP(p.k) }
func rankNDCG(r Ranking, p params) float64    { return r.NDCG(p.k, p.exp) }
func rankSuccess(r Ranking, p params) float64 { return r.Success(p.k) }

// Grades returns the relevant chunks of j's index with their grades, as the
// rank family sees them with its default tau: what a qrels file holds.
func Grades(j *evalkit.Judgments) map[evalkit.ChunkID]float64 { return grades(0.5, j) }
