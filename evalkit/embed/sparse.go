package embed

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// A sparse matrix holds, for each row, its entries in the order of columns.
type sparse struct {
	cols int
	rows [][]weight
}

// transpose returns the transposed matrix.
func (a sparse) transpose() sparse {
	n := make([]int, a.cols)
	for _, row := range a.rows {
		for _, w := range row {
			n[w.term]++
		}
	}
	t := sparse{len(a.rows), make([][]weight, a.cols)}
	for i := range t.rows {
		t.rows[i] = make([]weight, 0, n[i])
	}
	for i, row := range a.rows {
		for _, w := range row {
			t.rows[w.term] = append(t.rows[w.term], weight{i, w.value})
		}
	}
	return t
}

// mul returns a·x. Each row of the result is summed in the order of columns by
// one goroutine.
func (a sparse) mul(ctx context.Context, x blas64.General) (blas64.General, error) {
	y := newDense(len(a.rows), x.Cols)
	err := parallel(ctx, len(a.rows), func(i int) {
		out := y.Data[i*y.Stride : i*y.Stride+y.Cols]
		for _, w := range a.rows[i] {
			floats.AddScaled(out, w.value, x.Data[w.term*x.Stride:w.term*x.Stride+x.Cols])
		}
	})
	return y, err
}

func newDense(rows, cols int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: max(1, cols), Data: make([]float64, rows*cols)}
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
