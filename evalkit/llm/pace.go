package llm

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// The waits between tries.
const (
	firstWait = 500 * time.Millisecond // doubles with every round that fails
	maxWait   = time.Minute            // of the growing waits
	maxTold   = 5 * time.Minute        // a server that asks for more is not waited for
)

// A Clock tells and lets pass time.
type Clock struct {
	Now    func() time.Time
	Sleep  func(context.Context, time.Duration) error // ends early, with the context's cause, when that ends
	Jitter func() float64                             // from 0 up to 1
}

// SystemClock returns the real one.
func SystemClock() *Clock { return &Clock{time.Now, sleep, rand.Float64} }

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// pace is shared by all requests of a client: if one is told to wait, all do.
type pace struct {
	*Clock

	mu     sync.Mutex
	until  time.Time // nothing is sent before
	rounds int       // failed since the last success
	grown  time.Time // when rounds grew last
	given  error     // of a request that used up its tries since the last success
}

// wait returns when a request may be sent. Each waits a little longer, so that
// not all are sent at once.
func (p *pace) wait(ctx context.Context) error {
	for {
		p.mu.Lock()
		d := p.until.Sub(p.Now())
		p.mu.Unlock()
		if d <= 0 {
			return ctx.Err()
		}
		if err := p.Sleep(ctx, d+p.fraction(firstWait/2)); err != nil {
			return err
		}
	}
}

func (p *pace) fraction(d time.Duration) time.Duration {
	return time.Duration(p.Jitter() * float64(d))
}

// failed notes a failure of a request that was sent at the given time; told is
// what the server asked for, 0 if it did not. Requests that were on their way
// together make the wait grow once.
func (p *pace) failed(sent time.Time, told time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.Now()
	if p.rounds == 0 || !sent.Before(p.grown) {
		p.rounds++
		p.grown = now
	}
	d := min(firstWait<<min(p.rounds-1, 16), maxWait)
	d = max(told, d) + p.fraction(d/2)
	if next := now.Add(d); next.After(p.until) {
		p.until = next
	}
}

func (p *pace) succeeded() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rounds, p.given = 0, nil
}

// giveUp notes that a request used up its tries, with its error.
func (p *pace) giveUp(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.given = err
}

// tries returns how often a request may be sent. While the server has answered
// nothing since another request used up all its tries, it is once, and not at
// all before the wait is over: then the other's error is returned. A thousand
// requests to a dead server would else wait a thousand times.
func (p *pace) tries(limit int) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.given == nil:
		return limit, nil
	case p.Now().Before(p.until):
		return 0, p.given
	}
	return 1, nil
}
