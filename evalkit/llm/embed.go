package llm

import (
	"context"
	"encoding/json"
	"fmt"

	openai "github.com/sashabaranov/go-openai"
)

// Embeddings are the vectors of one call.
type Embeddings struct {
	Dim    int         // numbers per vector; 0 if no text has a vector
	Rows   [][]float64 // in the order of the texts; nil where the vector is missing or has a number that is none
	Model  string      // as the server names it; that asked for if it does not
	Tokens int         // of all texts, by the server's count; 0 if it does not say
}

// Embed asks for the vectors of texts in one call; dimensions is the wanted
// number of dimensions, 0 for the model's own. The answers are put in the order
// of texts by their index. Another number of vectors than texts is a
// *CountError; what the server refused is a *StatusError.
func (c *Client) Embed(ctx context.Context, texts []string, dimensions int) (*Embeddings, error) {
	x := &exchange{}
	resp, err := c.api.CreateEmbeddings(withExchange(ctx, x), openai.EmbeddingRequest{
		Input: texts, Model: openai.EmbeddingModel(c.config.Model), EncodingFormat: openai.EmbeddingEncodingFormatFloat, Dimensions: dimensions,
	})
	if err != nil {
		return nil, c.explain(x, err)
	}
	// Note: the library reads null as 0 and a missing index as index 0, so the
	// vectors are read again from the body.
	var body struct {
		Data []indexed `json:"data"`
	}
	if err := json.Unmarshal(x.body, &body); err != nil {
		return nil, c.explain(x, err)
	}
	c.count(resp.Usage)
	e := &Embeddings{Rows: make([][]float64, len(texts)), Model: string(resp.Model), Tokens: max(resp.Usage.PromptTokens, resp.Usage.TotalTokens)}
	if e.Model == "" {
		e.Model = c.config.Model
	}
	return e, e.fill(body.Data)
}

// indexed is one vector of an answer.
type indexed struct {
	Index     *int       `json:"index"`
	Embedding []*float64 `json:"embedding"`
}

// fill puts the vectors into their places.
func (e *Embeddings) fill(data []indexed) error {
	if len(data) != len(e.Rows) {
		return &CountError{len(data), len(e.Rows)}
	}
	taken := make([]bool, len(data))
	for i, d := range data {
		at := i // where the server gives no index, the order is that of the texts
		if d.Index != nil {
			at = *d.Index
		}
		switch {
		case at < 0 || at >= len(data):
			return fmt.Errorf("a vector has index %d, of %d texts", at, len(data))
		case taken[at]:
			return fmt.Errorf("two vectors have index %d", at)
		}
		taken[at] = true
		if err := e.put(at, d.Embedding); err != nil {
			return err
		}
	}
	return nil
}

func (e *Embeddings) put(at int, numbers []*float64) error {
	if len(numbers) == 0 {
		return nil
	}
	if e.Dim == 0 {
		e.Dim = len(numbers)
	}
	if len(numbers) != e.Dim {
		return fmt.Errorf("vectors of %d and %d dimensions in one answer of model %q", e.Dim, len(numbers), e.Model)
	}
	row := make([]float64, len(numbers))
	for i, x := range numbers {
		if x == nil {
			return nil // the row stays nil
		}
		row[i] = *x
	}
	e.Rows[at] = row
	return nil
}

// explain returns err; one of an answer that could not be read says so.
func (c *Client) explain(x *exchange, err error) error {
	if x.body == nil {
		return err
	}
	return fmt.Errorf("the answer is not that of an OpenAI server: %s", c.t.hide(err.Error()))
}
