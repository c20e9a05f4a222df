package retrieve

import (
	"context"
	"fmt"
	"math"
	"runtime"

	"github.com/chunkeval/chunkeval/evalkit"
)

// A denseIndex holds one row per passage.
type denseIndex struct {
	corpus   *corpus
	embedder evalkit.Embedder
	model    string // of the rows
	rows     matrix
	invalid  int // chunks without a vector
}

const (
	// batchSize is the number of passages that the embedder gets at once.
	batchSize = 1024
	// collectAbove is the size of an index, in bytes, from which garbage is
	// collected while it is filled.
	collectAbove = 256 << 20
	// unitTolerance is how far from 1 the length of a row may be.
	unitTolerance = 1e-3
)

func newDense(ctx context.Context, e evalkit.Embedder, c *corpus) (*denseIndex, error) {
	x := &denseIndex{corpus: c, embedder: e, model: e.String()}
	fill := x.fillPassages
	if inContext, ok := e.(evalkit.ContextEmbedder); ok {
		fill = func(ctx context.Context) error { return x.fillDocuments(ctx, inContext) }
	}
	if err := fill(ctx); err != nil {
		return nil, err
	}
	for i := range c.chunks {
		vector := false
		for p := c.start(i); p < c.start(i+1); p++ {
			vector = vector || !x.rows.isZero(p)
		}
		if !vector {
			x.invalid++
		}
	}
	return x, nil
}

// fillPassages embeds the passages, each on its own.
func (x *denseIndex) fillPassages(ctx context.Context) error {
	c := x.corpus
	texts := make([]string, 0, min(batchSize, c.passages()))
	return c.each(func(p int, text string) error {
		texts = append(texts, text)
		if len(texts) < batchSize && p+1 < c.passages() {
			return nil
		}
		err := ctx.Err()
		if err == nil {
			var got evalkit.Vectors
			if got, err = x.embedder.Embed(ctx, evalkit.Passage, texts); err == nil {
				err = x.put(p+1-len(texts), len(texts), got)
			}
		}
		texts = texts[:0]
		return err
	})
}

// fillDocuments embeds the passages as parts of their documents.
func (x *denseIndex) fillDocuments(ctx context.Context, e evalkit.ContextEmbedder) error {
	var texts []evalkit.Parted
	n, from := 0, 0
	for lo, chunks := 0, x.corpus.chunks; lo < len(chunks); {
		_, hi := x.corpus.of(chunks[lo].Doc)
		texts = append(texts, evalkit.Rejoin(chunks[lo:hi]))
		n += x.corpus.start(hi) - x.corpus.start(lo)
		lo = hi
		if n < batchSize && hi < len(chunks) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		got, err := e.EmbedParts(ctx, texts)
		if err == nil {
			err = x.put(from, n, got)
		}
		if err != nil {
			return err
		}
		texts, from, n = nil, from+n, 0
	}
	return nil
}

// put sets the rows of n passages from the given one on.
//
// Note: what the embedder returned is garbage at once. Beside an index of a
// gigabyte the collector would let another gigabyte of it pile up, so it is
// asked to run each time that an eighth of the index is filled.
func (x *denseIndex) put(from, n int, got evalkit.Vectors) error {
	if from == 0 {
		x.rows.Dim = got.Dim
		x.rows.Data = make([]float32, x.corpus.passages()*got.Dim)
	}
	if err := x.fits(got, n, "passages"); err != nil {
		return err
	}
	copy(x.rows.Data[from*got.Dim:], got.Data)
	for i := range n {
		if err := x.rows.checkUnit(from + i); err != nil {
			return fmt.Errorf("dense: chunk %v: embedder %q: %w", x.corpus.chunks[x.corpus.owner(from+i)].ID(), x.model, err)
		}
	}
	if total := 4 * len(x.rows.Data); total >= collectAbove {
		eighth := total / 8
		if before := 4 * from * got.Dim; before/eighth != (before+4*len(got.Data))/eighth {
			runtime.GC()
		}
	}
	return nil
}

// fits returns an error unless got has n rows of the index's size.
func (x *denseIndex) fits(got evalkit.Vectors, n int, what string) error {
	switch model := x.embedder.String(); {
	case got.Dim <= 0:
		return fmt.Errorf("dense: embedder %q: vectors of %d dimensions", model, got.Dim)
	case got.Dim != x.rows.Dim:
		return fmt.Errorf("dense: the vectors of the %s have %d dimensions (embedder %q), those of the index have %d (embedder %q)",
			what, got.Dim, model, x.rows.Dim, x.model)
	case len(got.Data) != n*got.Dim:
		return fmt.Errorf("dense: embedder %q: %d numbers for %d %s of %d dimensions", model, len(got.Data), n, what, got.Dim)
	}
	return nil
}

// checkUnit is check for a row that must have length 1 or 0.
func (m *matrix) checkUnit(i int) error {
	length, err := m.check(i)
	if err == nil && !m.isZero(i) && math.Abs(length-1) > unitTolerance {
		return fmt.Errorf("the vector has length %.4g: want 1", length)
	}
	return err
}

// search ranks by the cosine of query and passage.
func (x *denseIndex) search(ctx context.Context, q evalkit.Query, k int) ([]scored, error) {
	if len(x.corpus.chunks) == 0 {
		return nil, nil
	}
	got, err := x.embedder.Embed(ctx, evalkit.Question, []string{q.Text})
	if err != nil {
		return nil, err
	}
	if err := x.fits(got, 1, "query"); err != nil {
		return nil, err
	}
	query := matrix{Vectors: got}
	if err := query.checkUnit(0); err != nil {
		return nil, fmt.Errorf("dense: query: embedder %q: %w", x.embedder, err)
	}
	if query.isZero(0) {
		return nil, fmt.Errorf("dense: embedder %q: %w", x.embedder, evalkit.ErrNoVector)
	}
	lists, err := x.rows.search(ctx, query, &x.corpus.groups, k)
	if err != nil {
		return nil, err
	}
	return lists[0], nil
}
