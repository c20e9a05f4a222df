package experiment

import (
	"sync"
	"time"
)

// A Profile adds up the wall time of each stage. It is safe for concurrent use.
type Profile struct {
	mu     sync.Mutex
	stages map[string]time.Duration
}

// Track starts the clock of a stage and returns what stops it.
func (p *Profile) Track(stage string) func() { return p.track(stage) }

func (p *Profile) track(stage string) func() {
	if p == nil {
		return func() {}
	}
	start := time.Now()
	return func() {
		d := time.Since(start)
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.stages == nil {
			p.stages = map[string]time.Duration{}
		}
		p.stages[stage] += d
	}
}

// Seconds returns the wall time of each stage that ran.
func (p *Profile) Seconds() map[string]float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make(map[string]float64, len(p.stages))
	for stage, d := range p.stages {
		out[stage] = d.Seconds()
	}
	return out
}
