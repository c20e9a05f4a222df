package retrieve

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"

	"github.com/chunkeval/chunkeval/evalkit"
)

// A Neighbor is a row that Search found.
type Neighbor struct {
	Row   int
	Score float32 // inner product, the cosine of unit rows
}

// Search returns, for each row of queries, the k rows with the largest inner
// product: exactly, in the order of score descending, then row. The bits of a
// score do not depend on the number of processors. An all-zero row is in no
// list, and an all-zero query has an empty one. A value that is NaN or
// infinite, rows of two sizes, and a k below 1 are errors.
func Search(ctx context.Context, rows, queries evalkit.Vectors, k int) ([][]Neighbor, error) {
	switch {
	case k <= 0:
		return nil, fmt.Errorf("search: k is %d: want at least 1", k)
	case rows.Dim != queries.Dim && rows.Len() > 0 && queries.Len() > 0:
		return nil, fmt.Errorf("search: queries have %d dimensions, rows have %d", queries.Dim, rows.Dim)
	}
	m, asked := matrix{Vectors: rows}, matrix{Vectors: queries}
	for i := range rows.Len() {
		if _, err := m.check(i); err != nil {
			return nil, fmt.Errorf("search: row %d: %w", i, err)
		}
	}
	for i := range queries.Len() {
		if _, err := asked.check(i); err != nil {
			return nil, fmt.Errorf("search: query %d: %w", i, err)
		}
	}
	lists, err := m.search(ctx, asked, &groups{n: rows.Len()}, k)
	if err != nil {
		return nil, err
	}
	out := make([][]Neighbor, len(lists))
	for i, list := range lists {
		out[i] = make([]Neighbor, len(list))
		for j, s := range list {
			out[i][j] = Neighbor{s.chunk, float32(s.score)}
		}
	}
	return out, nil
}

// A matrix is rows of which some are known to be all zero.
type matrix struct {
	evalkit.Vectors
	zero []bool // nil if no row is
}

// check notes whether row i is all zero, and returns its length; a value that
// is NaN or infinite is an error.
func (m *matrix) check(i int) (length float64, err error) {
	row := m.Row(i)
	square := float64(dot(row, row))
	if !(square > safeSquare && square < 1/safeSquare) {
		if square, err = slowSquare(row); err != nil {
			return 0, err
		}
	}
	if square == 0 {
		if m.zero == nil {
			m.zero = make([]bool, m.Len())
		}
		m.zero[i] = true
	}
	return math.Sqrt(square), nil
}

// safeSquare is far from where the square of a float32 becomes 0 or infinite.
const safeSquare = 1e-20

func slowSquare(row []float32) (float64, error) {
	square := 0.0
	for _, v := range row {
		if v-v != 0 {
			return 0, fmt.Errorf("the vector holds %v", v)
		}
		square += float64(v) * float64(v)
	}
	return square, nil
}

func (m *matrix) isZero(i int) bool { return m.zero != nil && m.zero[i] }

const (
	block     = 64      // rows that are read once for all queries
	minWorker = 1 << 21 // multiplications that are worth a goroutine
)

// search returns the k best chunks of g for each query. Each worker scans a
// range of chunks; the union of their lists holds the answer.
func (m *matrix) search(ctx context.Context, queries matrix, g *groups, k int) ([][]scored, error) {
	n := g.n
	workers := max(1, min(runtime.GOMAXPROCS(0), len(m.Data)*queries.Len()/minWorker, n))
	parts := make([][]*topK, workers)
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			parts[w], errs[w] = m.scan(ctx, queries, g, scanRange{w * n / workers, (w + 1) * n / workers, k})
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	out := make([][]scored, queries.Len())
	for q := range out {
		top := parts[0][q]
		for _, p := range parts[1:] {
			for _, s := range p[q].heap {
				top.offer(s)
			}
		}
		out[q] = top.sorted()
	}
	return out, nil
}

// A scanRange asks for the k best of the chunks [lo,hi).
type scanRange struct{ lo, hi, k int }

func (m *matrix) scan(ctx context.Context, queries matrix, g *groups, r scanRange) ([]*topK, error) {
	tops := make([]*topK, queries.Len())
	for q := range tops {
		tops[q] = newTopK(r.k, r.hi-r.lo)
	}
	var scores []float32
	for lo := r.lo; lo < r.hi; lo += block {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		hi := min(lo+block, r.hi)
		from, to := g.start(lo), g.start(hi)
		if need := to - from; cap(scores) < need {
			scores = make([]float32, need)
		}
		scores = scores[:to-from]
		for q, top := range tops {
			if queries.isZero(q) {
				continue
			}
			dotRows(scores, queries.Row(q), m.Data[from*m.Dim:to*m.Dim])
			for i := lo; i < hi; i++ {
				if best, ok := m.best(scores, from, g.start(i), g.start(i+1)); ok {
					top.offer(scored{i, float64(best)})
				}
			}
		}
	}
	return tops, nil
}

// best returns the largest score of the rows [lo,hi), of which scores[0] is
// that of row from; false if all of them are zero rows.
func (m *matrix) best(scores []float32, from, lo, hi int) (best float32, ok bool) {
	for p := lo; p < hi; p++ {
		if !m.isZero(p) && (!ok || scores[p-from] > best) {
			best, ok = scores[p-from], true
		}
	}
	return best, ok
}
