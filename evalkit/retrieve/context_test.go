package retrieve_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/retrieve"
)

// firstWord embeds a part as the first word of its text: pure context.
type firstWord struct {
	words
	got *[]evalkit.Parted
	err error
}

func (f firstWord) EmbedParts(ctx context.Context, texts []evalkit.Parted) (evalkit.Vectors, error) {
	*f.got = append(*f.got, texts...)
	var all []string
	for _, t := range texts {
		for range t.Parts {
			all = append(all, t.Text[:3])
		}
	}
	v, err := f.Embed(ctx, evalkit.Passage, all)
	return v, errors.Join(f.err, err)
}

func TestDenseGivesWholeDocumentsToAContextEmbedder(t *testing.T) {
	cut := func(doc evalkit.DocID, text string, spans ...evalkit.Span) []evalkit.Chunk {
		var out []evalkit.Chunk
		for i, s := range spans {
			out = append(out, evalkit.Chunk{Doc: doc, Index: i, Span: s, Text: text[s.Start:s.End]})
		}
		return out
	}
	b := cut("b", "ice drifts past", evalkit.Span{Start: 0, End: 10}, evalkit.Span{Start: 4, End: 15})
	a := cut("a", "sea  calm", evalkit.Span{Start: 0, End: 3}, evalkit.Span{Start: 5, End: 9})
	b[1].Units = []evalkit.Span{{Start: 4, End: 10}, {Start: 11, End: 15}}
	var got []evalkit.Parted
	e := env(t)
	e.Embedder = firstWord{words{256}, &got, nil}
	for _, spec := range []string{"dense", "hybrid(fusion=rrf(lexical=0))"} {
		got = nil
		hits, err := index(t, spec, e, append(b, a...)).Retrieve(t.Context(), query("ice"), 2)
		require.NoError(t, err)
		assert.Equal(t, []string{"b#0", "b#1"}, ids(hits), "by a word that only the first chunk holds")
		assert.Equal(t, []evalkit.Parted{
			{Text: "sea  calm", Parts: []evalkit.Span{{Start: 0, End: 3}, {Start: 5, End: 9}}},
			{Text: "ice drifts past", Parts: []evalkit.Span{{Start: 0, End: 10}, {Start: 4, End: 10}, {Start: 11, End: 15}}},
		}, got)
	}
}

func TestDenseTakesContextInBatches(t *testing.T) {
	var chunks []evalkit.Chunk
	for doc := range 3 {
		for i := range 700 {
			chunks = append(chunks, evalkit.Chunk{Doc: evalkit.DocID("abc"[doc : doc+1]), Index: i, Span: evalkit.Span{Start: 4 * i, End: 4*i + 3}, Text: []string{"sea", "ice", "dry"}[doc]})
		}
	}
	var got []evalkit.Parted
	e := env(t)
	e.Embedder = firstWord{words{256}, &got, nil}
	hits, err := index(t, "dense", e, chunks).Retrieve(t.Context(), query("dry"), 700)
	require.NoError(t, err)
	require.Len(t, got, 3)
	assert.Equal(t, evalkit.ChunkID{Doc: "c", Index: 699}, hits[699].Chunk.ID())
	assert.InDelta(t, 1, hits[699].Score, 1e-6)
	e.Embedder = firstWord{words{256}, &got, errors.New("model gone")}
	_, err = retrieve.Dense{Embedder: e.Embedder}.Index(t.Context(), chunks)
	assert.ErrorContains(t, err, "model gone")
}
