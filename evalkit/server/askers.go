package server

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/chunkeval/chunkeval/evalkit/wire"
)

// maxAskers is the number of indexes kept for questions.
const maxAskers = 8

// errStopped is why an index is not built.
var errStopped = errors.New("the server is stopping")

// askers keeps indexes, and builds each once however many ask for it. A build
// outlives those who wait for it, so that who asks again finds it done; it ends
// with the server, or when it has made way for others and nobody waits.
type askers struct {
	mu      sync.Mutex
	ctx     context.Context
	stopped bool
	wg      sync.WaitGroup
	known   map[string]*asking
	order   []string // the one used last at the end
}

// asking is one index; what is not fixed is guarded by the mu of its askers.
type asking struct {
	cancel  context.CancelFunc
	done    chan struct{} // closed after asker and err are set
	asker   *wire.Asker
	err     error
	waiting int
	dropped bool // not in known any more
}

// get returns the index of key, which build builds if there is none. It returns
// earlier with ctx's error.
func (k *askers) get(ctx context.Context, key string, build func(context.Context) (*wire.Asker, error)) (*wire.Asker, error) {
	a, err := k.join(key, build)
	if err != nil {
		return nil, err
	}
	defer k.leave(a)
	select {
	case <-a.done:
		return a.asker, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (k *askers) join(key string, build func(context.Context) (*wire.Asker, error)) (*asking, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stopped {
		return nil, errStopped
	}
	k.order = append(slices.DeleteFunc(k.order, func(s string) bool { return s == key }), key)
	a, ok := k.known[key]
	if !ok {
		if len(k.order) > maxAskers {
			k.drop(k.order[0], k.known[k.order[0]])
		}
		a = &asking{done: make(chan struct{})}
		k.known[key] = a
		var inner context.Context
		inner, a.cancel = context.WithCancel(k.ctx)
		k.wg.Go(func() { k.build(inner, key, a, build) })
	}
	a.waiting++
	return a, nil
}

func (k *askers) build(ctx context.Context, key string, a *asking, build func(context.Context) (*wire.Asker, error)) {
	defer a.cancel()
	asker, err := build(ctx)
	if err != nil && ctx.Err() != nil {
		err = errStopped // a build that was dropped ends only when nobody waits
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	a.asker, a.err = asker, err
	if err != nil {
		k.drop(key, a) // the next one tries again
	}
	close(a.done)
}

func (k *askers) leave(a *asking) {
	k.mu.Lock()
	defer k.mu.Unlock()
	a.waiting--
	if a.dropped && a.waiting == 0 {
		a.cancel()
	}
}

// drop forgets a, unless another one took its place. k is locked.
func (k *askers) drop(key string, a *asking) {
	if k.known[key] != a {
		return
	}
	delete(k.known, key)
	k.order = slices.DeleteFunc(k.order, func(s string) bool { return s == key })
	a.dropped = true
	if a.waiting == 0 {
		a.cancel()
	}
}

// close waits for all builds; their context has ended.
func (k *askers) close() {
	k.mu.Lock()
	k.stopped = true
	k.mu.Unlock()
	k.wg.Wait()
}
