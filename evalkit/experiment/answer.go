package experiment

import (
	"context"
	"fmt"

	"github.com/chunkeval/chunkeval/evalkit"
)

// An Answerer answers queries from what was retrieved and scores the answers.
// It is safe for concurrent use.
type Answerer interface {
	// Answer answers q from the flat list. What went wrong is told in Failed.
	Answer(ctx context.Context, q evalkit.Query, flat []evalkit.RetrievedChunk, texts *evalkit.Texts) *Answer
	// Unanswered returns what stands for the answer to q where retrieval failed.
	Unanswered(q evalkit.Query, why string) *Answer
	// Summarize sums up the answers of one strategy.
	Summarize(answers []*Answer) *AnswerSummary
}

// An Answer is what was answered to one query.
type Answer struct {
	Text             string
	Abstained        bool   // it says that the context does not hold the answer
	Cut              bool   // it ended at a limit of length
	Model            string // as the server names it; empty without one
	PromptSHA256     string // hex
	PromptTokens     int    // read; 0 without a model
	CompletionTokens int    // written; 0 without a model
	Scores           []AnswerScore
	Verdicts         []Verdict
	Failed           string // why there is no answer, or no verdict on it; empty if there is
}

// An AnswerScore is one value of an answer: a fraction, higher is better.
// Exactly one of Value and Reason says something. A failed answer has 0 where its
// query could have a value.
type AnswerScore struct {
	Metric string
	Value  float64
	Reason string // why there is no value
}

// A Verdict is what a judge said on one aspect of an answer.
type Verdict struct {
	Metric           string // the aspect
	Pass             int    // from 1
	Verdict          string // "yes", "no" or "unreadable"
	Raw              string // as the judge wrote it
	Judge            string // model, as the server names it
	PromptVersion    string
	PromptSHA256     string // hex
	PromptTokens     int
	CompletionTokens int
}

// An AnswerSummary is about the answers of one strategy.
type AnswerSummary struct {
	N                int          `json:"n"` // failed ones included
	Failed           int          `json:"failed"`
	Abstained        int          `json:"abstained"`
	Means            []AnswerMean `json:"means"`
	Agreement        []Agreement  `json:"agreement,omitempty"` // of a judge's two passes
	PromptTokens     int          `json:"prompt_tokens"`       // of answers and verdicts, also those from a cache
	CompletionTokens int          `json:"completion_tokens"`
}

// An AnswerMean is one score over the queries of one strategy.
type AnswerMean struct {
	Metric    string   `json:"metric"`
	Mean      *float64 `json:"mean"` // nil: no query has a value
	N         int      `json:"n"`    // queries in the mean
	Undefined int      `json:"undefined"`
}

// An Agreement is Cohen's kappa of a judge's two passes.
type Agreement struct {
	Metric string   `json:"metric"`
	Kappa  *float64 `json:"kappa"` // nil: not defined
	Pairs  int      `json:"pairs"` // answers with two readable verdicts
	Note   string   `json:"note,omitempty"`
}

// A Usage is what one component sent for an Experiment. It is less than the
// tokens of the answers where a cache knew some.
type Usage struct {
	Role             string   `json:"role"` // "embedder", "answerer", "judge", "chunker"
	Model            string   `json:"model"`
	Calls            int      `json:"calls"` // tries included
	Retries          int      `json:"retries"`
	PromptTokens     int      `json:"prompt_tokens"`
	CompletionTokens int      `json:"completion_tokens"`
	Cost             *float64 `json:"cost,omitempty"` // nil: no price was given
	Currency         string   `json:"currency,omitempty"`
	Note             string   `json:"note,omitempty"` // what went wrong on the way
}

// answer answers the query of u, if there is who does.
func (g *group) answer(ctx context.Context, u *unit, q *QueryResult) error {
	if g.setup.Answerer == nil {
		return nil
	}
	if u.err != nil {
		q.Answer = g.setup.Answerer.Unanswered(u.judged.Query, "retrieval: "+u.err.Error())
		return nil
	}
	q.Answer = g.setup.Answerer.Answer(ctx, u.judged.Query, q.Flat, u.judged.Texts)
	return ctx.Err()
}

// summarizeAnswers returns nil where nothing was answered.
func (g *group) summarizeAnswers(queries []QueryResult) *AnswerSummary {
	if g.setup.Answerer == nil {
		return nil
	}
	answers := make([]*Answer, len(queries))
	for i, q := range queries {
		answers[i] = q.Answer
	}
	return g.setup.Answerer.Summarize(answers)
}

// answerWarnings counts the answers of s that failed while the retrieval did not.
func answerWarnings(s *StrategyResult) (failed int, warnings []string) {
	first := ""
	for _, q := range s.Queries {
		if q.Failed == "" && q.Answer != nil && q.Answer.Failed != "" {
			if failed++; first == "" {
				first = q.Answer.Failed
			}
		}
	}
	if failed > 0 {
		warnings = append(warnings, fmt.Sprintf("%s: %d answers failed and count 0: %s", s.Strategy, failed, first))
	}
	return failed, warnings
}
