package dataset_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/dataset"
)

func TestHO_CLI_04_LongLines(t *testing.T) {
	var docs strings.Builder
	add := func(id, text, end string) { fmt.Fprintf(&docs, `{"id":"%s","text":"%s"}%s`, id, text, end) }
	add("d00", strings.Repeat("a", 70<<10), "\n\n")
	add("d01", strings.Repeat("b", 12<<20), "\r\n \r\n")
	for i := range 10 {
		add(fmt.Sprintf("d%02d", i+2), "short", map[bool]string{true: "", false: "\r\n"}[i == 9])
	}
	ds, err := dataset.Load(folder(t, map[string]string{
		"documents.jsonl": docs.String(),
		"queries.jsonl":   "\ufeff" + `{"id":"q","question":"Q?","gold":[{"doc":"d01","start":12582911,"end":12582912,"text":"b"}]}`,
	}))
	require.NoError(t, err)
	require.Len(t, ds.Docs, 12)
	assert.Len(t, ds.Docs[0].Text, 70<<10)
	assert.Len(t, ds.Docs[1].Text, 12<<20)
	assert.Equal(t, evalkit.Document{ID: "d11", Text: "short"}, ds.Docs[11])
}

func TestHO_CLI_05_Duplicates(t *testing.T) {
	const docs = `{"id":"d7","text":"seven"}` + "\n" + `{"id":"d8","text":"eight"}` + "\n"
	const q3 = `{"id":"q3","question":"Q?","gold":[{"doc":"d7","start":0,"end":5}]}` + "\n"
	load := func(docs, queries string) (*evalkit.Dataset, error) {
		return dataset.Load(folder(t, map[string]string{"documents.jsonl": docs, "queries.jsonl": queries}))
	}
	t.Run("exact repeats are dropped and counted", func(t *testing.T) {
		ds, err := load(docs+docs, q3+
			`{"id":"q3","question":"Q?","gold":[{"doc":"d7","quote":"seven"}]}`+"\n"+
			`{"id":"q4","question":"Q?","gold":[{"doc":"d8","start":0,"end":2},{"doc":"d8","start":0,"end":2}]}`)
		require.NoError(t, err)
		assert.Len(t, ds.Docs, 2)
		require.Len(t, ds.Queries, 2)
		assert.Len(t, ds.Queries[1].Qrels, 1)
		assert.Equal(t, []string{
			`2 exact repeats of a document were dropped: "d7", "d8"`,
			`1 exact repeats of a query were dropped: "q3"`,
			`1 exact repeats of a gold passage were dropped: query "q4"`,
		}, warnings(ds))
	})
	t.Run("other text under one id", func(t *testing.T) {
		_, err := load(docs+`{"id":"d7","text":"other"}`, q3)
		require.ErrorContains(t, err, `documents.jsonl:3: id "d7": other text than the document with this id before (line 1)`)
	})
	t.Run("other query under one id", func(t *testing.T) {
		_, err := load(docs, q3+"\n"+`{"id":"q3","question":"Q?"}`)
		require.ErrorContains(t, err, `queries.jsonl:3: id "q3": other content than the query with this id before (line 1)`)
	})
	t.Run("gold in unknown documents is listed", func(t *testing.T) {
		_, err := load(docs, q3+`{"id":"q4","question":"Q?","gold":[{"doc":"d9","start":0,"end":2},{"doc":"d1","quote":"x"}]}`)
		require.ErrorContains(t, err, `queries.jsonl:2: gold 1: document "d9": not in the data set`)
		require.ErrorContains(t, err, `queries.jsonl:2: gold 2: document "d1": not in the data set`)
	})
}

