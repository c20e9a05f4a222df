package answer

import (
	"strings"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/llm"
)

// messageTokens is what a chat's frame adds to a prompt, generously.
const messageTokens = 16

// Estimate returns what answering queries takes at most: a call for each, with a
// context of at most the given tokens. tok counts.
func (s OpenAI) Estimate(tok evalkit.Tokenizer, queries []evalkit.Query, contextTokens int) llm.Estimate {
	e := llm.Estimate{What: "answerer", Model: s.Model}
	frame := tok.Count(strings.ReplaceAll(string(s.Template), "{abstain}", s.Abstain)) + messageTokens
	for _, q := range queries {
		e = e.Add(llm.Estimate{Calls: 1, Prompt: frame + tok.Count(q.Text) + contextTokens, Completion: s.MaxTokens})
	}
	return e
}

// Estimate returns what judging the answers to queries takes at most, with a
// context and answers of at most the given tokens. tok counts.
func (s JudgeSpec) Estimate(tok evalkit.Tokenizer, queries []evalkit.Query, contextTokens, answerTokens int) llm.Estimate {
	e := llm.Estimate{What: "judge", Model: s.Model}
	for _, q := range queries {
		one := func(aspect string, material int) {
			frame := tok.Count(judgePrompt(aspect, 1, q, Prompt{}, &Answer{}).Text) + messageTokens
			e = e.Add(llm.Estimate{Calls: s.Passes, Prompt: s.Passes * (frame + material + answerTokens), Completion: s.Passes * s.MaxTokens})
		}
		one(MetricFaithfulness, contextTokens)
		if noReference(q) == "" {
			one(MetricCorrectness, 0) // the reference is in the frame
		}
	}
	return e
}
