package retrieve_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/retrieve"
)

func specs() []string {
	return []string{
		"bm25", "bm25(k1=0)", "bm25(k1=2,b=0)", "bleve", "dense", "oracle", "hybrid", "hybrid(depth=3)",
		"hybrid(lexical=bleve)", "hybrid(fusion=weighted)", "hybrid(fusion=weighted(scale=zscore,dense=0.3))",
	}
}

func TestConformance(t *testing.T) {
	for _, spec := range specs() {
		t.Run(spec, func(t *testing.T) {
			x, err := retrieve.Parse(spec, env(t))
			require.NoError(t, err)
			require.NoError(t, retrieve.Check(t.Context(), x, library(), libraryQueries()))
			require.NoError(t, retrieve.Check(t.Context(), x, nil, libraryQueries()), "an empty index finds nothing")
		})
	}
}

// broken answers with what a wrong retriever would.
type broken struct {
	chunks []evalkit.Chunk
	wrong  func(hits []evalkit.Hit, k int) []evalkit.Hit
}

func (b broken) String() string { return "broken" }

func (b broken) Index(_ context.Context, chunks []evalkit.Chunk) (evalkit.Retriever, error) {
	return broken{chunks, b.wrong}, nil
}

func (b broken) Retrieve(_ context.Context, _ evalkit.Query, k int) ([]evalkit.Hit, error) {
	if k < 1 {
		return nil, fmt.Errorf("k is %d", k)
	}
	var hits []evalkit.Hit
	for i, c := range b.chunks[:min(k, len(b.chunks))] {
		hits = append(hits, evalkit.Hit{Chunk: c, Rank: i + 1, Score: 1 / float64(i+1)})
	}
	return b.wrong(hits, k), nil
}

func TestCheckFindsBreaches(t *testing.T) {
	chunks := []evalkit.Chunk{chunk("a", "x"), chunk("b", "y"), chunk("c", "z")}
	for name, tc := range map[string]struct {
		want  string
		wrong func(hits []evalkit.Hit, k int) []evalkit.Hit
	}{
		"order of indexing": {"indexed in another order", func(h []evalkit.Hit, _ int) []evalkit.Hit { return h }},
		"rank":              {"has rank 0", func(h []evalkit.Hit, _ int) []evalkit.Hit { h[0].Rank = 0; return h }},
		"twice":             {"comes twice", func(h []evalkit.Hit, _ int) []evalkit.Hit { h[len(h)-1].Chunk = h[0].Chunk; return h }},
		"tie":               {"out of order", func(h []evalkit.Hit, _ int) []evalkit.Hit { h[0].Score = -1; return h }},
		"text":              {"not the one", func(h []evalkit.Hit, _ int) []evalkit.Hit { h[0].Chunk.Text = "w"; return h }},
		"cut":               {"not the start", func(h []evalkit.Hit, k int) []evalkit.Hit { return h[:min(len(h), max(1, k-1))] }},
	} {
		t.Run(name, func(t *testing.T) {
			assert.ErrorContains(t, retrieve.Check(t.Context(), broken{wrong: tc.wrong}, chunks, []evalkit.Query{query("q")}), tc.want)
		})
	}
}

// Ten identical chunks rank by document, then chunk_index, in every engine and
// at every cut.
func TestHO_HF_02_TiesAreInAFixedOrder(t *testing.T) {
	var chunks []evalkit.Chunk
	for i := range 10 {
		c := chunk(fmt.Sprintf("doc%d", i/4), "the same river again")
		c.Index = i % 4
		chunks = append(chunks, c)
	}
	want := ids(hitsOf(chunks))
	q := query("river again")
	q.Qrels = []evalkit.Qrel{{Doc: "doc0", Span: evalkit.Span{End: 4}, Grade: 1}}
	for _, spec := range specs() {
		t.Run(spec, func(t *testing.T) {
			x, err := retrieve.Parse(spec, env(t))
			require.NoError(t, err)
			require.NoError(t, retrieve.Check(t.Context(), x, chunks, []evalkit.Query{q}))
			r := index(t, spec, env(t), chunks)
			full := want
			switch {
			case spec == "oracle":
				full = want[:4] // the other documents have no gold
			case strings.Contains(spec, "depth=3"):
				full = want[:3] // both legs cut the ten at the same place
			}
			for run := range 100 {
				hits, err := r.Retrieve(t.Context(), q, 1+run%10)
				require.NoError(t, err)
				require.Equal(t, full[:min(len(full), 1+run%10)], ids(hits))
			}
		})
	}
}

func hitsOf(chunks []evalkit.Chunk) []evalkit.Hit {
	var hits []evalkit.Hit
	for i, c := range chunks {
		hits = append(hits, evalkit.Hit{Chunk: c, Rank: i + 1})
	}
	return hits
}

// Indexes are in memory: two over the same chunks, or two processes, cannot
// meet. The same chunks twice, and a duplicate, are told apart.
func TestHO_RUN_05_IndexesCoexist(t *testing.T) {
	for _, spec := range specs() {
		first, second := index(t, spec, env(t), library()), index(t, spec, env(t), library())
		want, err := first.Retrieve(t.Context(), libraryQueries()[0], 20)
		require.NoError(t, err)
		require.NotEmpty(t, want, spec)
		require.NoError(t, first.Close())
		require.NoError(t, first.Close(), "a second Close does nothing")
		got, err := second.Retrieve(t.Context(), libraryQueries()[0], 20)
		require.NoError(t, err)
		assert.Equal(t, want, got, spec)
	}
}

func TestDuplicateChunkIsRefused(t *testing.T) {
	x, err := retrieve.Parse("bm25", env(t))
	require.NoError(t, err)
	_, err = x.Index(t.Context(), []evalkit.Chunk{chunk("a", "x"), chunk("b", "y"), chunk("a", "z")})
	assert.ErrorContains(t, err, "chunk a#0: given twice")
}

func TestIndexStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, spec := range []string{"bm25", "bleve", "hybrid"} {
		x, err := retrieve.Parse(spec, env(t))
		require.NoError(t, err)
		_, err = x.Index(ctx, library())
		assert.ErrorIs(t, err, context.Canceled, spec)
	}
}
