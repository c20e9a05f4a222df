package retrieve

import (
	"context"
	"errors"
	"fmt"

	"github.com/chunkeval/chunkeval/evalkit"
)

func build(ctx context.Context, x evalkit.Indexer, chunks []evalkit.Chunk) (evalkit.Retriever, error) {
	fail := func(err error) (evalkit.Retriever, error) { return nil, fmt.Errorf("index %s: %w", x, err) }
	if err := check(x); err != nil {
		return fail(err)
	}
	c, err := newCorpus(chunks)
	if err != nil {
		return fail(err)
	}
	r := &retriever{corpus: c}
	h, ok := x.(Hybrid)
	if !ok {
		if err := r.add(ctx, x); err != nil {
			return fail(err)
		}
		return r, nil
	}
	r.fusion, r.depth = h.Fusion, h.Depth
	if err := errors.Join(r.add(ctx, h.Dense), r.add(ctx, h.Lexical)); err != nil {
		return fail(errors.Join(err, r.Close()))
	}
	return r, nil
}

// add builds a leg.
func (r *retriever) add(ctx context.Context, x evalkit.Indexer) error {
	switch x := x.(type) {
	case BM25:
		leg, err := newBM25(ctx, x, r.corpus)
		if err != nil {
			return err
		}
		r.lexical = leg
	case Bleve:
		leg, err := newBleve(ctx, x, r.corpus)
		if err != nil {
			return err
		}
		r.lexical = leg
	case Dense:
		leg, err := newDense(ctx, x.Embedder, r.corpus)
		if err != nil {
			return err
		}
		r.dense = leg
	case Oracle:
		r.oracle = oracle{r.corpus}
	}
	return nil
}
