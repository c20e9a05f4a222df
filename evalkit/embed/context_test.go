package embed_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/embed"
)

// parts embeds a part as its text beside that of the document.
type parts struct{ counted }

func (p *parts) EmbedParts(ctx context.Context, texts []evalkit.Parted) (evalkit.Vectors, error) {
	var all []string
	for _, t := range texts {
		for _, s := range t.Parts {
			all = append(all, fmt.Sprintf("%s in %s", t.Text[s.Start:s.End], t.Text))
		}
	}
	return p.Embed(ctx, "part", all)
}

func TestCacheKeepsParts(t *testing.T) {
	dir, inner := t.TempDir(), &parts{counted{name: "m", dim: 8}}
	c := open(t, dir, inner)
	e := c.Embedder().(evalkit.ContextEmbedder)
	assert.Equal(t, "m", e.String())
	one, two := evalkit.Span{Start: 0, End: 3}, evalkit.Span{Start: 4, End: 7}
	ask := func(texts ...evalkit.Parted) evalkit.Vectors {
		t.Helper()
		got, err := e.EmbedParts(t.Context(), texts)
		require.NoError(t, err)
		want, err := (&parts{counted{name: "m", dim: 8}}).EmbedParts(t.Context(), texts)
		require.NoError(t, err)
		assert.Equal(t, want, got)
		return got
	}
	got := ask(evalkit.Parted{Text: "ice dry", Parts: []evalkit.Span{one, two, one}}, evalkit.Parted{Text: "ice wet", Parts: []evalkit.Span{one}}, evalkit.Parted{Text: "none"})
	assert.NotEqual(t, got.Row(0), got.Row(3), "the same part of another text")
	assert.Equal(t, []string{"part:ice in ice dry", "part:dry in ice dry", "part:ice in ice wet"}, inner.take())
	ask(evalkit.Parted{Text: "ice wet", Parts: []evalkit.Span{two, one}}, evalkit.Parted{Text: "ice dry", Parts: []evalkit.Span{two}})
	assert.Equal(t, []string{"part:wet in ice wet"}, inner.take(), "only what is missing")
	assert.Equal(t, embed.CacheStats{Hits: 2, Misses: 4}, c.Stats())
	rows(t, e, "ice")
	assert.Equal(t, []string{"passage:ice"}, inner.take(), "a text is not a part")
	require.NoError(t, c.Close())

	c = open(t, dir, inner)
	e = c.Embedder().(evalkit.ContextEmbedder)
	ask(evalkit.Parted{Text: "ice dry", Parts: []evalkit.Span{two}})
	assert.Empty(t, inner.take(), "from disk")
	inner.wrap = func(v evalkit.Vectors) evalkit.Vectors { return evalkit.Vectors{Dim: 8} }
	_, err := e.EmbedParts(t.Context(), []evalkit.Parted{{Text: "new", Parts: []evalkit.Span{one}}})
	assert.EqualError(t, err, `embedder "m": 0 vectors for 1 texts`)
	require.NoError(t, c.Close())

	plain := open(t, dir, &counted{name: "p", dim: 8})
	assert.Same(t, plain, plain.Embedder(), "its embedder reads no context")
	require.NoError(t, plain.Close())
}
