package experiment

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
)

// echo answers with the number of chunks that it was given.
type echo struct{ stop func() }

func (e echo) Answer(_ context.Context, q evalkit.Query, flat []evalkit.RetrievedChunk, _ *evalkit.Texts) *Answer {
	if e.stop != nil {
		e.stop()
	}
	if strings.HasPrefix(string(q.ID), "bad") {
		return &Answer{Failed: "the model is out"}
	}
	return &Answer{Text: fmt.Sprint(len(flat))}
}

func (echo) Unanswered(_ evalkit.Query, why string) *Answer { return &Answer{Failed: why} }

func (echo) Summarize(answers []*Answer) *AnswerSummary {
	s := &AnswerSummary{N: len(answers)}
	for _, a := range answers {
		if a.Failed != "" {
			s.Failed++
		}
	}
	return s
}

func TestAnswersSeeTheFlatListOfTheirSetting(t *testing.T) {
	s := Setup{
		Dataset:    &evalkit.Dataset{Docs: []evalkit.Document{{ID: "d", Text: "ab cd ef gh"}}, Queries: []evalkit.Query{{ID: "q", Text: "ab"}, {ID: "bad", Text: "cd"}, {ID: "none", Text: "x"}}},
		Strategies: []evalkit.Strategy{words{"fixed_size(a)"}}, Indexer: counter{searches: &atomic.Int64{}, fail: "none"}, Expander: flat{}, Answerer: echo{},
	}
	var all []*Result
	for r, err := range Run(t.Context(), s, []Setting{{TopK: 1}, {TopK: 2}}, Options{}) {
		require.NoError(t, err)
		all = append(all, r)
	}
	require.Len(t, all, 2)
	for i, r := range all {
		q := r.Strategies[0].Queries
		assert.Equal(t, fmt.Sprint(len(q[0].Flat)), q[0].Answer.Text)
		assert.Equal(t, "the model is out", q[1].Answer.Failed)
		assert.Equal(t, "retrieval: the model is out", q[2].Answer.Failed)
		assert.Equal(t, &AnswerSummary{N: 3, Failed: 2}, r.Record.Effective[0].Answers)
		assert.Equal(t, 1, r.Record.Counts.AnswersFailed, "the other one failed before: setting %d", i)
		assert.Contains(t, r.Record.Warnings, "fixed_size(a): 1 answers failed and count 0: the model is out")
	}
	assert.NotEqual(t, all[0].Strategies[0].Queries[0].Answer, all[1].Strategies[0].Queries[0].Answer)

	s.Answerer = nil
	for r, err := range Run(t.Context(), s, []Setting{{TopK: 1}}, Options{}) {
		require.NoError(t, err)
		assert.Nil(t, r.Strategies[0].Queries[0].Answer)
		assert.Nil(t, r.Record.Effective[0].Answers)
	}
}

func TestAnsweringCanBeInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := Setup{
		Dataset:    &evalkit.Dataset{Docs: []evalkit.Document{{ID: "d", Text: "ab"}}, Queries: []evalkit.Query{{ID: "q", Text: "ab"}}},
		Strategies: []evalkit.Strategy{words{"w"}}, Indexer: counter{searches: &atomic.Int64{}}, Expander: flat{}, Answerer: echo{cancel},
	}
	for _, err := range Run(ctx, s, []Setting{{TopK: 1}}, Options{}) {
		var stopped *InterruptedError
		require.ErrorAs(t, err, &stopped)
	}
}
