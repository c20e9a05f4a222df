package wire

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
)

// closable is an embedder from outside of package embed.
type closable struct{ closed *int }

func (closable) String() string { return "mine(size=3)" }

func (c closable) Close() error {
	*c.closed++
	return nil
}

func (closable) Embed(_ context.Context, _ evalkit.TextKind, texts []string) (evalkit.Vectors, error) {
	return evalkit.Vectors{Dim: 1, Data: make([]float32, len(texts))}, nil
}

func TestLabOpensEmbeddersOfOtherPackages(t *testing.T) {
	closed, opened := 0, 0
	lab := &Lab{CacheDir: t.TempDir(), Embedders: []EmbedderKind{
		{"mine", func(e evalkit.Expr) (evalkit.Embedder, error) {
			opened++
			return closable{&closed}, e.Settings().Err()
		}},
		{"broken", func(evalkit.Expr) (evalkit.Embedder, error) { return nil, errors.New("no such file") }},
	}}
	gs, err := groups(t, lab, "strategies: [page]\nembedder: mine\nsweep: {retriever: [dense, hybrid]}\n")
	require.NoError(t, err)
	assert.Equal(t, "mine(size=3)", gs[0].Specs[0].Embedder)
	assert.Equal(t, 1, opened, "one embedder serves both groups")

	_, err = groups(t, lab, "strategies: [page]\nembedder: broken\n")
	assert.ErrorContains(t, err, `x.yaml:3: embedder: embedder "broken": no such file`)
	_, err = groups(t, lab, "strategies: [page]\nembedder: brokn\n")
	assert.ErrorContains(t, err, `unknown embedder "brokn": did you mean "broken"?`)
	_, err = groups(t, lab, "strategies: [page]\nembedder: something-else-entirely\n")
	assert.ErrorContains(t, err, "known are lsa, hash, mine, broken")

	require.NoError(t, lab.Close())
	assert.Equal(t, 1, closed)
}

// inContext is an embedder that reads documents.
type inContext struct{ closable }

func (inContext) EmbedParts(_ context.Context, texts []evalkit.Parted) (evalkit.Vectors, error) {
	v := evalkit.Vectors{Dim: 1}
	for _, t := range texts {
		for range t.Parts {
			v.Data = append(v.Data, 1)
		}
	}
	return v, nil
}

func (inContext) UnreadParts(texts []evalkit.Parted) string {
	if len(texts) == 0 {
		return ""
	}
	return fmt.Sprintf("%d documents, the last one %q", len(texts), texts[len(texts)-1].Text)
}

func TestContextEmbedderStaysOneBehindTheCache(t *testing.T) {
	lab := &Lab{CacheDir: t.TempDir(), Embedders: []EmbedderKind{
		{"mine", func(evalkit.Expr) (evalkit.Embedder, error) { return inContext{closable{new(int)}}, nil }},
	}}
	gs, err := groups(t, lab, "strategies: [page]\nembedder: mine\nretriever: dense\n")
	require.NoError(t, err)
	assert.Implements(t, (*evalkit.ContextEmbedder)(nil), gs[0].Embedder)
	warnings := gs[0].Setup.Inspect([]evalkit.Chunk{
		{Doc: "a", Span: evalkit.Span{Start: 0, End: 3}, Text: "one", Header: "title"},
		{Doc: "a", Index: 1, Span: evalkit.Span{Start: 4, End: 7}, Text: "two"},
		{Doc: "b", Span: evalkit.Span{Start: 0, End: 3}, Text: "sea"},
	})
	assert.Equal(t, []string{
		`2 documents, the last one "sea"`,
		"the headers of 1 of 3 chunks are not embedded: under late chunking the document is the context",
	}, warnings)
	assert.Empty(t, gs[0].Setup.Inspect(nil))
	require.NoError(t, lab.Close())
}
