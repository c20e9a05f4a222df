package dataset_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/dataset"
)

func file(t *testing.T, name, content string) string {
	t.Helper()
	name = filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(name, []byte(content), 0o644))
	return name
}

func qrel(doc evalkit.DocID, start, end int, grade float64) evalkit.Qrel {
	return evalkit.Qrel{Doc: doc, Span: evalkit.Span{Start: start, End: end}, Grade: grade}
}

func TestImportSquad(t *testing.T) {
	src := file(t, "set.json", `{"version":"v2.0","data":[
	{"title":"Ä","paragraphs":[
		{"context":"grüne Äpfel","qas":[
			{"id":"1","question":"What?","answers":[{"text":"Äpfel","answer_start":6},{"text":"grüne Äpfel","answer_start":0}],"is_impossible":false},
			{"id":"2","question":"Who?","answers":[],"plausible_answers":[{"text":"x","answer_start":0}],"is_impossible":true}]},
		{"context":"rote Äpfel","qas":[{"id":"3","question":"Which?","answers":[{"text":"Äpfel","answer_start":5},{"text":"Äpfel","answer_start":5}]}]}]},
	{"title":"Ä","paragraphs":[{"context":"x","qas":[]}]}]}`)
	ds, err := dataset.Import("squad", src, "", dataset.ImportOptions{Language: "de", Licence: "CC BY-SA 4.0"})
	require.NoError(t, err)
	assert.Equal(t, "set", ds.Name)
	assert.Equal(t, []evalkit.Document{{ID: "Ä", Text: "grüne Äpfel\n\nrote Äpfel"}, {ID: "Ä#2", Text: "x"}}, ds.Docs)
	assert.Equal(t, []evalkit.Query{
		{ID: "1", Text: "What?", Answer: "Äpfel", Qrels: []evalkit.Qrel{qrel("Ä", 7, 13, 1)}},
		{ID: "2", Text: "Who?", Unanswerable: true},
		{ID: "3", Text: "Which?", Answer: "Äpfel", Qrels: []evalkit.Qrel{qrel("Ä", 20, 26, 1)}},
	}, ds.Queries)
	assert.Equal(t, []string{`1 queries have further answers, which were left out: gold is the first: "1"`}, warnings(ds))

	src = file(t, "wrong.json", `{"data":[{"title":"T","paragraphs":[{"context":"abc","qas":[{"id":"1","question":"Q?","answers":[{"text":"b","answer_start":0}]}]}]}]}`)
	_, err = dataset.Import("squad", src, "", dataset.ImportOptions{})
	require.ErrorContains(t, err, `wrong.json: query "1": gold 1: span [0:1) of document "T" holds "a", not "b"`)
}

func TestImportBeir(t *testing.T) {
	src := folder(t, map[string]string{
		"corpus.jsonl": `{"_id":"d1","title":"Title","text":"Täxt","metadata":{}}` + "\r\n" + `{"_id":"d2","title":"","text":"no title"}` + "\n" + `{"_id":"d3","title":"","text":""}`,
		"queries.jsonl": `{"_id":"q1","text":"One?"}
{"_id":"q2","text":"Two?"}
{"_id":"q3","text":"Three?"}`,
		"qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq1\td3\t1\n",
		"qrels/dev.tsv":  "query-id\tcorpus-id\tscore\nq2\td2\t1\n",
	})
	ds, err := dataset.Import("beir", src, "", dataset.ImportOptions{Name: "b", Language: "en", Licence: "x"})
	require.NoError(t, err)
	assert.Equal(t, "Title\n\nTäxt", ds.Docs[0].Text)
	assert.Equal(t, []evalkit.Query{
		{ID: "q1", Text: "One?", Qrels: []evalkit.Qrel{qrel("d1", 0, 12, 2), qrel("d2", 0, 8, 0)}},
		{ID: "q2", Text: "Two?", Qrels: []evalkit.Qrel{qrel("d2", 0, 8, 1)}},
	}, ds.Queries)
	assert.Equal(t, []string{
		`1 documents are blank: "d3"`,
		`1 judgments of empty documents were left out: "d3"`,
		`1 queries have no judgment in the split and were left out: "q3"`,
	}, warnings(ds))

	ds, err = dataset.Import("beir", src, "", dataset.ImportOptions{Split: "dev"})
	require.NoError(t, err)
	assert.Len(t, ds.Queries, 1)
	_, err = dataset.Import("beir", src, "", dataset.ImportOptions{Split: "train"})
	require.ErrorContains(t, err, "qrels: no file train.tsv")

	require.NoError(t, os.WriteFile(filepath.Join(src, "qrels", "test.tsv"), []byte("query-id\tcorpus-id\tscore\nq1\td9\t1\nq8\td1\t1\nq1\td1\tx\n"), 0o644))
	_, err = dataset.Import("beir", src, "", dataset.ImportOptions{})
	require.ErrorContains(t, err, `qrels/test.tsv:4: score: "x" is not a number`)
	require.ErrorContains(t, err, `queries.jsonl:1: gold 1: document "d9": not in the data set`)
	require.ErrorContains(t, err, `qrels: query "q8": not in queries.jsonl`)
}

