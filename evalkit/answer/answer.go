package answer

import (
	"context"
	"fmt"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/llm"
)

// An Answer is what was answered to one question.
type Answer struct {
	Text       string
	Abstained  bool   // it says that the context does not hold the answer
	Cut        bool   // it ended at a limit of length
	Model      string // as the server names it; empty without one
	PromptHash string // SHA-256 of the prompt in hex
	Prompt     int    // tokens read; 0 without a model
	Completion int    // tokens written; 0 without a model
}

// An Answerer answers from retrieved chunks. Implementations are safe for
// concurrent use.
type Answerer interface {
	fmt.Stringer // Parse reads it
	// Prompt returns what Answer sends, or would send, for a question.
	Prompt(question string, flat []evalkit.RetrievedChunk, texts *evalkit.Texts) Prompt
	Answer(ctx context.Context, p Prompt) (*Answer, error)
}

// A Spec is the written form of an Answerer. Specs can be compared.
type Spec interface {
	fmt.Stringer
	New(Env) (Answerer, error)
}

// An Env holds what a Spec does not say.
type Env struct {
	// Chat returns the model of a Config; nil: an llm.Client without a cache.
	Chat func(llm.Config) (llm.Chatter, error)
}

func (e Env) chat(c llm.Config) (llm.Chatter, error) {
	if e.Chat != nil {
		return e.Chat(c)
	}
	return llm.New(c, llm.Options{})
}

// Names returns the answerers that Parse knows.
func Names() []string { return []string{"extractive", "openai"} }

// Parse reads an answerer; nothing is sent yet:
//
//	extractive(sentences=1,min_match=0.25)
//	openai(base_url="https://api.openai.com/v1",model=NAME,temperature=0,seed=0,max_tokens=256,prompt=v1,abstain="I do not know.",
//	       key_env=OPENAI_API_KEY,key_header="",timeout=60,tries=5)
//
// The values shown are the defaults; model must be given. prompt is v1, the
// built-in Template, or a template in quotes; a temperature of -1 is not sent.
// An error does not repeat a setting that could hold a key.
func Parse(s string) (Spec, error) {
	if err := llm.RefuseSecret(s); err != nil {
		return nil, fmt.Errorf("parse answerer: %w", err)
	}
	spec, err := parse(s)
	if err != nil {
		return nil, fmt.Errorf("parse answerer %q: %w", s, err)
	}
	return spec, nil
}

func parse(s string) (Spec, error) {
	e, err := evalkit.ParseExpr(s)
	if err != nil {
		return nil, err
	}
	set := e.Settings()
	switch e.Name {
	case "extractive":
		return parseExtractive(set)
	case "openai":
		return parseOpenAI(set)
	}
	if best, ok := evalkit.Nearest(e.Name, Names()); ok {
		return nil, fmt.Errorf("unknown answerer %q: did you mean %q?", e.Name, best)
	}
	return nil, fmt.Errorf("unknown answerer %q: known are %s", e.Name, strings.Join(Names(), ", "))
}
