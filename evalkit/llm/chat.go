package llm

import (
	"context"
	"errors"
	"regexp"

	openai "github.com/sashabaranov/go-openai"
)

// A ChatRequest asks for a text.
type ChatRequest struct {
	System      string  // may be empty
	User        string  // the prompt
	Temperature float64 // 0 or more; below 0 it is not sent, for models that take none
	Seed        int     // sent always; few servers promise equal answers for it
	MaxTokens   int     // of the answer; 0: the server's limit
}

// A ChatAnswer is what a model wrote.
type ChatAnswer struct {
	Text       string
	Model      string // as the server names it
	Cut        bool   // it ended at a limit of length
	Prompt     int    // tokens read
	Completion int    // tokens written
}

// Chat asks the model. An answer without a choice, or without a text, is an error.
func (c *Client) Chat(ctx context.Context, r ChatRequest) (*ChatAnswer, error) {
	x := &exchange{extra: map[string]any{}}
	if r.Temperature >= 0 { // the library leaves out a 0
		x.extra["temperature"] = r.Temperature
	}
	if r.MaxTokens > 0 {
		x.extra[limitField(c.config.Model)] = r.MaxTokens
	}
	resp, err := c.api.CreateChatCompletion(withExchange(ctx, x), c.chatRequest(r))
	if err != nil {
		return nil, c.explain(x, err)
	}
	c.count(resp.Usage)
	if len(resp.Choices) == 0 {
		return nil, errors.New("the answer has no choice")
	}
	choice := resp.Choices[0]
	a := &ChatAnswer{
		Text: choice.Message.Content, Model: resp.Model, Cut: choice.FinishReason == openai.FinishReasonLength,
		Prompt: resp.Usage.PromptTokens, Completion: resp.Usage.CompletionTokens,
	}
	switch {
	case choice.FinishReason == openai.FinishReasonContentFilter:
		return nil, errors.New("the answer was withheld by a content filter")
	case a.Text == "" && a.Cut:
		return nil, errors.New("the answer is empty: it ended at the limit of tokens")
	case a.Text == "":
		return nil, errors.New("the answer is empty")
	}
	return a, nil
}

func (c *Client) chatRequest(r ChatRequest) openai.ChatCompletionRequest {
	req := openai.ChatCompletionRequest{Model: c.config.Model, Seed: &r.Seed}
	if r.System != "" {
		req.Messages = append(req.Messages, openai.ChatCompletionMessage{Role: openai.ChatMessageRoleSystem, Content: r.System})
	}
	req.Messages = append(req.Messages, openai.ChatCompletionMessage{Role: openai.ChatMessageRoleUser, Content: r.User})
	return req
}

// reasoning matches the models of OpenAI that refuse max_tokens.
var reasoning = regexp.MustCompile(`^(o\d|gpt-[5-9])`)

// limitField returns the name of the limit of an answer. Most servers know the
// older one only.
func limitField(model string) string {
	if reasoning.MatchString(model) {
		return "max_completion_tokens"
	}
	return "max_tokens"
}
