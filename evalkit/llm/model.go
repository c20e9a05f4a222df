package llm

import (
	"context"
	"errors"
	"fmt"

	"github.com/chunkeval/chunkeval/evalkit"
)

// A Model is a Chatter with its settings, for those who want texts and no more.
type Model struct {
	Config
	Temperature float64 // -1: not sent
	Seed        int
	chat        Chatter
}

// ParseModel reads a Model; nothing is sent yet. The values shown are the
// defaults; model must be given:
//
//	openai(base_url="https://api.openai.com/v1",model=NAME,temperature=0,seed=0,key_env=OPENAI_API_KEY,key_header="",timeout=60,tries=5)
//
// open makes the Chatter; where answers are to be the same each time, it is one
// with a Cache. An error does not repeat a setting that could hold a key.
func ParseModel(s string, open func(Config) (Chatter, error)) (*Model, error) {
	if err := RefuseSecret(s); err != nil {
		return nil, fmt.Errorf("parse model: %w", err)
	}
	m, err := parseModel(s)
	if err == nil {
		m.chat, err = open(m.Config)
	}
	if err != nil {
		return nil, fmt.Errorf("parse model %q: %w", s, err)
	}
	return m, nil
}

func parseModel(s string) (*Model, error) {
	if s == "" {
		return nil, errors.New("not given; name one, such as openai(model=NAME)")
	}
	e, err := evalkit.ParseExpr(s)
	if err != nil {
		return nil, err
	}
	if e.Name != "openai" {
		return nil, fmt.Errorf("unknown model %q: known is openai", e.Name)
	}
	set := e.Settings()
	c, cerr := ReadConfig(set)
	m := &Model{Config: c, Temperature: set.Float("temperature", 0), Seed: set.Int("seed", 0)}
	switch err := set.Err(); {
	case err != nil:
		return nil, err
	case cerr != nil:
		return nil, cerr
	case m.Temperature < 0 && m.Temperature != -1 || m.Temperature > 2:
		return nil, fmt.Errorf("temperature: %v is not from 0 to 2, or -1", m.Temperature)
	}
	return m, nil
}

// String returns the form that ParseModel reads. It holds no key.
func (m *Model) String() string { return "openai(" + m.identity() + m.Rest() + ")" }

func (m *Model) identity() string {
	return fmt.Sprintf("%s,temperature=%v,seed=%d", m.Identity(), m.Temperature, m.Seed)
}

// Fingerprint covers what changes answers.
func (m *Model) Fingerprint() string { return m.identity() }

// Model returns the name that the server has for the model.
func (m *Model) Model() string { return m.Config.Model }

// Chat returns the answer to prompt, of at most limit tokens. One that was cut
// there is given as it is.
func (m *Model) Chat(ctx context.Context, prompt string, limit int) (string, error) {
	a, err := m.chat.Chat(ctx, ChatRequest{User: prompt, Temperature: m.Temperature, Seed: m.Seed, MaxTokens: limit})
	if err != nil {
		return "", err
	}
	return a.Text, nil
}
