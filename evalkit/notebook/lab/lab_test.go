package lab

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/chunk/chunktest"
	"github.com/chunkeval/chunkeval/evalkit/experiment"
	"github.com/chunkeval/chunkeval/evalkit/notebook"
)

// lines is a strategy as a notebook would write it: a chunk per line.
type lines struct{}

func (lines) String() string { return "lines" }

func (lines) Split(_ context.Context, doc evalkit.Document) ([]evalkit.Chunk, error) {
	var spans []evalkit.Span
	at := 0
	for line := range strings.Lines(doc.Text) {
		if text := strings.TrimFunc(line, evalkit.IsSpace); text != "" {
			start := at + strings.Index(line, text)
			spans = append(spans, evalkit.Span{Start: start, End: start + len(text)})
		}
		at += len(line)
	}
	return Chunks(doc, spans), nil
}

const config = `
name: test
dataset: ../../../datasets/handbook
strategies: [fixed_size(size=100)]
retriever: bm25
queries: ["h00*", "h130"]
sweep: {window: [0/0, 1/1]}`

func silent(experiment.Progress) {}

func TestOwnStrategyKeepsTheRules(t *testing.T) {
	chunktest.Run(t, lines{})
}

func TestRunWithOwnStrategy(t *testing.T) {
	t.Setenv("EVALKIT_CACHE", t.TempDir())
	all, err := run(t.Context(), config, []evalkit.Strategy{lines{}}, silent)
	require.NoError(t, err)
	require.Len(t, all, 2)
	for i, r := range all {
		assert.Equal(t, []string{"fixed_size(size=100,overlap=0,unit=token)", "lines"}, r.Record.Spec.Strategies)
		assert.Equal(t, evalkit.Window{Prev: i, Next: i}, r.Strategies[0].Window)
		assert.Equal(t, evalkit.Window{}, r.Strategies[1].Window, "neighbors apply to fixed_size only")
		assert.NotEmpty(t, r.Record.Fingerprint)
		assert.Zero(t, r.Record.Counts.Failed)
	}
	assert.NotEqual(t, all[0].Record.Fingerprint, all[1].Record.Fingerprint)

	again, err := run(t.Context(), config, []evalkit.Strategy{lines{}}, silent)
	require.NoError(t, err)
	assert.Equal(t, all[0].Strategies, again[0].Strategies, "hits from the cache give the same")
	assert.Positive(t, again[0].Record.Provenance.Restored)

	without, err := run(t.Context(), config, nil, silent)
	require.NoError(t, err)
	assert.NotEqual(t, all[0].Record.Fingerprint, without[0].Record.Fingerprint)
}

func TestRunRefuses(t *testing.T) {
	t.Setenv("EVALKIT_CACHE", t.TempDir())
	for text, want := range map[string]string{
		"dataset: nowhere\nstrategies: [page]": "nowhere",
		config + "\nstrategy: page":            `unknown key "strategy"`,
	} {
		_, err := run(t.Context(), text, nil, silent)
		require.ErrorContains(t, err, want)
	}
	_, err := run(t.Context(), config, []evalkit.Strategy{lines{}, lines{}}, silent)
	require.ErrorContains(t, err, "named twice")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	_, err = run(ctx, config, nil, silent)
	var interrupted *experiment.InterruptedError
	require.ErrorAs(t, err, &interrupted)
}

func TestAsker(t *testing.T) {
	t.Setenv("EVALKIT_CACHE", t.TempDir())
	answer, strategies := Asker(config, lines{})
	require.Equal(t, []string{"fixed_size(size=100,overlap=0,unit=token)", "lines"}, strategies)
	a := notebook.Asking{Question: "On which weekdays may a column be dropped, and when not?", Strategy: strategies[0], TopK: 1, NeighborNext: 2}
	r, gold, err := answer(t.Context(), a)
	require.NoError(t, err)
	assert.Len(t, r.RetrievedChunks, 3)
	assert.Len(t, gold, 1, "a question of the data set brings its gold")
	a.Question, a.Strategy = "Anything else about columns?", "lines"
	r, gold, err = answer(t.Context(), a)
	require.NoError(t, err)
	assert.Len(t, r.RetrievedChunks, 1)
	assert.NotEmpty(t, r.Warnings, "the window was ignored")
	assert.Empty(t, gold)
	a.Strategy = "none"
	_, _, err = answer(t.Context(), a)
	require.ErrorContains(t, err, `no strategy "none"`)
}
