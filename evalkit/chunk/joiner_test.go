package chunk_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/chunk"
	"github.com/chunkeval/chunkeval/evalkit/token"
)

// A tokenizer that adds two to every text adds them to the empty joiner too:
// two words are 3 + 2 + 3 long, three would be 13.
func TestRecursiveCountsTheJoiner(t *testing.T) {
	for extra, want := range map[int][]string{2: {"a b", "c d", "e"}, 0: {"a b c d e"}} {
		tok, err := token.NewWordPiece(token.WordPieceOptions{Vocab: filepath.Join("..", "token", "testdata", "vocab.txt"), Extra: extra})
		require.NoError(t, err)
		s, err := chunk.Parse("recursive(size=9)", chunk.Env{Tokenizer: tok})
		require.NoError(t, err)
		chunks, err := s.Split(t.Context(), evalkit.Document{ID: "d", Text: "a b c d e"})
		require.NoError(t, err)
		var got []string
		for _, c := range chunks {
			got = append(got, c.Text)
		}
		assert.Equal(t, want, got)
	}
}
