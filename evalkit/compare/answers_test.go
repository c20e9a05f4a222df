package compare_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/compare"
	"github.com/chunkeval/chunkeval/evalkit/experiment"
)

// TestAnswersAreMeasures pairs scores of answers, unanswerable questions too.
func TestAnswersAreMeasures(t *testing.T) {
	queries := []evalkit.Query{{ID: "a"}, {ID: "b", Unanswerable: true}, {ID: "c"}, {ID: "d"}}
	said := func(f1 float64, abstention float64) *experiment.Answer {
		return &experiment.Answer{Scores: []experiment.AnswerScore{{Metric: "token_f1", Value: f1}, {Metric: "abstention", Value: abstention}}}
	}
	none := &experiment.Answer{Scores: []experiment.AnswerScore{{Metric: "token_f1", Reason: "unanswerable: see abstention"}, {Metric: "abstention", Value: 1}}}
	s := &experiment.StrategyResult{Strategy: "page", Queries: []experiment.QueryResult{
		{Query: "a", Answer: said(0.5, 1)}, {Query: "b", Answer: none}, {Query: "c", Answer: said(0, 0), Failed: "lost"}, {Query: "d"},
	}}
	f1, abstention := compare.Measure{Metric: "token_f1", View: compare.Answers}, compare.Measure{Metric: "abstention", View: compare.Answers}
	a := compare.NewArm("x", s, queries, []compare.Measure{f1, abstention, {Metric: "token_f1", View: evalkit.HitOnly}})
	var got []float64
	for i := range queries {
		for _, m := range []compare.Measure{f1, abstention} {
			v, ok := a.Value(m, i)
			if !ok {
				v = -1
			}
			got = append(got, v)
		}
	}
	assert.Equal(t, []float64{0.5, 1, -1, 1, 0, 0, -1, -1}, got)
	assert.False(t, a.Has(compare.Measure{Metric: "token_f1", View: evalkit.HitOnly}), "what was sent has no such score")
}

func TestParseMeasure(t *testing.T) {
	for _, m := range append(compare.Headline(), compare.OfAnswers()...) {
		got, err := compare.ParseMeasure(m.String())
		require.NoError(t, err)
		assert.Equal(t, m, got)
		assert.NotEmpty(t, compare.InfoOf(m.Metric).Doc)
	}
	for s, want := range map[string]string{"recal": "recal", "token_f1+": "token_f1", "evid.nDCG@10+": "no expanded view"} {
		_, err := compare.ParseMeasure(s)
		assert.ErrorContains(t, err, want)
	}
}