func TestImportChroma(t *testing.T) {
	const table = "question,references,corpus_id\n" +
		`"What, now?","[{""content"": ""\u00c4pfel"", ""start_index"": 7, ""end_index"": 12}]",fruit` + "\n"
	src := folder(t, map[string]string{"corpora/fruit.md": "\ufeffgrüne Äpfel", "questions_df.csv": table})
	ds, err := dataset.Import("chroma", src, "", dataset.ImportOptions{})
	require.NoError(t, err)
	assert.Equal(t, "chroma", ds.Name)
	assert.Equal(t, "en", ds.Language)
	assert.Equal(t, "MIT", ds.Licence)
	// The offsets were made with the byte-order mark in the text; it is not stored.
	assert.Equal(t, []evalkit.Query{{ID: "q001", Text: "What, now?", Qrels: []evalkit.Qrel{qrel("fruit", 7, 13, 1)}}}, ds.Queries)

	src = folder(t, map[string]string{"corpora/fruit.md": "x", "questions_df.csv": table})
	_, err = dataset.Import("chroma", src, "", dataset.ImportOptions{})
	require.ErrorContains(t, err, `questions_df.csv:2: gold 1: span [7:12): end after the text of 1 code points (document "fruit")`)
	src = folder(t, map[string]string{"corpora/fruit.md": "x", "questions_df.csv": "question,corpus_id\n"})
	_, err = dataset.Import("chroma", src, "", dataset.ImportOptions{})
	require.ErrorContains(t, err, `questions_df.csv: no column "references" in its first line`)
}

func TestImportSpans(t *testing.T) {
	body := func(offsets string) string {
		return `{"name":"s","language":"de","licence":"L","offsets":"` + offsets + `","docs":[{"id":"d","text":"Ä b"}],
		"questions":[{"id":"q","question":"Q?","kind":"x","spans":[{"doc":"d","start":2,"end":3,"kind":"y","grade":2}]}]}`
	}
	for offsets, start := range map[string]int{"Unicode code points, half-open": 3, "": 3, "bytes": 2} {
		ds, err := dataset.Import("spans-json", file(t, "x.json", body(offsets)), "", dataset.ImportOptions{})
		require.NoError(t, err)
		assert.Equal(t, []string{"s", "de", "L"}, []string{ds.Name, ds.Language, ds.Licence})
		assert.Equal(t, []evalkit.Qrel{qrel("d", start, start+1, 2)}, ds.Queries[0].Qrels)
		assert.Empty(t, ds.Warnings)
	}
	_, err := dataset.Import("spans-json", file(t, "x.json", body("UTF-16")), "", dataset.ImportOptions{})
	require.ErrorContains(t, err, `x.json: offsets: "UTF-16" names neither bytes nor code points`)
	_, err = dataset.Import("spans-json", file(t, "x.json", "{\"docs\":\n["), "", dataset.ImportOptions{})
	require.ErrorContains(t, err, "x.json: byte 10: ")
}

func TestImportRefuses(t *testing.T) {
	_, err := dataset.Import("parquet", "x", "", dataset.ImportOptions{})
	require.ErrorContains(t, err, `import parquet from "x": unknown format: known are beir, chroma, spans-json, squad`)
	for _, format := range dataset.Formats() {
		_, err := dataset.Import(format, filepath.Join(t.TempDir(), "absent"), "", dataset.ImportOptions{})
		require.ErrorContains(t, err, "no such file", format)
	}
}
