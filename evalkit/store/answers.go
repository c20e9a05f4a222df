package store

import (
	"iter"
	"slices"

	"github.com/chunkeval/chunkeval/evalkit/experiment"
)

// answersFile is written only where something was answered.
const answersFile = "answers.parquet"

// An AnswerRow is what was answered to one query from what one strategy retrieved.
type AnswerRow struct {
	Strategy         string           `arrow:"strategy" doc:"strategy"`
	Query            string           `arrow:"query" doc:"query id"`
	Answer           *string          `arrow:"answer" doc:"text of the answer; null if it failed"`
	Abstained        bool             `arrow:"abstained" doc:"it says that the context does not hold the answer"`
	Cut              bool             `arrow:"cut" doc:"it ended at a limit of length"`
	Model            *string          `arrow:"model" doc:"model, as the server names it; null without one"`
	PromptSHA256     *string          `arrow:"prompt_sha256" doc:"SHA-256 of the prompt in hex"`
	PromptTokens     int32            `arrow:"prompt_tokens" doc:"tokens read, by the server's count" unit:"token"`
	CompletionTokens int32            `arrow:"completion_tokens" doc:"tokens written, by the server's count" unit:"token"`
	Failed           *string          `arrow:"failed" doc:"why there is no answer, or no verdict on it"`
	Scores           []AnswerScoreRow `arrow:"scores" doc:"metric, value (a fraction, null where it is not defined), reason"`
	Verdicts         []VerdictRow     `arrow:"verdicts" doc:"what a judge said: metric, pass from 1, verdict (yes, no, unreadable), raw text, judge, prompt, tokens"`
}

// An AnswerScoreRow is one value of an answer.
type AnswerScoreRow struct {
	Metric string   `arrow:"metric"`
	Value  *float64 `arrow:"value"`
	Reason *string  `arrow:"reason"`
}

// A VerdictRow is what a judge said on one aspect of an answer.
type VerdictRow struct {
	Metric           string `arrow:"metric"`
	Pass             int32  `arrow:"pass"`
	Verdict          string `arrow:"verdict"`
	Raw              string `arrow:"raw"`
	Judge            string `arrow:"judge"`
	PromptVersion    string `arrow:"prompt_version"`
	PromptSHA256     string `arrow:"prompt_sha256"`
	PromptTokens     int32  `arrow:"prompt_tokens"`
	CompletionTokens int32  `arrow:"completion_tokens"`
}

// Answers yields what was answered: by strategy, query. An Experiment without
// an answerer has none.
func (x *Experiment) Answers() iter.Seq2[AnswerRow, error] {
	if _, ok := x.Record.Files[answersFile]; !ok {
		return func(func(AnswerRow, error) bool) {}
	}
	return rowsOf[AnswerRow](x, answersFile)
}

func writeAnswers(dir string, r *experiment.Result) error {
	answered := slices.ContainsFunc(r.Strategies, func(s experiment.StrategyResult) bool { return len(answerRows(&s)) > 0 })
	if !answered {
		return nil
	}
	return writeFile(dir, answersFile, r.Record.Files, perStrategy(r, answerRows))
}

func answerRows(s *experiment.StrategyResult) []AnswerRow {
	var rows []AnswerRow
	for _, q := range s.Queries {
		a := q.Answer
		if a == nil {
			continue
		}
		row := AnswerRow{
			Strategy: s.Strategy, Query: string(q.Query), Abstained: a.Abstained, Cut: a.Cut, Model: optional(a.Model), PromptSHA256: optional(a.PromptSHA256),
			PromptTokens: int32(a.PromptTokens), CompletionTokens: int32(a.CompletionTokens), Failed: optional(a.Failed),
			Answer: optional(a.Text), Scores: []AnswerScoreRow{}, Verdicts: []VerdictRow{},
		}
		for _, v := range a.Scores {
			score := AnswerScoreRow{Metric: v.Metric, Reason: optional(v.Reason)}
			if v.Reason == "" {
				score.Value = &v.Value
			}
			row.Scores = append(row.Scores, score)
		}
		for _, v := range a.Verdicts {
			row.Verdicts = append(row.Verdicts, VerdictRow{
				v.Metric, int32(v.Pass), v.Verdict, v.Raw, v.Judge, v.PromptVersion, v.PromptSHA256, int32(v.PromptTokens), int32(v.CompletionTokens),
			})
		}
		rows = append(rows, row)
	}
	return rows
}

// answer is the loader of one row.
func (l *loader) answer(r AnswerRow) error {
	i, ok := l.at[r.Query]
	if !ok {
		return l.x.broken(answersFile, "query %q is not in %s", r.Query, queriesFile)
	}
	a := &experiment.Answer{
		Text: text(r.Answer), Abstained: r.Abstained, Cut: r.Cut, Model: text(r.Model), PromptSHA256: text(r.PromptSHA256),
		PromptTokens: int(r.PromptTokens), CompletionTokens: int(r.CompletionTokens), Failed: text(r.Failed),
	}
	for _, v := range r.Scores {
		score := experiment.AnswerScore{Metric: v.Metric, Reason: text(v.Reason)}
		if v.Value != nil {
			score.Value = *v.Value
		}
		a.Scores = append(a.Scores, score)
	}
	for _, v := range r.Verdicts {
		a.Verdicts = append(a.Verdicts, experiment.Verdict{
			Metric: v.Metric, Pass: int(v.Pass), Verdict: v.Verdict, Raw: v.Raw, Judge: v.Judge, PromptVersion: v.PromptVersion,
			PromptSHA256: v.PromptSHA256, PromptTokens: int(v.PromptTokens), CompletionTokens: int(v.CompletionTokens),
		})
	}
	l.s.Queries[i].Answer = a
	return nil
}

// text returns the string behind s; empty if there is none.
func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
