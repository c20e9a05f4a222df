package chunk

import (
	"context"

	"github.com/chunkeval/chunkeval/evalkit"
)

// ClusterSemantic groups pieces of 50 tokens into blocks of at most size so
// that the sum of similarities within the blocks is largest, found by dynamic
// programming (Chroma report, ClusterSemanticChunker). Similarities are inner
// products less their mean; a block's reward is the sum over its full square
// without the diagonal. A block replaces the best so far only if its reward is
// strictly above it, and the best starts at 0 with everything before: where
// nothing rewards, chunks grow above size and are marked Oversize.
type ClusterSemantic struct{ byPieces }

func parseCluster(p *parser) evalkit.Strategy { return ClusterSemantic{p.byPieces()} }

// String returns the form that Parse reads.
func (s ClusterSemantic) String() string { return s.named("cluster_semantic") }

// Fingerprint covers the tokenizer and the embedder.
func (s ClusterSemantic) Fingerprint() string { return s.digest(s.String()) }

// Split groups the pieces of doc.
func (s ClusterSemantic) Split(ctx context.Context, doc evalkit.Document) ([]evalkit.Chunk, error) {
	pieces, err := s.pieces(ctx, doc.Text)
	if err != nil {
		return nil, err
	}
	cuts := make([]bool, max(0, len(pieces)-1))
	if len(pieces) > 1 {
		texts := make([]string, len(pieces))
		for i, p := range pieces {
			texts[i] = doc.Text[p.Start:p.End]
		}
		v, err := vectors(ctx, s.embedder, texts)
		if err != nil {
			return nil, err
		}
		for _, start := range clusterStarts(v, s.size/pieceTokens) {
			if start > 0 {
				cuts[start-1] = true
			}
		}
	}
	return s.finish(ctx, doc, drafts(groups(pieces, cuts)), s.size)
}

// clusterStarts returns the first row of each block of at most size rows.
func clusterStarts(v evalkit.Vectors, size int) []int {
	n := v.Len()
	mean := meanSimilarity(v)
	best, start := make([]float64, n), make([]int, n)
	for i := range n {
		reward := 0.0
		for a := i; a >= 0 && a > i-size; a-- {
			for b := a + 1; b <= i; b++ { // the row that a adds, twice for both triangles
				reward += 2 * (dot(v.Row(a), v.Row(b)) - mean)
			}
			total := reward
			if a > 0 {
				total += best[a-1]
			}
			if total > best[i] {
				best[i], start[i] = total, a
			}
		}
	}
	var out []int
	for i := n - 1; i >= 0; i = start[i] - 1 {
		out = append(out, start[i])
	}
	return out
}

// meanSimilarity is the mean inner product of all pairs of two rows:
//
//	Σ_{i<j} vᵢ·vⱼ = (|Σ vᵢ|² − Σ |vᵢ|²) / 2
func meanSimilarity(v evalkit.Vectors) float64 {
	sum := make([]float64, v.Dim)
	squares := 0.0
	for i := range v.Len() {
		for j, x := range v.Row(i) {
			sum[j] += float64(x)
			squares += float64(x) * float64(x)
		}
	}
	total := 0.0
	for _, x := range sum {
		total += x * x
	}
	n := float64(v.Len())
	return (total - squares) / (n * (n - 1))
}
