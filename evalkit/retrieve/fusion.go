package retrieve

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/chunkeval/chunkeval/evalkit"
)

// A Fusion makes one score of the places that a chunk has in two lists.
type Fusion interface {
	fmt.Stringer // "rrf(k=60,lexical=1,dense=1)"; ParseFusion reads it
	// fuse sets the Score of each hit from its Components; a Component with
	// Rank 0 is missing.
	fuse(hits []evalkit.Hit)
}

// RRF is reciprocal rank fusion, Σ weight/(K + rank), ranks from 1. A list
// that does not have the chunk adds nothing. Cormack, Clarke and Büttcher,
// SIGIR 2009.
type RRF struct {
	K              float64 // 0 or more; 60 in the paper
	Lexical, Dense float64 // weights, 0 or more, not both 0
}

// String returns "rrf(k=60,lexical=1,dense=1)".
func (f RRF) String() string {
	return fmt.Sprintf("rrf(k=%s,lexical=%s,dense=%s)", number(f.K), number(f.Lexical), number(f.Dense))
}

func (f RRF) fuse(hits []evalkit.Hit) {
	part := func(weight float64, c evalkit.Component) float64 {
		if c.Rank == 0 {
			return 0
		}
		return weight / (f.K + float64(c.Rank))
	}
	for i, h := range hits {
		hits[i].Score = part(f.Lexical, h.Lexical) + part(f.Dense, h.Dense)
	}
}

// Weighted is the weighted sum of scaled scores, (1−Dense)·lexical +
// Dense·dense. Each list is scaled on its own:
//
//	minmax  (s − min)/(max − min): from 0 to 1; 1 where all scores are equal
//	        or there is one; a chunk that the list lacks has 0
//	zscore  (s − mean)/sd, sd over all n of the list; 0 where all are equal or
//	        there is one; a chunk that the list lacks has −3, or the list's
//	        lowest value if that is lower
type Weighted struct {
	Scale Scale
	Dense float64 // weight of the dense list, from 0 to 1
}

// A Scale brings the scores of different engines to one range.
type Scale string

// The scales; see Weighted.
const (
	MinMax Scale = "minmax"
	ZScore Scale = "zscore"
)

// Values of the scales for a list of equal scores, and for a chunk that a list lacks.
const (
	minMaxEqual   = 1
	minMaxMissing = 0
	zScoreEqual   = 0
	zScoreMissing = -3
)

// String returns "weighted(scale=minmax,dense=0.5)".
func (f Weighted) String() string {
	return fmt.Sprintf("weighted(scale=%s,dense=%s)", f.Scale, number(f.Dense))
}

func (f Weighted) fuse(hits []evalkit.Hit) {
	lexical := f.scaled(hits, func(h evalkit.Hit) evalkit.Component { return h.Lexical })
	dense := f.scaled(hits, func(h evalkit.Hit) evalkit.Component { return h.Dense })
	for i := range hits {
		hits[i].Score = (1-f.Dense)*lexical[i] + f.Dense*dense[i]
	}
}

// scaled returns the scaled score of each hit in one list.
//
// Note: scores are summed in the order of ranks, not of hits, so that the
// value does not depend on what the other list holds.
func (f Weighted) scaled(hits []evalkit.Hit, list func(evalkit.Hit) evalkit.Component) []float64 {
	var in []evalkit.Component
	for _, h := range hits {
		if c := list(h); c.Rank > 0 {
			in = append(in, c)
		}
	}
	slices.SortFunc(in, func(a, b evalkit.Component) int { return a.Rank - b.Rank })
	scale, missing := f.fit(in)
	out := make([]float64, len(hits))
	for i, h := range hits {
		out[i] = missing
		if c := list(h); c.Rank > 0 {
			out[i] = scale(c.Score)
		}
	}
	return out
}

