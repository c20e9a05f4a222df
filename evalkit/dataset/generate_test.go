package dataset_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/dataset"
)

func TestGenerate(t *testing.T) {
	opt := dataset.GenerateOptions{Seed: 7, Documents: 10, Questions: 200, Bytes: 300_000}
	ds, err := dataset.Generate(opt)
	require.NoError(t, err)
	require.Len(t, ds.Docs, 10)
	require.Len(t, ds.Queries, 200)
	assert.Empty(t, ds.Warnings)

	size := 0
	for _, d := range ds.Docs {
		size += len(d.Text)
		assert.NotEqual(t, len(d.Text), len([]rune(d.Text)), "bytes and code points differ")
	}
	assert.InDelta(t, opt.Bytes, size, 10*3000)

	docs := ds.DocMap()
	seen := map[string]int{}
	for _, q := range ds.Queries {
		if q.Unanswerable {
			seen["unanswerable"]++
			name := q.Text[strings.LastIndex(q.Text, " ")+1 : len(q.Text)-1]
			for _, d := range ds.Docs {
				assert.NotContains(t, d.Text, name)
			}
			continue
		}
		seen[kindOf(docs, q)]++
		for i, r := range q.Qrels {
			passage := docs[r.Doc].Text[r.Span.Start:r.Span.End]
			assert.Equal(t, 1, strings.Count(docs[r.Doc].Text, passage))
			value, cause, _ := strings.Cut(q.Answer, ", ")
			assert.Contains(t, passage, []string{value, cause}[i])
		}
	}
	assert.Equal(t, map[string]int{"sentence": 60, "straddling": 40, "several": 40, "table": 40, "unanswerable": 20}, seen)
}

func kindOf(docs map[evalkit.DocID]evalkit.Document, q evalkit.Query) string {
	r := q.Qrels[0]
	passage := docs[r.Doc].Text[r.Span.Start:r.Span.End]
	switch {
	case len(q.Qrels) > 1:
		return "several"
	case strings.Contains(passage, "\n\n"):
		return "straddling"
	case strings.HasPrefix(passage, "|"):
		return "table"
	}
	return "sentence"
}

func TestGenerateIsDeterministic(t *testing.T) {
	opt := dataset.GenerateOptions{Seed: 7, Documents: 4, Questions: 30, Bytes: 40_000}
	a, err := dataset.Generate(opt)
	require.NoError(t, err)
	b, err := dataset.Generate(opt)
	require.NoError(t, err)
	assert.Equal(t, a, b)
	opt.Seed = 8
	c, err := dataset.Generate(opt)
	require.NoError(t, err)
	assert.NotEqual(t, a.Fingerprint, c.Fingerprint)

	dir := filepath.Join(t.TempDir(), "out")
	require.NoError(t, dataset.Write(dir, a))
	back, err := dataset.Load(dir)
	require.NoError(t, err)
	assert.Equal(t, a, back)
}

func TestGenerateExtremes(t *testing.T) {
	ds, err := dataset.Generate(dataset.GenerateOptions{Documents: 3, Questions: 1})
	require.NoError(t, err)
	assert.Len(t, ds.Docs, 3)
	ds, err = dataset.Generate(dataset.GenerateOptions{Documents: 1, Questions: 50})
	require.NoError(t, err)
	assert.Len(t, ds.Queries, 50)
	for _, opt := range []dataset.GenerateOptions{{Questions: 1}, {Documents: 1}, {Documents: 1, Questions: 1, Bytes: -1}} {
		_, err := dataset.Generate(opt)
		assert.Error(t, err)
	}
}

// Loading must take time in proportion to the size: compare the two sizes.
func BenchmarkLoad(b *testing.B) {
	for _, c := range []struct {
		name string
		opt  dataset.GenerateOptions
	}{
		{"1MB", dataset.GenerateOptions{Documents: 10, Questions: 500, Bytes: 1e6}},
		{"10MB", dataset.GenerateOptions{Documents: 10, Questions: 5000, Bytes: 1e7}},
	} {
		b.Run(c.name, func(b *testing.B) {
			ds, err := dataset.Generate(c.opt)
			require.NoError(b, err)
			dir := filepath.Join(b.TempDir(), "out")
			require.NoError(b, dataset.Write(dir, ds))
			b.SetBytes(int64(c.opt.Bytes))
			for b.Loop() {
				if _, err := dataset.Load(dir); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkGenerate(b *testing.B) {
	opt := dataset.GenerateOptions{Documents: 10, Questions: 500, Bytes: 1e6}
	b.SetBytes(int64(opt.Bytes))
	for b.Loop() {
		if _, err := dataset.Generate(opt); err != nil {
			b.Fatal(err)
		}
	}
}
