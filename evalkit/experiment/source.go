package experiment

import "github.com/chunkeval/chunkeval/evalkit"

// A Source gives back a finished Experiment, wherever it is kept. What is made
// of Experiments reads them through it, a strategy at a time, so that memory
// is bounded by the largest strategy.
type Source interface {
	// Overview returns the Record and, of every strategy in the Spec's order,
	// its name, window in force and Summary; nothing else.
	Overview() (*Result, error)
	// Dataset returns the documents and questions.
	Dataset() (*evalkit.Dataset, error)
	// Strategy returns all of strategy i of the Spec.
	Strategy(i int) (*StrategyResult, error)
}

// Source returns r as a Source.
func (r *Result) Source() Source { return inMemory{r} }

type inMemory struct{ r *Result }

func (m inMemory) Overview() (*Result, error)              { return m.r, nil }
func (m inMemory) Dataset() (*evalkit.Dataset, error)      { return m.r.Dataset, nil }
func (m inMemory) Strategy(i int) (*StrategyResult, error) { return &m.r.Strategies[i], nil }
