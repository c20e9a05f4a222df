package retrieve_test

import (
	"encoding/csv"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/retrieve"
)

// corpora returns the chroma corpora in windows of about size bytes, and their
// questions. It skips where they are not beside the checkout.
func corpora(t testing.TB, size int) (chunks []evalkit.Chunk, queries []evalkit.Query) {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "shared", "data", "chroma")
	f, err := os.Open(filepath.Join(dir, "questions_df.csv"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the chroma corpora are not beside the checkout")
	}
	require.NoError(t, err)
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	at := slices.Index(records[0], "question")
	for i, r := range records[1:] {
		queries = append(queries, evalkit.Query{ID: evalkit.QueryID(strconv.Itoa(i)), Text: r[at]})
	}
	names, err := filepath.Glob(filepath.Join(dir, "corpora", "*.md"))
	require.NoError(t, err)
	for _, name := range names {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		doc := evalkit.DocID(filepath.Base(name))
		for start, i := 0, 0; start < len(text); i++ {
			end := min(start+size, len(text))
			for end < len(text) && text[end]&0xC0 == 0x80 {
				end++
			}
			chunks = append(chunks, evalkit.Chunk{Doc: doc, Index: i, Span: evalkit.Span{Start: start, End: end}, Text: string(text[start:end])})
			start = end
		}
	}
	return chunks, queries
}

// Questions of many terms over a real corpus keep the rules too: to the last
// bit, whatever the order of indexing.
func TestConformanceOnChroma(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	chunks, all := corpora(t, 1200)
	var queries []evalkit.Query
	for i := 0; i < len(all); i += 6 {
		queries = append(queries, all[i])
	}
	for _, spec := range []string{"hybrid(fusion=weighted)", "bleve"} {
		t.Run(spec, func(t *testing.T) {
			x, err := retrieve.Parse(spec, retrieve.Env{Analyzer: english(t), Embedder: words{512}})
			require.NoError(t, err)
			require.NoError(t, retrieve.Check(t.Context(), x, chunks, queries))
		})
	}
}

func BenchmarkIndex(b *testing.B) {
	chunks, _ := corpora(b, 400)
	for _, spec := range []string{"bm25", "bleve"} {
		b.Run(spec, func(b *testing.B) {
			for b.Loop() {
				index(b, spec, env(b), chunks)
			}
			b.ReportMetric(float64(len(chunks)), "chunks")
		})
	}
}

func BenchmarkRetrieve(b *testing.B) {
	chunks, queries := corpora(b, 400)
	for _, spec := range []string{"bm25", "bleve", "dense", "hybrid"} {
		b.Run(spec, func(b *testing.B) {
			r := index(b, spec, env(b), chunks)
			for i := 0; b.Loop(); i++ {
				_, err := r.Retrieve(b.Context(), queries[i%len(queries)], 50)
				require.NoError(b, err)
			}
		})
	}
}
