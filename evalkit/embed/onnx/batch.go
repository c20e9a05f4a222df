package onnx

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/chunkeval/chunkeval/evalkit"
)

// Limits of a batch; beyond them nothing gets faster.
const (
	batchTexts  = 16
	batchTokens = 512
)

// compute calls take with the place of each window in all and what the model
// makes of it, one vector per token; from several goroutines, in any order.
func (m *Model) compute(ctx context.Context, s *session, all []window, take func(i int, hidden []float32)) error {
	batches := batchesOf(all)
	errs := make([]error, len(batches))
	var failed atomic.Bool
	err := parallel(ctx, len(batches), func(i int) {
		if failed.Load() {
			return
		}
		errs[i] = m.batch(s, all, batches[i], take)
		if errs[i] != nil {
			failed.Store(true)
		}
	})
	return first(err, errs)
}

// first returns err, or else the first of errs: thousands may say the same.
func first(err error, errs []error) error {
	for i := 0; err == nil && i < len(errs); i++ {
		err = errs[i]
	}
	return err
}

// batchesOf groups windows of equal length, the longest first, so that no core
// is left with a long one at the end.
func batchesOf(all []window) [][]int {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return len(all[b].ids) - len(all[a].ids) })
	var out [][]int
	for len(order) > 0 {
		length := len(all[order[0]].ids)
		n := 1
		for n < len(order) && n < batchTexts && (n+1)*length <= batchTokens && len(all[order[n]].ids) == length {
			n++
		}
		out = append(out, order[:n])
		order = order[n:]
	}
	return out
}

func (m *Model) batch(s *session, all []window, batch []int, take func(int, []float32)) error {
	var ids []int32
	for _, w := range batch {
		ids = append(ids, all[w].ids...)
	}
	hidden, err := s.run(ids, len(batch))
	if err != nil {
		return err
	}
	size := len(hidden) / len(batch)
	if dim := m.export.config.Hidden; size != len(all[batch[0]].ids)*dim {
		return fmt.Errorf("the model gives %d numbers for %d tokens: want %d each", size, len(all[batch[0]].ids), dim)
	}
	for i, w := range batch {
		take(w, hidden[i*size:(i+1)*size])
	}
	return nil
}

// pool turns one vector per token into one.
func (m *Model) pool(hidden []float32) []float32 {
	dim := m.export.config.Hidden
	if m.pooling == poolCLS {
		return slices.Clone(hidden[:dim])
	}
	sum := make([]float64, dim)
	addRows(sum, hidden)
	return meanOf(sum, len(hidden)/dim)
}

// addRows adds rows of len(sum) numbers.
func addRows(sum []float64, rows []float32) {
	for i, x := range rows {
		sum[i%len(sum)] += float64(x)
	}
}

func meanOf(sum []float64, n int) []float32 {
	out := make([]float32, len(sum))
	for i, x := range sum {
		out[i] = float32(x / float64(n))
	}
	return out
}

// join sets the row of each text to the mean of its windows, weighted by
// tokens, with length 1.
func join(v evalkit.Vectors, all []window, pooled [][]float32) error {
	for i := 0; i < len(all); {
		text := all[i].text
		sum := make([]float64, v.Dim)
		for ; i < len(all) && all[i].text == text; i++ {
			for d, x := range pooled[i] {
				sum[d] += float64(x) * float64(len(all[i].ids))
			}
		}
		if err := normalize(v.Row(text), sum); err != nil {
			return fmt.Errorf("text %d: %w", text, err)
		}
	}
	return nil
}

// normalize sets row to sum with length 1.
func normalize(row []float32, sum []float64) error {
	square := 0.0
	for _, x := range sum {
		square += x * x
	}
	if square == 0 || math.IsInf(square, 0) || math.IsNaN(square) {
		return fmt.Errorf("the model gives a vector of length %v", math.Sqrt(square))
	}
	for d, x := range sum {
		row[d] = float32(x / math.Sqrt(square))
	}
	return nil
}

// parallel calls f once with each of 0 to n-1, on all processors. It stops when
// ctx does.
func parallel(ctx context.Context, n int, f func(i int)) error {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	wg.Wait()
	return ctx.Err()
}
