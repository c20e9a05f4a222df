package answer

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/expand"
)

// The default prompt, under the name that strings and records have for it.
const (
	promptName    = "v1"
	defaultPrompt = `Answer the question from the context below and from nothing else. Answer as briefly as the question allows, in its language, without repeating it. If the context does not hold the answer, write exactly: {abstain}

Context:
{context}

Question: {question}
Answer:`
	defaultAbstain = "I do not know."
)

// A Template makes prompts. {context} and {question} must occur; {abstain} may.
type Template string

// DefaultTemplate is the prompt in force where none is given.
func DefaultTemplate() Template { return defaultPrompt }

func (t Template) check() error {
	for _, mark := range []string{"{context}", "{question}"} {
		if !strings.Contains(string(t), mark) {
			return errors.New(mark + " does not occur")
		}
	}
	return nil
}

// A Prompt is what is sent for one question.
type Prompt struct {
	Question string
	Context  string // the retrieved chunks, merged
	Text     string // the template, filled
}

// NewPrompt fills t. The context is exactly that of the flat list; what it
// holds in braces is left alone.
func NewPrompt(t Template, abstain, question string, flat []evalkit.RetrievedChunk, texts *evalkit.Texts) Prompt {
	p := Prompt{Question: question, Context: expand.NewContext(flat, texts).Text}
	p.Text = strings.NewReplacer("{context}", p.Context, "{question}", question, "{abstain}", abstain).Replace(string(t))
	return p
}

// SHA256 returns the digest of the prompt's text in hex.
func (p Prompt) SHA256() string {
	sum := sha256.Sum256([]byte(p.Text))
	return hex.EncodeToString(sum[:])
}
