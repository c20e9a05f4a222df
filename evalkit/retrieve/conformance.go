package retrieve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"sync"

	"github.com/chunkeval/chunkeval/evalkit"
)

// Check tests an Indexer against the rules of evalkit.Retriever, the way
// testing/fstest checks a file system: call it from a test with chunks and
// queries of your own. The error joins all breaches:
//
//   - k below 1 is an error; no list is longer than k;
//   - ranks count from 1, no chunk comes twice, each is one that was indexed;
//   - order is score descending, document id, chunk_index; scores are finite;
//   - a shorter list is a prefix of a longer one;
//   - the order of indexing and parallel use change nothing.
//
// A query that fails with evalkit.ErrNoVector must do so every time.
func Check(ctx context.Context, x evalkit.Indexer, chunks []evalkit.Chunk, queries []evalkit.Query) error {
	r, err := x.Index(ctx, slices.Clone(chunks))
	if err != nil {
		return err
	}
	c := checker{known: map[evalkit.ChunkID]evalkit.Chunk{}, all: len(chunks) + 1}
	for _, chunk := range chunks {
		c.known[chunk.ID()] = chunk
	}
	want := make([]outcome, len(queries))
	for i, q := range queries {
		want[i] = c.ask(ctx, r, q, c.all)
		c.rules(ctx, r, q, want[i])
	}
	c.parallel(ctx, r, queries, want)
	for _, other := range [][]evalkit.Chunk{reversed(chunks), riffled(chunks)} {
		again, err := x.Index(ctx, other)
		if err != nil {
			c.fail("index in another order: %w", err)
			continue
		}
		for i, q := range queries {
			if got := c.ask(ctx, again, q, c.all); !reflect.DeepEqual(got, want[i]) {
				c.fail("query %q: indexed in another order, the result differs", q.ID)
			}
		}
	}
	return errors.Join(c.errs...)
}

type checker struct {
	known map[evalkit.ChunkID]evalkit.Chunk
	all   int // a k that cuts nothing
	errs  []error
}

// An outcome is a list, or the failure that is allowed.
type outcome struct {
	hits     []evalkit.Hit
	noVector bool
}

func (c *checker) fail(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf(format, args...))
}

func (c *checker) ask(ctx context.Context, r evalkit.Retriever, q evalkit.Query, k int) outcome {
	hits, err := r.Retrieve(ctx, q, k)
	if err != nil && !errors.Is(err, evalkit.ErrNoVector) {
		c.fail("query %q, k=%d: %w", q.ID, k, err)
	}
	return outcome{hits, errors.Is(err, evalkit.ErrNoVector)}
}

// rules checks one query's lists against the full one.
func (c *checker) rules(ctx context.Context, r evalkit.Retriever, q evalkit.Query, full outcome) {
	if _, err := r.Retrieve(ctx, q, 0); err == nil {
		c.fail("query %q, k=0: no error", q.ID)
	}
	seen := map[evalkit.ChunkID]bool{}
	for i, h := range full.hits {
		id := h.Chunk.ID()
		switch {
		case h.Rank != i+1:
			c.fail("query %q: hit %d has rank %d", q.ID, i, h.Rank)
		case seen[id]:
			c.fail("query %q: chunk %v comes twice", q.ID, id)
		case !reflect.DeepEqual(h.Chunk, c.known[id]):
			c.fail("query %q: chunk %v is not the one that was indexed", q.ID, id)
		case math.IsNaN(h.Score) || math.IsInf(h.Score, 0):
			c.fail("query %q: chunk %v has score %v", q.ID, id, h.Score)
		case i > 0 && compareHits(full.hits[i-1], h) >= 0:
			c.fail("query %q: chunk %v is out of order", q.ID, id)
		}
		seen[id] = true
	}
	for k := 1; k <= len(full.hits); k = 2*k + 1 {
		if got := c.ask(ctx, r, q, k); len(got.hits) != k || !reflect.DeepEqual(got.hits, full.hits[:k]) {
			c.fail("query %q: the list of k=%d is not the start of the longer one", q.ID, k)
		}
	}
}

// parallel asks all queries at once, several times.
func (c *checker) parallel(ctx context.Context, r evalkit.Retriever, queries []evalkit.Query, want []outcome) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	for range 4 {
		for i, q := range queries {
			wg.Go(func() {
				hits, err := r.Retrieve(ctx, q, c.all)
				got := outcome{hits, errors.Is(err, evalkit.ErrNoVector)}
				if !reflect.DeepEqual(got, want[i]) {
					mu.Lock()
					defer mu.Unlock()
					c.fail("query %q: asked in parallel, the result differs", q.ID)
				}
			})
		}
	}
	wg.Wait()
}

func reversed(chunks []evalkit.Chunk) []evalkit.Chunk {
	out := slices.Clone(chunks)
	slices.Reverse(out)
	return out
}

// riffled returns the second half mixed into the first, one by one.
func riffled(chunks []evalkit.Chunk) []evalkit.Chunk {
	half := (len(chunks) + 1) / 2
	out := make([]evalkit.Chunk, 0, len(chunks))
	for i := range half {
		out = append(out, chunks[i])
		if half+i < len(chunks) {
			out = append(out, chunks[half+i])
		}
	}
	return out
}
