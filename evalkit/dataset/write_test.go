package dataset_test

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/dataset"
)

func small() *evalkit.Dataset {
	return &evalkit.Dataset{
		Name: "small", Language: "en", Licence: "MIT",
		Docs: []evalkit.Document{{ID: "b", Text: "grün & <b>\u2028\r\n"}, {ID: "a", Text: "text"}},
		Queries: []evalkit.Query{
			{ID: "q2", Text: "Which?", Answer: "grün", Qrels: []evalkit.Qrel{
				{Doc: "b", Span: evalkit.Span{Start: 0, End: 5}, Grade: 1}, {Doc: "a", Span: evalkit.Span{Start: 1, End: 4}, Grade: 0.25},
			}},
			{ID: "q1", Text: "Who?", Unanswerable: true},
		},
	}
}

func TestWriteIsReadBack(t *testing.T) {
	ds := small()
	dir := filepath.Join(t.TempDir(), "out")
	require.NoError(t, dataset.Write(dir, ds))
	assert.Equal(t, small(), ds, "the argument is not modified")

	queries, err := os.ReadFile(filepath.Join(dir, "queries.jsonl"))
	require.NoError(t, err)
	assert.Equal(t, `{"id":"q1","question":"Who?","unanswerable":true}
{"id":"q2","question":"Which?","gold":[{"doc":"a","start":1,"end":4,"text":"ext","grade":0.25},{"doc":"b","start":0,"end":5,"text":"grün"}],"answer":"grün"}
`, string(queries))

	back, err := dataset.Load(dir)
	require.NoError(t, err)
	assert.ElementsMatch(t, ds.Docs, back.Docs)
	assert.Equal(t, dataset.Fingerprint(ds), back.Fingerprint)
	assert.Empty(t, back.Warnings)

	require.NoError(t, os.WriteFile(filepath.Join(dir, "documents.jsonl"), []byte("{}"), 0o644))
	_, err = dataset.Load(dir)
	require.ErrorContains(t, err, "documents.jsonl: its SHA-256 is", "a change is noticed")
}

func TestWriteNames(t *testing.T) {
	for _, name := range []string{"null", "2024", "yes", "a: b # c", `"quoted"`, "'x", "- y", "l1\nl2", "ä\u2028\t<&>", "{a}", "*b", "\\u0041"} {
		ds := small()
		ds.Name, ds.Licence, ds.Analyzer = name, name, name
		dir := filepath.Join(t.TempDir(), "out")
		require.NoError(t, dataset.Write(dir, ds))
		back, err := dataset.Load(dir)
		require.NoError(t, err)
		assert.Equal(t, []string{name, name, name}, []string{back.Name, back.Licence, back.Analyzer})
	}
}

func TestWriteRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(ds *evalkit.Dataset)
		want   string
	}{
		{"byte-order mark", func(ds *evalkit.Dataset) { ds.Docs[1].Text = "\ufefftext" }, `document "a": begins with a byte-order mark`},
		{"invalid utf-8", func(ds *evalkit.Dataset) { ds.Docs[1].Text = "text\xff" }, "byte 4: invalid UTF-8"},
		{"invalid question", func(ds *evalkit.Dataset) { ds.Queries[0].Text = "\xff" }, "question or answer: invalid UTF-8"},
		{"invalid id", func(ds *evalkit.Dataset) { ds.Docs[1].ID = "a\xff" }, "invalid UTF-8"},
		{"span", func(ds *evalkit.Dataset) { ds.Queries[0].Qrels[0].Span.End = 3 }, "span [0:3): cuts a character in two"},
		{"grade", func(ds *evalkit.Dataset) { ds.Queries[0].Qrels[0].Grade = math.NaN() }, "grade: NaN is not a finite number"},
		{"ids", func(ds *evalkit.Dataset) { ds.Docs[0].ID = "a" }, `id "a": other text`},
		{"name", func(ds *evalkit.Dataset) { ds.Name = "" }, "name: missing or empty"},
		{"language", func(ds *evalkit.Dataset) { ds.Language = "" }, "language: missing or empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ds := small()
			c.change(ds)
			parent := t.TempDir()
			require.ErrorContains(t, dataset.Write(filepath.Join(parent, "out"), ds), c.want)
			left, err := os.ReadDir(parent)
			require.NoError(t, err)
			assert.Empty(t, left)
		})
	}
	dir := t.TempDir() // it exists
	require.ErrorIs(t, dataset.Write(dir, small()), os.ErrExist)
	left, err := os.ReadDir(filepath.Dir(dir))
	require.NoError(t, err)
	assert.Len(t, left, 1)
}

func TestFingerprint(t *testing.T) {
	want := dataset.Fingerprint(small())
	assert.Len(t, want, 64)

	same := small()
	slices.Reverse(same.Docs)
	slices.Reverse(same.Queries)
	slices.Reverse(same.Queries[1].Qrels)
	same.Name, same.Licence = "other", "other"
	assert.Equal(t, want, dataset.Fingerprint(same))

	inFiles, err := dataset.Load(folder(t, map[string]string{
		"documents/b.md": "b text", "documents/a.md": "a text", "queries.jsonl": `{"id":"q","question":"Q?","gold":[{"doc":"b.md","quote":"b"}]}`,
	}))
	require.NoError(t, err)
	inLines, err := dataset.Load(folder(t, map[string]string{
		"documents.jsonl": `{"text":"b text","id":"b.md"}` + "\n" + `{"id":"a.md","text":"a text"}`,
		"queries.jsonl":   `{"question":"Q?","gold":[{"doc":"b.md","start":0,"end":1}],"id":"q"}`,
	}))
	require.NoError(t, err)
	assert.Equal(t, inFiles.Fingerprint, inLines.Fingerprint)
	assert.Equal(t, inFiles.Docs, inLines.Docs)

	for name, change := range map[string]func(ds *evalkit.Dataset){
		"text":     func(ds *evalkit.Dataset) { ds.Docs[0].Text += " " },
		"id":       func(ds *evalkit.Dataset) { ds.Docs[0].ID = "c" },
		"question": func(ds *evalkit.Dataset) { ds.Queries[0].Text = "Why?" },
		"answer":   func(ds *evalkit.Dataset) { ds.Queries[0].Answer = "" },
		"span":     func(ds *evalkit.Dataset) { ds.Queries[0].Qrels[0].Span.End = 4 },
		"grade":    func(ds *evalkit.Dataset) { ds.Queries[0].Qrels[0].Grade = 2 },
		"mark":     func(ds *evalkit.Dataset) { ds.Queries[1].Unanswerable = false },
		"fields":   func(ds *evalkit.Dataset) { ds.Docs[1].ID, ds.Docs[1].Text = "at", "ext" },
	} {
		ds := small()
		change(ds)
		assert.NotEqual(t, want, dataset.Fingerprint(ds), name)
	}
}
