package chunk

import (
	"context"
	"errors"
	"fmt"
)

// A Chat is a model that writes texts. It gives the same answer to the same
// prompt, at any time: where a model does not, a cache of its answers must stand
// before it. Implementations are safe for concurrent use.
type Chat interface {
	fmt.Stringer   // "openai(model=…)"; see evalkit.Fingerprinter
	Model() string // as the server names it
	// Chat returns the model's answer of at most limit tokens.
	Chat(ctx context.Context, prompt string, limit int) (string, error)
}

// chat reads llm.
func (p *parser) chat() Chat {
	spec := p.set.String("llm", "")
	if p.env.Chat == nil {
		p.fail(errors.New("llm: a strategy that asks a model cannot be used here"))
		return nil
	}
	c, err := p.env.Chat(spec)
	if err != nil {
		p.fail(fmt.Errorf("llm: %w", err))
	}
	return c
}
