package answer

import (
	"context"
	"fmt"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/llm"
)

// OpenAI asks a chat model.
type OpenAI struct {
	llm.Config
	Temperature float64 // -1: not sent
	Seed        int
	MaxTokens   int // of the answer
	Template    Template
	Abstain     string // what the model is asked to write where the context has no answer
}

const defaultMaxTokens = 256

func parseOpenAI(set *evalkit.Settings) (Spec, error) {
	c, cerr := llm.ReadConfig(set)
	s := OpenAI{Config: c, Temperature: set.Float("temperature", 0), Seed: set.Int("seed", 0), MaxTokens: set.Int("max_tokens", defaultMaxTokens)}
	prompt := set.String("prompt", promptName)
	s.Abstain = set.String("abstain", defaultAbstain)
	if err := set.Err(); err != nil {
		return nil, err
	}
	if s.Template = Template(prompt); prompt == promptName {
		s.Template = DefaultTemplate()
	}
	switch err := s.Template.check(); {
	case cerr != nil:
		return nil, cerr
	case err != nil:
		return nil, fmt.Errorf("prompt: %w", err)
	case s.Temperature < 0 && s.Temperature != -1 || s.Temperature > 2:
		return nil, fmt.Errorf("temperature: %v is not from 0 to 2, or -1", s.Temperature)
	case s.MaxTokens < 1:
		return nil, fmt.Errorf("max_tokens: %d is below 1", s.MaxTokens)
	case strings.TrimSpace(s.Abstain) == "":
		return nil, fmt.Errorf("abstain: is blank")
	}
	return s, nil
}

// String returns the form that Parse reads. It holds no key.
func (s OpenAI) String() string {
	prompt := promptName
	if s.Template != DefaultTemplate() {
		prompt = fmt.Sprintf("%q", string(s.Template))
	}
	return fmt.Sprintf("openai(%s,temperature=%v,seed=%d,max_tokens=%d,prompt=%s,abstain=%q%s)",
		s.Identity(), s.Temperature, s.Seed, s.MaxTokens, prompt, s.Abstain, s.Rest())
}

// New returns the answerer.
func (s OpenAI) New(env Env) (Answerer, error) {
	chat, err := env.chat(s.Config)
	if err != nil {
		return nil, fmt.Errorf("answerer openai: %w", err)
	}
	return &openAI{s, chat}, nil
}

type openAI struct {
	spec OpenAI
	chat llm.Chatter
}

func (a *openAI) String() string { return a.spec.String() }

// Fingerprint covers what changes answers: not the key's variable and the limits
// of time.
func (a *openAI) Fingerprint() string {
	s := a.spec
	s.KeyEnv, s.KeyHeader, s.Timeout, s.Tries = "", "", 0, 0
	return fmt.Sprintf("%+v", s)
}

func (a *openAI) Prompt(question string, flat []evalkit.RetrievedChunk, texts *evalkit.Texts) Prompt {
	return NewPrompt(a.spec.Template, a.spec.Abstain, question, flat, texts)
}

func (a *openAI) Answer(ctx context.Context, p Prompt) (*Answer, error) {
	got, err := a.chat.Chat(ctx, llm.ChatRequest{User: p.Text, Temperature: a.spec.Temperature, Seed: a.spec.Seed, MaxTokens: a.spec.MaxTokens})
	if err != nil {
		return nil, err
	}
	text := strings.TrimSpace(got.Text)
	return &Answer{
		Text: text, Abstained: abstains(text, a.spec.Abstain), Cut: got.Cut, Model: got.Model, PromptHash: p.SHA256(),
		Prompt: got.Prompt, Completion: got.Completion,
	}, nil
}

// abstains reports whether text begins as the model was told to say that it
// does not know.
func abstains(text, abstain string) bool {
	said, want := squadWords(text), squadWords(abstain)
	if len(said) < len(want) || len(want) == 0 {
		return false
	}
	for i, w := range want {
		if said[i] != w {
			return false
		}
	}
	return true
}
