package wire

import (
	"context"
	"errors"
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
