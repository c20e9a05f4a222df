package openai

import (
	"fmt"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/llm"
)

// Stats count what an Embedder did since New. What a cache answered is not in
// them.
type Stats struct {
	llm.Usage
	Texts   int // that were to be embedded, the blank ones included
	Blank   int // not sent; their rows are all zero
	Invalid int // vectors of zeros, or with a number that is none; their rows are all zero
	// Suspect counts calls for which the server counted less than half of the
	// tokens that were sent: it may have cut texts without saying so.
	Suspect int
	Long
}

// Stats returns the counts so far.
func (e *Embedder) Stats() Stats {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.stats
	s.Usage = e.client.Usage()
	return s
}

// Model returns the model asked for.
func (e *Embedder) Model() string { return e.spec.Model }

// Usage returns what was sent since New.
func (e *Embedder) Usage() llm.Usage { return e.client.Usage() }

// Note says what went wrong on the way; empty if nothing did.
func (e *Embedder) Note() string {
	s := e.Stats()
	var out []string
	if s.Invalid > 0 {
		out = append(out, fmt.Sprintf("%d vectors are invalid", s.Invalid))
	}
	if s.Suspect > 0 {
		out = append(out, fmt.Sprintf("%d answers count less than half of the tokens that were sent: the server may cut texts", s.Suspect))
	}
	return strings.Join(out, "; ")
}

// Estimate returns what embedding takes if no cache knows a vector: passages in
// batches, questions one by one.
func (e *Embedder) Estimate(passages, questions []string) llm.Estimate {
	out := llm.Estimate{What: "embedder", Model: e.spec.Model}
	for kind, texts := range map[evalkit.TextKind][]string{evalkit.Passage: passages, evalkit.Question: questions} {
		batch, prefix := e.spec.Batch, e.spec.PassagePrefix
		if kind == evalkit.Question {
			batch, prefix = 1, e.spec.QueryPrefix
		}
		n := 0
		for _, t := range texts {
			parts, l := e.parts(0, prefix, t)
			if evalkit.Blank(t) {
				continue
			}
			n += len(parts)
			tokens := e.ruler.Count(prefix+t) - l.LostTokens
			out = out.Add(llm.Estimate{Prompt: tokens})
		}
		out.Calls += (n + batch - 1) / batch
	}
	return out
}

// suspect compares the server's count of tokens with ours.
func (e *Embedder) suspect(texts []string, counted int) {
	if counted == 0 {
		return
	}
	if n := e.ruler.Count(strings.Join(texts, "\n")); counted < n/2 {
		e.mu.Lock()
		e.stats.Suspect++
		e.mu.Unlock()
	}
}