func TestHO_ME_10_MissingIDs(t *testing.T) {
	const doc, query = `{"id":"d","text":"text"}`, `{"id":"q","question":"Q?"}`
	for _, c := range []struct{ name, docs, queries, want string }{
		{"gold id empty", doc, query + "\n" + `{"id":"r","question":"Q?","gold":[{"doc":"","start":0,"end":1}]}`, "queries.jsonl:2: gold 1: doc: missing or empty"},
		{"gold id absent", doc, query + "\n" + `{"id":"r","question":"Q?","gold":[{"start":0,"end":1}]}`, "queries.jsonl:2: gold 1: doc: missing or empty"},
		{"gold id null", doc, `{"id":"r","question":"Q?","gold":[{"doc":null,"start":0,"end":1}]}`, "queries.jsonl:1: gold 1: doc: missing or empty"},
		{"query id empty", doc, `{"id":" ","question":"Q?"}`, "queries.jsonl:1: id: missing or empty"},
		{"query id absent", doc, `{"question":"Q?"}`, "queries.jsonl:1: id: missing or empty"},
		{"document id empty", doc + "\n" + `{"id":"","text":"x"}`, query, "documents.jsonl:2: id: missing or empty"},
		{"document id absent", doc + "\n" + `{"text":"x"}`, query, "documents.jsonl:2: id: missing or empty"},
		{"document id null", `{"id":null,"text":"x"}`, query, "documents.jsonl:1: id: missing or empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := dataset.Load(folder(t, map[string]string{"documents.jsonl": c.docs, "queries.jsonl": c.queries}))
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestHO_HF_07_EmptyQuestion(t *testing.T) {
	for _, question := range []string{`""`, `"  \n"`, `"\ufeff"`, `null`} {
		_, err := dataset.Load(folder(t, map[string]string{
			"documents/a.md": "text",
			"queries.jsonl":  `{"id":"q1","question":"about the"}` + "\n" + `{"id":"q2","question":` + question + `}`,
		}))
		require.ErrorContains(t, err, "queries.jsonl:2: question: missing or empty", question)
	}
}

func TestHO_ME_03_EmptyGold(t *testing.T) {
	load := func(queries string) (*evalkit.Dataset, error) {
		return dataset.Load(folder(t, map[string]string{"documents/a.md": "text", "queries.jsonl": queries}))
	}
	const gold = `,"gold":[{"doc":"a.md","start":0,"end":1}]}` + "\n"
	ds, err := load(`{"id":"q1","question":"Q?"` + gold + `{"id":"q2","question":"Q?"` + gold + `{"id":"q3","question":"Q?","gold":[]}`)
	require.NoError(t, err)
	assert.Len(t, ds.Queries, 3)
	assert.Equal(t, []string{`1 queries have no gold and are not marked unanswerable: they count in no mean: "q3"`}, warnings(ds))
	_, err = load("\n")
	require.ErrorContains(t, err, "no questions")
}

func TestHO_ME_11_NegativeGrade(t *testing.T) {
	ds, err := dataset.Load(folder(t, map[string]string{
		"documents/a.md": "A and B", "documents/b.md": "text",
		"queries.jsonl": `{"id":"q","question":"Q?","gold":[{"doc":"a.md","quote":"A","grade":3},{"doc":"a.md","quote":"B","grade":-0.5},{"doc":"b.md","quote":"text","grade":0}]}`,
	}))
	require.NoError(t, err)
	assert.Len(t, ds.Queries[0].Qrels, 3)
	assert.Equal(t, map[evalkit.DocID][]evalkit.Span{"a.md": {{Start: 0, End: 1}}}, ds.Queries[0].Gold(), "judged not relevant is not gold")
}

func TestHO_CH_09_ByteOrderMark(t *testing.T) {
	const text = "# Alpha\ntext\n## Beta\nmore"
	queries := `{"id":"q","question":"Q?","gold":[{"doc":"a.md","start":2,"end":7,"text":"Alpha"},{"doc":"a.md","quote":"more"}]}`
	for name, files := range map[string]map[string]string{
		"file":  {"documents/a.md": "\ufeff" + text, "queries.jsonl": queries},
		"jsonl": {"documents.jsonl": `{"id":"a.md","text":"\ufeff# Alpha\ntext\n## Beta\nmore"}`, "queries.jsonl": queries},
		"runes": {"documents/a.md": "\ufeff" + text, "queries.jsonl": queries, "dataset.yaml": "\ufeff" + head + "offsets: rune\n"},
	} {
		t.Run(name, func(t *testing.T) {
			ds, err := dataset.Load(folder(t, files))
			require.NoError(t, err)
			assert.Equal(t, text, ds.Docs[0].Text)
			assert.Equal(t, evalkit.Span{Start: 2, End: 7}, ds.Queries[0].Qrels[0].Span)
			assert.Equal(t, evalkit.Span{Start: 21, End: 25}, ds.Queries[0].Qrels[1].Span)
		})
	}
}

func TestHO_SEC_01_IDsAreData(t *testing.T) {
	ids := []string{
		"../outside", "/abs", "a/../../b", `C:\x`, "..", "con", "nul\x00byte", strings.Repeat("n", 300), "\u00c4", "A\u0308", "line\nend", ".",
	}
	ds := &evalkit.Dataset{Name: "../../name", Language: "en", Licence: "../x"}
	for _, id := range ids {
		ds.Docs = append(ds.Docs, evalkit.Document{ID: evalkit.DocID(id), Text: "text of " + id})
		ds.Queries = append(ds.Queries, evalkit.Query{ID: evalkit.QueryID(id), Text: "Q?", Qrels: []evalkit.Qrel{{Doc: evalkit.DocID(id), Span: evalkit.Span{End: 4}, Grade: 1}}})
	}
	parent := t.TempDir()
	dir := filepath.Join(parent, "in", "out")
	require.NoError(t, dataset.Write(dir, ds))

	var written []string
	require.NoError(t, filepath.WalkDir(parent, func(name string, _ os.DirEntry, err error) error {
		name, _ = filepath.Rel(parent, name)
		written = append(written, filepath.ToSlash(name))
		return err
	}))
	assert.Equal(t, []string{
		".", "in", "in/out", "in/out/SHA256SUMS", "in/out/dataset.yaml", "in/out/documents.jsonl", "in/out/queries.jsonl",
	}, written)
	back, err := dataset.Load(dir)
	require.NoError(t, err)
	assert.Equal(t, "../../name", back.Name)
	assert.Len(t, back.Docs, len(ids))
	assert.ElementsMatch(t, ds.Docs, back.Docs)
	assert.ElementsMatch(t, ds.Queries, back.Queries)
	assert.Equal(t, dataset.Fingerprint(ds), back.Fingerprint)
}

func TestHO_SEC_03_Archives(t *testing.T) {
	var zipped, tarred, packed bytes.Buffer
	z := zip.NewWriter(&zipped)
	_, err := z.Create("../evil.txt")
	require.NoError(t, err)
	require.NoError(t, z.Close())
	tw := tar.NewWriter(&tarred)
	require.NoError(t, tw.WriteHeader(&tar.Header{Name: "/evil.txt", Format: tar.FormatUSTAR}))
	require.NoError(t, tw.Close())
	g := gzip.NewWriter(&packed)
	_, err = g.Write(make([]byte, 1<<20))
	require.NoError(t, err)
	require.NoError(t, g.Close())

	const want = "archives are not read: unpack it"
	for name, content := range map[string][]byte{
		"a.zip": zipped.Bytes(), "b.tar.gz": packed.Bytes(), "c.gz": packed.Bytes(), "d.tar": tarred.Bytes(),
		"zip named.json": zipped.Bytes(), "tar named.json": tarred.Bytes(), "gz named.json": packed.Bytes(), "empty.zst": nil,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			src := filepath.Join(dir, name)
			require.NoError(t, os.WriteFile(src, content, 0o644))
			_, err := dataset.Load(src)
			require.ErrorContains(t, err, want)
			for _, format := range dataset.Formats() {
				_, err := dataset.Import(format, src, filepath.Join(dir, "out"), dataset.ImportOptions{})
				require.ErrorContains(t, err, want)
			}
			left, err := os.ReadDir(dir)
			require.NoError(t, err)
			assert.Len(t, left, 1, "nothing is unpacked")
		})
	}
	t.Run("among documents", func(t *testing.T) {
		_, err := dataset.Load(folder(t, map[string]string{"documents/a.zip": zipped.String(), "documents/b.md": "b", "queries.jsonl": `{"id":"q","question":"Q?"}`}))
		require.ErrorContains(t, err, "documents/a.zip: "+want)
	})
	t.Run("in place of documents", func(t *testing.T) {
		_, err := dataset.Load(folder(t, map[string]string{"documents.jsonl.gz": packed.String(), "queries.jsonl": `{"id":"q","question":"Q?"}`}))
		require.ErrorContains(t, err, `"documents.jsonl.gz" are not read`)
	})
}
