package retrieve_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/retrieve"
)

// words is an embedder that counts words, for tests.
type words struct{ dim int }

func (w words) String() string { return fmt.Sprintf("words(dim=%d)", w.dim) }

func (w words) Embed(_ context.Context, _ evalkit.TextKind, texts []string) (evalkit.Vectors, error) {
	v := evalkit.Vectors{Dim: w.dim, Data: make([]float32, len(texts)*w.dim)}
	for i, text := range texts {
		row, sum := v.Row(i), 0.0
		for f := range strings.FieldsSeq(strings.ToLower(text)) {
			h := fnv.New32a()
			h.Write([]byte(f))
			row[h.Sum32()%uint32(w.dim)]++
		}
		for _, x := range row {
			sum += float64(x * x)
		}
		for j := range row {
			if sum > 0 {
				row[j] = float32(float64(row[j]) / math.Sqrt(sum))
			}
		}
	}
	return v, nil
}

// table is an embedder that knows a few texts, and has the size of its first row.
type table struct {
	name string
	rows map[string][]float32
	dims map[evalkit.TextKind]int
}

func (t table) String() string { return t.name }

func (t table) Embed(_ context.Context, kind evalkit.TextKind, texts []string) (evalkit.Vectors, error) {
	v := evalkit.Vectors{Dim: t.dims[kind]}
	for _, text := range texts {
		row := make([]float32, v.Dim)
		copy(row, t.rows[text])
		v.Data = append(v.Data, row...)
	}
	return v, nil
}

// chunk is a chunk that is a whole document.
func chunk(doc, text string) evalkit.Chunk {
	return evalkit.Chunk{Doc: evalkit.DocID(doc), Span: evalkit.Span{End: len(text)}, Text: text}
}

func query(text string) evalkit.Query { return evalkit.Query{ID: "q", Text: text} }

func english(t testing.TB) evalkit.Analyzer {
	t.Helper()
	a, err := retrieve.NewAnalyzer("en")
	require.NoError(t, err)
	return a
}

func env(t testing.TB) retrieve.Env { return retrieve.Env{Analyzer: english(t), Embedder: words{64}} }

func index(t testing.TB, spec string, env retrieve.Env, chunks []evalkit.Chunk) retrieve.Index {
	t.Helper()
	x, err := retrieve.Parse(spec, env)
	require.NoError(t, err)
	r, err := x.Index(t.Context(), chunks)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.(retrieve.Index).Close()) })
	return r.(retrieve.Index)
}

func ids(hits []evalkit.Hit) []string {
	out := []string{}
	for _, h := range hits {
		out = append(out, h.Chunk.ID().String())
	}
	return out
}

// library is a small corpus: three documents, some chunks alike, some with units.
func library() []evalkit.Chunk {
	var chunks []evalkit.Chunk
	for d, text := range map[string]string{
		"a": "The river floods in spring. The old bridge was closed. A ferry crosses the river twice a day.",
		"b": "Bridges need paint. The river floods in spring. Paint keeps rust away from an old bridge.",
		"c": "Rust never sleeps. Ferries rust too. The river is cold. Spring comes late. The river floods in spring.",
	} {
		start := 0
		for i, s := range strings.SplitAfter(text, ". ") {
			c := evalkit.Chunk{Doc: evalkit.DocID(d), Index: i, Span: evalkit.Span{Start: start, End: start + len(s)}, Text: s}
			if d == "c" {
				half := start + len(s)/2
				c.Units = []evalkit.Span{{Start: start, End: half}, {Start: half, End: start + len(s)}}
			}
			chunks = append(chunks, c)
			start += len(s)
		}
	}
	return chunks
}

func libraryQueries() []evalkit.Query {
	return []evalkit.Query{
		{ID: "1", Text: "river floods spring", Qrels: []evalkit.Qrel{{Doc: "a", Span: evalkit.Span{Start: 4, End: 20}, Grade: 1}, {Doc: "c", Span: evalkit.Span{Start: 30, End: 60}, Grade: 1}}},
		{ID: "2", Text: "an old bridge, an old old bridge"},
		{ID: "3", Text: "about the"},
		{ID: "4", Text: "rust"},
		{ID: "5", Text: ""},
		{ID: "6", Text: "when does the cold ferry cross the old bridge over the river in late spring, and why is paint on rust so cold that nobody sleeps"},
	}
}
