package store

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit/experiment"
)

func TestAnswersRoundTrip(t *testing.T) {
	root := t.TempDir()
	plain, err := NewWriter(root).Write(result("plain"))
	require.NoError(t, err)
	x, err := Open(root, plain)
	require.NoError(t, err)
	assert.Empty(t, all(t, x.Answers()), "nothing was answered")
	assert.NoFileExists(t, filepath.Join(root, plain, answersFile))

	r := result("answers")
	r.Strategies[0].Queries[0].Answer = &experiment.Answer{
		Text: "yes", Cut: true, Model: "m-1", PromptSHA256: "ab", PromptTokens: 7, CompletionTokens: 2,
		Scores:   []experiment.AnswerScore{{Metric: "token_f1"}, {Metric: "exact_match", Value: 1}, {Metric: "faithfulness", Reason: "no readable verdict"}},
		Verdicts: []experiment.Verdict{{Metric: "faithfulness", Pass: 2, Verdict: "unreadable", Raw: "hm", Judge: "j", PromptVersion: "judge-v1", PromptSHA256: "cd", PromptTokens: 9, CompletionTokens: 1}},
	}
	r.Strategies[0].Queries[1].Answer = &experiment.Answer{Failed: "status 500"}
	r.Record.Effective[0].Answers = &experiment.AnswerSummary{N: 2, Failed: 1, Means: []experiment.AnswerMean{{Metric: "token_f1", N: 1, Mean: new(0.5)}}}
	id, err := NewWriter(root).Write(r)
	require.NoError(t, err)
	x, err = Open(root, id)
	require.NoError(t, err)
	got, err := x.Strategy(0)
	require.NoError(t, err)
	assert.Equal(t, &r.Strategies[0], got)
	assert.Equal(t, answerRows(&r.Strategies[0]), all(t, x.Answers()))
	assert.Zero(t, *all(t, x.Answers())[0].Scores[0].Value, "a 0 is a value")
	assert.Equal(t, r.Record.Effective[0].Answers, x.Record.Effective[0].Answers)

	require.NoError(t, os.Truncate(filepath.Join(root, id, answersFile), 10))
	_, err = Open(root, id)
	require.ErrorContains(t, err, "incomplete or damaged")
}
