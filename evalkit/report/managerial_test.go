package report_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit/compare"
	"github.com/chunkeval/chunkeval/evalkit/internal/trial"
	"github.com/chunkeval/chunkeval/evalkit/report"
)

// managerial returns the managerial report of a run over the handbook.
func managerial(t testing.TB, config string) (*report.Study, string) {
	t.Helper()
	s, err := report.NewStudy(trial.Inputs(trial.Handbook(t, config)...), compare.Margin, few)
	require.NoError(t, err)
	html, err := s.Recommended()
	require.NoError(t, err)
	return s, string(html)
}

// TestACheaperDepthIsNamed: windows of 5 hits are recommended where chunks of
// another strategy, more of them, find as much for a third of the tokens.
func TestACheaperDepthIsNamed(t *testing.T) {
	_, page := managerial(t, "name: x\nstrategies: [fixed_size(size=200), markdown(size=200)]\nretriever: bm25\nsweep: {window: [0/0, 2/2]}\n")
	assert.Contains(t, page, "it was not run as a setting, so run it with <code>top_k: 8</code> before you decide")
	_, next, _ := strings.Cut(page, "What to do next")
	assert.Contains(t, next, "<li>Run markdown(size=200) with bm25 and top_k: 8:")

	_, page = managerial(t, "name: x\nstrategies: [markdown(size=200)]\nretriever: bm25\n")
	assert.NotContains(t, page, "not run as a setting", "more hits of one strategy cost more")
}

// TestNotShownSaysWhy: where an interval leaves out 0, the p that decides stands
// beside it.
func TestNotShownSaysWhy(t *testing.T) {
	s, page := managerial(t, "name: x\nstrategies: [fixed_size(size=100), fixed_size(size=200), 'fixed_size(size=200,overlap=40)', markdown(size=200), sentence, parent]\nretriever: bm25\nsweep: {window: [0/0, 1/1, 2/2]}\n")
	require.NotEmpty(t, s.Recommendation.Undecided)
	assert.Contains(t, page, "only where its whole interval lies below 0 and p is at most 0.05 as well; p is corrected (Holm)")
	_, list, _ := strings.Cut(page, "What was not shown to differ")
	list, _, _ = strings.Cut(list, "</ul>")
	shown := regexp.MustCompile(`points, p ([0-9.]+)`).FindAllStringSubmatch(list, -1)
	require.Len(t, shown, len(s.Recommendation.Undecided))
	excluding := 0
	for i, m := range shown {
		p, err := strconv.ParseFloat(m[1], 64)
		require.NoError(t, err)
		if !s.Recommendation.Options[s.Recommendation.Undecided[i]].ToBest.Interval().Contains(0) {
			excluding++
			assert.Greater(t, p, 0.05, "the interval leaves out 0, so p is why")
		}
	}
	assert.Positive(t, excluding)
}
