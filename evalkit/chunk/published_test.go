package chunk_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/chunk"
	"github.com/chunkeval/chunkeval/evalkit/dataset"
	"github.com/chunkeval/chunkeval/evalkit/metric"
	"github.com/chunkeval/chunkeval/evalkit/token"
)

// chroma loads the corpora of the Chroma report, which are not part of the
// project.
func chroma(t testing.TB) (*evalkit.Dataset, string) {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "shared", "data", "chroma")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the Chroma corpora are not beside the checkout")
	}
	ds, err := dataset.Import("chroma", dir, "", dataset.ImportOptions{})
	require.NoError(t, err)
	return ds, dir
}

func cut(t testing.TB, strategy string, ds *evalkit.Dataset) map[evalkit.DocID][]evalkit.Chunk {
	t.Helper()
	tok, err := token.Parse("cl100k")
	require.NoError(t, err)
	s, err := chunk.Parse(strategy, chunk.Env{Tokenizer: tok})
	require.NoError(t, err)
	out := map[evalkit.DocID][]evalkit.Chunk{}
	for _, d := range ds.Docs {
		out[d.ID], err = s.Split(t.Context(), d)
		require.NoError(t, err)
	}
	return out
}

// placed moves chunks to where the report's code finds them.
func placed(ds *evalkit.Dataset, chunks map[evalkit.DocID][]evalkit.Chunk) map[evalkit.DocID][]evalkit.Chunk {
	out := map[evalkit.DocID][]evalkit.Chunk{}
	for _, d := range ds.Docs {
		for i, s := range chunk.Published(d, chunks[d.ID]) {
			c := chunks[d.ID][i]
			c.Span, c.Text = s, d.Text[s.Start:s.End]
			out[d.ID] = append(out[d.ID], c)
		}
	}
	return out
}

// omega returns precision_omega of every question, in data set order.
func omega(t testing.TB, ds *evalkit.Dataset, chunks map[evalkit.DocID][]evalkit.Chunk) []float64 {
	t.Helper()
	m, err := metric.Parse("chroma.precision_omega")
	require.NoError(t, err)
	texts := evalkit.NewTexts(ds.Docs, nil)
	out := make([]float64, len(ds.Queries))
	for i, q := range ds.Queries {
		out[i], err = m.Score(&evalkit.Judgments{Query: q, Texts: texts, Chunks: chunks}, evalkit.HitOnly, nil)
		require.NoError(t, err)
	}
	return out
}

// percent returns mean and population standard deviation as the report prints them.
func percent(values []float64) string {
	mean, ss := 0.0, 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		ss += (v - mean) * (v - mean)
	}
	return fmt.Sprintf("%.1f ± %.1f", 100*mean, 100*math.Sqrt(ss/float64(len(values))))
}

// TestPublishedPrecisionOmega recomputes the eight cells that the Chroma report
// publishes (A. Smith, A. Troynikov, "Evaluating chunking strategies", 2024).
func TestPublishedPrecisionOmega(t *testing.T) {
	ds, _ := chroma(t)
	for _, c := range []struct{ strategy, want string }{
		{"recursive(size=800,overlap=400)", "6.7 ± 5.2"},
		{"recursive(size=400,overlap=200)", "13.9 ± 10.4"},
		{"recursive(size=400)", "17.7 ± 14.0"},
		{"recursive(size=200)", "29.9 ± 18.4"},
		{"fixed_size(size=800,overlap=400,trim=false)", "4.7 ± 3.1"},
		{"fixed_size(size=400,overlap=200,trim=false)", "8.4 ± 5.1"},
		{"fixed_size(size=400,trim=false)", "12.5 ± 8.1"},
		{"fixed_size(size=200,trim=false)", "21.0 ± 11.9"},
	} {
		chunks := cut(t, c.strategy, ds)
		got := percent(omega(t, ds, placed(ds, chunks)))
		t.Logf("%-46s published %s, ours %s, at true places %s", c.strategy, c.want, got, percent(omega(t, ds, chunks)))
		assert.Equal(t, c.want, got, c.strategy)
	}
}

// TestGoldenSpans compares spans and values, question by question, with what
// the report's own code gives.
func TestGoldenSpans(t *testing.T) {
	ds, dir := chroma(t)
	for file, strategy := range map[string]string{"Recursive_cl100k_200_0.json": "recursive(size=200)", "TokenText_400_0.json": "fixed_size(size=400,trim=false)"} {
		b, err := os.ReadFile(filepath.Join(dir, "golden", file))
		require.NoError(t, err)
		var want struct {
			Spans map[evalkit.DocID][][2]int
			Omega []float64 `json:"omega_per_question"`
		}
		require.NoError(t, json.Unmarshal(b, &want))
		chunks := placed(ds, cut(t, strategy, ds))
		for _, d := range ds.Docs {
			got := [][2]int{}
			for _, c := range chunks[d.ID] {
				start := utf8.RuneCountInString(d.Text[:c.Span.Start])
				got = append(got, [2]int{start, start + utf8.RuneCountInString(c.Text)})
			}
			assert.Equal(t, want.Spans[d.ID], got, "%s %s", strategy, d.ID)
		}
		got := omega(t, ds, chunks)
		require.Len(t, got, len(want.Omega))
		for i := range got {
			assert.InDelta(t, want.Omega[i], got[i], 1e-9, "%s question %d", strategy, i)
		}
	}
}

func BenchmarkFinance(b *testing.B) {
	ds, _ := chroma(b)
	tok, err := token.Parse("cl100k")
	require.NoError(b, err)
	doc := ds.DocMap()["finance"]
	for _, strategy := range []string{"fixed_size(size=200)", "recursive(size=200)", "sentence(size=200)", "markdown(size=200)"} {
		s, err := chunk.Parse(strategy, chunk.Env{Tokenizer: tok})
		require.NoError(b, err)
		b.Run(strategy, func(b *testing.B) {
			b.SetBytes(int64(len(doc.Text)))
			for b.Loop() {
				if _, err := s.Split(b.Context(), doc); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