// fit returns the scaling of a list, and the value of a chunk that it lacks.
func (f Weighted) fit(in []evalkit.Component) (scale func(float64) float64, missing float64) {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, c := range in {
		lo, hi = min(lo, c.Score), max(hi, c.Score)
	}
	if f.Scale == ZScore {
		return fitZScore(in, lo, hi)
	}
	if lo >= hi {
		return func(float64) float64 { return minMaxEqual }, minMaxMissing
	}
	if math.IsInf(hi-lo, 0) { // halves of two finite numbers are not too far apart
		return func(s float64) float64 { return (s/2 - lo/2) / (hi/2 - lo/2) }, minMaxMissing
	}
	return func(s float64) float64 { return (s - lo) / (hi - lo) }, minMaxMissing
}

func fitZScore(in []evalkit.Component, lo, hi float64) (scale func(float64) float64, missing float64) {
	largest := max(math.Abs(lo), math.Abs(hi)) // a z-score has no unit: this keeps squares finite
	n := float64(len(in))
	mean, square := 0.0, 0.0
	for _, c := range in {
		mean += c.Score / largest / n
	}
	for _, c := range in {
		d := c.Score/largest - mean
		square += d * d / n
	}
	if lo >= hi || square == 0 {
		return func(float64) float64 { return zScoreEqual }, zScoreMissing
	}
	scale = func(s float64) float64 { return (s/largest - mean) / math.Sqrt(square) }
	return scale, min(zScoreMissing, scale(lo))
}

// Fuse returns the chunks of both lists, each once, in the total order of
// fused scores. A list is in the order of its ranks, from 1; its Hits' Chunk
// and Score are read. Each hit carries its rank and raw score in both lists
// as Components. A setting out of range, a score that is NaN or infinite, and a
// chunk that a list holds twice are errors that name it.
func Fuse(f Fusion, lexical, dense []evalkit.Hit) ([]evalkit.Hit, error) {
	if err := checkFusion(f); err != nil {
		return nil, fmt.Errorf("fuse: %w", err)
	}
	m := merger{
		hits: make([]evalkit.Hit, 0, len(lexical)+len(dense)),
		at:   make(map[evalkit.ChunkID]int, len(lexical)+len(dense)),
	}
	if err := m.add(lexical, func(h *evalkit.Hit) *evalkit.Component { return &h.Lexical }); err != nil {
		return nil, fmt.Errorf("fuse: lexical list: %w", err)
	}
	if err := m.add(dense, func(h *evalkit.Hit) *evalkit.Component { return &h.Dense }); err != nil {
		return nil, fmt.Errorf("fuse: dense list: %w", err)
	}
	f.fuse(m.hits)
	slices.SortFunc(m.hits, compareHits)
	for i := range m.hits {
		m.hits[i].Rank = i + 1
	}
	return m.hits, nil
}

// A merger makes one hit of all places of a chunk.
type merger struct {
	hits []evalkit.Hit
	at   map[evalkit.ChunkID]int
}

// add sets the Component of each hit of a list.
func (m *merger) add(list []evalkit.Hit, component func(*evalkit.Hit) *evalkit.Component) error {
	for i, h := range list {
		id := h.Chunk.ID()
		if math.IsNaN(h.Score) || math.IsInf(h.Score, 0) {
			return fmt.Errorf("chunk %v: score %v", id, h.Score)
		}
		if _, ok := m.at[id]; !ok {
			m.at[id] = len(m.hits)
			m.hits = append(m.hits, evalkit.Hit{Chunk: h.Chunk})
		}
		c := component(&m.hits[m.at[id]])
		if c.Rank != 0 {
			return fmt.Errorf("chunk %v: given twice", id)
		}
		*c = evalkit.Component{Rank: i + 1, Score: h.Score}
	}
	return nil
}

// compareHits is the total order of hits.
func compareHits(a, b evalkit.Hit) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), compareChunks(a.Chunk, b.Chunk))
}

func number(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
