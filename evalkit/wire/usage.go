package wire

import (
	"errors"

	"github.com/chunkeval/chunkeval/evalkit/experiment"
	"github.com/chunkeval/chunkeval/evalkit/llm"
)

var errJudgeAlone = errors.New("there is nothing to judge: name an answerer too")

// spender is a component that sends to a model behind HTTP.
type spender interface {
	Model() string
	Usage() llm.Usage
}

// account is what one component spent.
type account struct {
	role string
	spender
	told llm.Usage // by TakeUsage before
}

// TakeUsage returns what the components of l sent since it was called last, in
// the order in which they were made; those that sent nothing are left out.
func (l *Lab) TakeUsage(prices llm.Prices) []experiment.Usage {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []experiment.Usage
	for _, a := range l.spent {
		u := a.Usage()
		d := llm.Usage{Calls: u.Calls - a.told.Calls, Retries: u.Retries - a.told.Retries, Prompt: u.Prompt - a.told.Prompt, Completion: u.Completion - a.told.Completion}
		a.told = u
		if d == (llm.Usage{}) {
			continue
		}
		x := experiment.Usage{Role: a.role, Model: a.Model(), Calls: d.Calls, Retries: d.Retries, PromptTokens: d.Prompt, CompletionTokens: d.Completion}
		if cost, ok := prices.Cost(a.Model(), d.Prompt, d.Completion); ok {
			x.Cost, x.Currency = &cost, prices.Currency
		}
		if n, ok := a.spender.(interface{ Note() string }); ok {
			x.Note = n.Note()
		}
		out = append(out, x)
	}
	return out
}
