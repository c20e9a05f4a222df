package llm

import (
	"fmt"
	"math"
)

// A Price is what a million tokens cost.
type Price struct {
	Prompt     float64 // of tokens that are read, those of an embedder too
	Completion float64 // of tokens that are written
}

// Prices is a table of prices by model. It is passed in: prices change, and a
// program does not know them.
type Prices struct {
	Currency string // "USD"
	Models   map[string]Price
}

// Cost returns the price of tokens; false if the table has no such model.
func (p Prices) Cost(model string, prompt, completion int) (float64, bool) {
	price, ok := p.Models[model]
	return (price.Prompt*float64(prompt) + price.Completion*float64(completion)) / 1e6, ok
}

// Check returns an error unless every price is a finite number of at least 0.
func (p Prices) Check() error {
	for model, x := range p.Models {
		for _, v := range []float64{x.Prompt, x.Completion} {
			if v < 0 || math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("price of model %q: %v is not a number of at least 0", model, v)
			}
		}
	}
	return nil
}

// An Estimate says what will be sent, before anything is: at most, as nothing
// is taken from caches.
type Estimate struct {
	What       string // "embedder", "answerer", "judge", or a strategy
	Model      string
	Calls      int // without tries
	Prompt     int // tokens
	Completion int // tokens, at most
}

// Add returns the sum of two estimates of one model; e's names stay.
func (e Estimate) Add(f Estimate) Estimate {
	e.Calls += f.Calls
	e.Prompt += f.Prompt
	e.Completion += f.Completion
	return e
}
