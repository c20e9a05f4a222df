package experiment

import (
	"context"
	"sync"
	"sync/atomic"
)

// parallel calls f(0) … f(n-1) from at most workers goroutines, and returns
// after all have ended: with the error of the lowest i, or the context's.
func parallel(ctx context.Context, workers, n int, f func(int) error) error {
	errs := make([]error, n)
	var next atomic.Int64
	var stop atomic.Bool
	var wg sync.WaitGroup
	for range min(workers, n) {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n || stop.Load() || ctx.Err() != nil {
					return
				}
				if errs[i] = f(i); errs[i] != nil {
					stop.Store(true)
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}
