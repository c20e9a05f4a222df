package retrieve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/chunkeval/chunkeval/evalkit"
)

// A leg ranks the chunks of a corpus one way. The list is in the total order,
// at most k long, each chunk once, no score NaN.
type leg interface {
	search(ctx context.Context, q evalkit.Query, k int) ([]scored, error)
}

// A retriever is an index: one leg, or two legs and their fusion.
type retriever struct {
	corpus         *corpus
	lexical, dense leg // nil if absent
	oracle         leg // nil if absent; its hits have no Components
	fusion         Fusion
	depth          int
}

// Retrieve returns at most k hits. A k below 1 is an error.
func (r *retriever) Retrieve(ctx context.Context, q evalkit.Query, k int) ([]evalkit.Hit, error) {
	if k <= 0 {
		return nil, fmt.Errorf("retrieve query %q: k is %d: want at least 1", q.ID, k)
	}
	hits, err := r.retrieve(ctx, q, k)
	if err != nil {
		return nil, fmt.Errorf("retrieve query %q: %w", q.ID, err)
	}
	return hits[:min(k, len(hits))], nil
}

func (r *retriever) retrieve(ctx context.Context, q evalkit.Query, k int) ([]evalkit.Hit, error) {
	depth := k
	if r.fusion != nil {
		depth = r.depth
	}
	lexical, err := r.leg(ctx, r.lexical, q, depth)
	if err != nil {
		return nil, err
	}
	dense, err := r.leg(ctx, r.dense, q, depth)
	if err != nil {
		return nil, err
	}
	if r.fusion != nil {
		return Fuse(r.fusion, lexical, dense)
	}
	for i, h := range lexical {
		lexical[i].Lexical = evalkit.Component{Rank: h.Rank, Score: h.Score}
	}
	for i, h := range dense {
		dense[i].Dense = evalkit.Component{Rank: h.Rank, Score: h.Score}
	}
	gold, err := r.leg(ctx, r.oracle, q, depth)
	if err != nil {
		return nil, err
	}
	return slices.Concat(lexical, dense, gold), nil // all but one are empty
}

// leg returns the list of one leg as hits without Components.
func (r *retriever) leg(ctx context.Context, l leg, q evalkit.Query, k int) ([]evalkit.Hit, error) {
	if l == nil {
		return []evalkit.Hit{}, nil
	}
	list, err := l.search(ctx, q, k)
	if err != nil {
		return nil, err
	}
	hits := make([]evalkit.Hit, len(list))
	for i, s := range list {
		chunk := r.corpus.chunks[s.chunk]
		if math.IsNaN(s.score) || math.IsInf(s.score, 0) {
			return nil, fmt.Errorf("chunk %v: score %v", chunk.ID(), s.score)
		}
		hits[i] = evalkit.Hit{Chunk: chunk, Rank: i + 1, Score: s.score}
	}
	return hits, nil
}

// Invalid returns the number of chunks that the dense leg can never return,
// because the embedder has no vector for any of their passages. It is 0
// without a dense leg.
func (r *retriever) Invalid() int {
	if d, ok := r.dense.(*denseIndex); ok {
		return d.invalid
	}
	return 0
}

// Close frees what the index holds beside memory. Only a bleve index holds
// something (its goroutines); it is also closed once the Retriever is
// unreachable. Nothing may be retrieved afterwards. A second Close does nothing.
func (r *retriever) Close() error {
	var errs []error
	for _, l := range []leg{r.lexical, r.dense} {
		if c, ok := l.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}

// An Index is what the Retrievers of this package are, beside evalkit.Retriever:
// its Invalid chunks are to be shown, and it is to be closed.
type Index interface {
	evalkit.Retriever
	io.Closer
	// Invalid returns the number of chunks that dense retrieval can never
	// return, because the embedder has no vector for them.
	Invalid() int
}

var _ Index = (*retriever)(nil)
