package dataset_test

import (
	"crypto/sha256"
	"errors"
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

const head = "name: test\nlanguage: en\nlicence: CC0-1.0\n"

// folder writes files, by slash path, to a new folder. dataset.yaml is head
// unless it is given.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, content string) {
		name = filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(content), 0o644))
	}
	write("dataset.yaml", head)
	for name, content := range files {
		write(name, content)
	}
	return dir
}

func warnings(ds *evalkit.Dataset) []string {
	var out []string
	for _, w := range ds.Warnings {
		out = append(out, w.Error())
	}
	return out
}

func TestLoad(t *testing.T) {
	ds, err := dataset.Load(folder(t, map[string]string{
		"dataset.yaml":       "name: small\nlanguage: de-AT\nlicence: MIT\nanalyzer: de\ndescription: >\n  a few\n  words\noffsets: rune\n",
		"documents/b/two.md": "zwei zwei\n",
		"documents/a.txt":    "grüne Äpfel\r\n",
		"documents/.hidden":  "not read",
		"documents/fig.png":  "not read",
		"queries.jsonl": `{"id":"q2","question":"Which?","gold":[{"doc":"b/two.md","quote":"zwei","occurrence":2,"grade":0.5}],"tags":["x"]}
{"id":"q1","question":"What?","answer":"Äpfel","gold":[{"doc":"a.txt","start":6,"end":11,"text":"Äpfel"},{"doc":"a.txt","quote":"grüne","grade":-1}]}
{"id":"q3","question":"Who?","unanswerable":true}
`,
	}))
	require.NoError(t, err)
	assert.Equal(t, "small", ds.Name)
	assert.Equal(t, "de-AT", ds.Language)
	assert.Equal(t, "MIT", ds.Licence)
	assert.Equal(t, "de", ds.Analyzer)
	assert.Equal(t, []evalkit.Document{{ID: "a.txt", Text: "grüne Äpfel\r\n"}, {ID: "b/two.md", Text: "zwei zwei\n"}}, ds.Docs)
	assert.Equal(t, []evalkit.Query{
		{ID: "q1", Text: "What?", Answer: "Äpfel", Qrels: []evalkit.Qrel{
			{Doc: "a.txt", Span: evalkit.Span{Start: 0, End: 6}, Grade: -1},
			{Doc: "a.txt", Span: evalkit.Span{Start: 7, End: 13}, Grade: 1},
		}},
		{ID: "q2", Text: "Which?", Qrels: []evalkit.Qrel{{Doc: "b/two.md", Span: evalkit.Span{Start: 5, End: 9}, Grade: 0.5}}},
		{ID: "q3", Text: "Who?", Unanswerable: true},
	}, ds.Queries)
	assert.Equal(t, []string{`1 files below documents are not .md or .txt and were left out: "documents/fig.png"`}, warnings(ds))
}

func TestLoadRefuses(t *testing.T) {
	const doc = `{"id":"d","text":"grün grün"}` // bytes: gr 0-2, ü 2-4, n 4; the second word from 6
	query := func(rest string) string { return `{"id":"q","question":"Q?",` + rest + `}` }
	gold := func(g string) string { return query(`"gold":[{"doc":"d","start":0,"end":2},` + g + `]`) }
	for _, c := range []struct{ name, meta, docs, queries, want string }{
		{"unknown yaml key", head + "license: MIT\n", doc, query(`"answer":"A"`), `dataset.yaml:4: unknown key "license": did you mean "licence"?`},
		{"yaml key twice", head + "name: b\n", doc, query(`"answer":"A"`), `dataset.yaml:4: `},
		{"yaml syntax", "name: test\nlanguage: [en\n", doc, query(`"answer":"A"`), `dataset.yaml:2: `},
		{"yaml list", "- name\n", doc, query(`"answer":"A"`), `dataset.yaml:1: not a list of key: value lines`},
		{"yaml value", "name: {a: b}\nlanguage: en\n", doc, query(`"answer":"A"`), `dataset.yaml:1: name: not a text`},
		{"no name", "language: en\n", doc, query(`"answer":"A"`), `dataset.yaml: name: missing or empty`},
		{"no language", "name: x\n", doc, query(`"answer":"A"`), `dataset.yaml: language: missing or empty`},
		{"language", "name: x\nlanguage: 'en us'\n", doc, query(`"answer":"A"`), `language: "en us" is not a BCP 47 tag`},
		{"offsets", head + "offsets: utf16\n", doc, query(`"answer":"A"`), `offsets: "utf16" is not byte or rune`},

		{"document key", head, `{"id":"d","txt":"x"}`, query(`"answer":"A"`), `documents.jsonl:1: unknown key "txt": did you mean "text"?`},
		{"key in another case", head, `{"ID":"d","text":"x"}`, query(`"answer":"A"`), `documents.jsonl:1: unknown key "ID"`},
		{"key twice", head, `{"id":"d","id":"e","text":"x"}`, query(`"answer":"A"`), `documents.jsonl:1: id: given twice`},
		{"no text", head, `{"id":"d"}`, query(`"answer":"A"`), `documents.jsonl:1: text: missing`},
		{"cut short", head, `{"id":"d","text":"x`, query(`"answer":"A"`), `documents.jsonl:1: text: the JSON object is cut short`},
		{"not an object", head, `["d"]`, query(`"answer":"A"`), `documents.jsonl:1: not a JSON object`},
		{"two objects", head, doc + doc, query(`"answer":"A"`), `documents.jsonl:1: text after the JSON object`},
		{"wrong type", head, `{"id":7,"text":"x"}`, query(`"answer":"A"`), `documents.jsonl:1: id: JSON number where a string belongs`},
		{"invalid utf-8", head, "{\"id\":\"d\",\"text\":\"x\xff\"}", query(`"answer":"A"`), `documents.jsonl:1: byte 19: invalid UTF-8`},
		{"half a surrogate pair", head, `{"id":"d","text":"\ud83d x"}`, query(`"answer":"A"`), `documents.jsonl:1: byte 18: half a surrogate pair, \ud83d`},
		{"no documents", head, "\n", query(`"answer":"A"`), `no documents`},

		{"end before start", head, doc, gold(`{"doc":"d","start":90,"end":80}`), `queries.jsonl:1: gold 2: span [90:80): end before start`},
		{"end after text", head, doc, gold(`{"doc":"d","start":0,"end":12}`), `gold 2: span [0:12): end after the text of 11 bytes`},
		{"negative start", head, doc, gold(`{"doc":"d","start":-1,"end":2}`), `gold 2: span [-1:2): start before the text`},
		{"empty span", head, doc, gold(`{"doc":"d","start":2,"end":2}`), `gold 2: span [2:2): empty`},
		{"inside a character", head, doc, gold(`{"doc":"d","start":0,"end":3}`), `gold 2: span [0:3): cuts a character in two`},
		{"runes after text", head + "offsets: rune\n", doc, gold(`{"doc":"d","start":0,"end":10}`), `gold 2: span [0:10): end after the text of 9 code points`},
		{"other text", head, doc, gold(`{"doc":"d","start":0,"end":5,"text":"grun"}`), `gold 2: span [0:5) of document "d" holds "grün", not "grun"`},
		{"fraction", head, doc, gold(`{"doc":"d","start":0.5,"end":5}`), `gold: start: JSON number 0.5 where an integer belongs`},
		{"gold key", head, doc, gold(`{"doc":"d","start":0,"stop":5}`), `gold: unknown key "stop"`},
		{"no end", head, doc, gold(`{"doc":"d","start":0}`), `gold 2: start and end, or quote, are missing`},
		{"quote twice", head, doc, gold(`{"doc":"d","quote":"grün"}`), `gold 2: quote "grün": occurs 2 times; say which one with occurrence`},
		{"quote nowhere", head, doc, gold(`{"doc":"d","quote":"blau"}`), `gold 2: quote "blau": does not occur`},
		{"quote too far", head, doc, gold(`{"doc":"d","quote":"grün","occurrence":3}`), `gold 2: quote "grün": no occurrence 3, it occurs 2 times`},
		{"occurrence zero", head, doc, gold(`{"doc":"d","quote":"grün","occurrence":0}`), `gold 2: occurrence 0: counts from 1`},
		{"occurrence alone", head, doc, gold(`{"doc":"d","start":0,"end":2,"occurrence":1}`), `gold 2: occurrence without quote`},
		{"quote and span", head, doc, gold(`{"doc":"d","quote":"grün","start":0}`), `gold 2: give either quote, or start, end and text`},
		{"empty quote", head, doc, gold(`{"doc":"d","quote":""}`), `gold 2: quote: empty`},
		{"two grades", head, doc, gold(`{"doc":"d","start":0,"end":2,"grade":2}`), `gold 2: span [0:2) of document "d": graded 1 and 2`},
		{"unanswerable with gold", head, doc, query(`"unanswerable":true,"gold":[{"doc":"d","start":0,"end":2}]`), `queries.jsonl:1: marked unanswerable, but has gold`},
		{"query key", head, doc, query(`"golds":[]`), `queries.jsonl:1: unknown key "golds": did you mean "gold"?`},
		{"tags", head, doc, query(`"tags":"x"`), `queries.jsonl:1: tags: JSON string where a list belongs`},
		{"no questions", head, doc, "", `no questions`},
	} {
		t.Run(c.name, func(t *testing.T) {
			ds, err := dataset.Load(folder(t, map[string]string{"dataset.yaml": c.meta, "documents.jsonl": c.docs, "queries.jsonl": c.queries}))
			require.ErrorContains(t, err, c.want)
			assert.Nil(t, ds)
		})
	}
}

func TestLoadRefusesFolders(t *testing.T) {
	const query = `{"id":"q","question":"Q?"}`
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"nothing", map[string]string{}, "documents: no such folder, and no documents.jsonl"},
		{"both", map[string]string{"documents/a.md": "a", "documents.jsonl": "", "queries.jsonl": query}, "stands beside the folder documents"},
		{"no queries", map[string]string{"documents/a.md": "a"}, "queries.jsonl: no such file"},
		{"queries are a folder", map[string]string{"documents/a.md": "a", "queries.jsonl/b": ""}, "queries.jsonl: not a regular file"},
		{"documents are a file", map[string]string{"documents": "a", "queries.jsonl": query}, "documents: not a folder"},
		{"two yaml documents", map[string]string{"dataset.yaml": head + "---\nname: b\n", "documents/a.md": "a", "queries.jsonl": query}, "dataset.yaml:5: more than one YAML document"},
		{"yaml utf-8", map[string]string{"dataset.yaml": head + "analyzer: \xe4\n", "documents/a.md": "a", "queries.jsonl": query}, "dataset.yaml:4: byte 51: invalid UTF-8"},
		{"utf-8", map[string]string{"documents/a.md": "a\nb\n\xe4", "queries.jsonl": query}, "documents/a.md:3: byte 4: invalid UTF-8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := dataset.Load(folder(t, c.files))
			require.ErrorContains(t, err, c.want)
		})
	}
	_, err := dataset.Load(filepath.Join(t.TempDir(), "absent"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestLoadNamesAsWritten(t *testing.T) {
	for written, want := range map[string]string{
		"1.10": "1.10", "007": "007", "true": "true", "0x1F": "0x1F", ".inf": ".inf", "2024-01-01": "2024-01-01",
		`"a\tb"`: "a\tb", `"a\u00e4"`: "aä", "'it''s'": "it's", "a # not": "a", "|\n  a\n  b": "a\nb\n",
	} {
		ds, err := dataset.Load(folder(t, map[string]string{
			"dataset.yaml": "name: " + written + "\nlanguage: en\n", "documents/a.md": "a", "queries.jsonl": `{"id":"q","question":"Q?","gold":[{"doc":"a.md","quote":"a"}]}`,
		}))
		require.NoError(t, err, written)
		assert.Equal(t, want, ds.Name)
		assert.Equal(t, []string{"no licence is named"}, warnings(ds))
	}
}

func TestLoadReportsManyErrors(t *testing.T) {
	var queries strings.Builder
	for i := range 30 {
		fmt.Fprintf(&queries, `{"id":"q%d","question":"Q?","gold":[{"doc":"none%d","start":0,"end":1}]}`+"\n", i, i)
	}
	_, err := dataset.Load(folder(t, map[string]string{"documents/a.md": "a", "queries.jsonl": queries.String()}))
	require.Error(t, err)
	assert.Equal(t, dataset.MaxErrors, strings.Count(err.Error(), "not in the data set"))
	assert.Contains(t, err.Error(), "and 10 more errors")
	var fe *dataset.FileError
	require.True(t, errors.As(err, &fe))
	assert.Equal(t, "queries.jsonl", fe.File)
	assert.Equal(t, 1, fe.Line)
}

func TestLoadSymbolicLinks(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret.md")
	require.NoError(t, os.WriteFile(outside, []byte("secret"), 0o644))
	files := map[string]string{"documents/a.md": "a", "kept/b.md": "b", "queries.jsonl": `{"id":"q","question":"Q?"}`}

	dir := folder(t, files)
	if err := os.Symlink(filepath.Join("..", "kept", "b.md"), filepath.Join(dir, "documents", "b.md")); err != nil {
		t.Skip("no symbolic links here")
	}
	ds, err := dataset.Load(dir)
	require.NoError(t, err)
	assert.Len(t, ds.Docs, 2)

	for name, target := range map[string]string{"out.md": outside, "dir": filepath.Dir(outside), "loop.md": "loop.md", "up": ".."} {
		dir := folder(t, files)
		require.NoError(t, os.Symlink(target, filepath.Join(dir, "documents", name)))
		_, err := dataset.Load(dir)
		require.ErrorContains(t, err, "documents/"+name+": symbolic link: ")
	}
}

func TestLoadSums(t *testing.T) {
	const text, query = "a text\n", `{"id":"q","question":"Q?"}`
	sum := func(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) }
	all := sum(head) + "  dataset.yaml\n" + sum(text) + " *documents/a.md\n" + sum(query) + "  ./queries.jsonl\r\n"
	for _, c := range []struct{ name, sums, want string }{
		{"right", all + sum("about") + "  README.md\n", ""},
		{"changed", strings.Replace(all, sum(text), sum("other"), 1), "SHA256SUMS:2: documents/a.md: its SHA-256 is " + sum(text)},
		{"not listed", strings.Replace(all, sum(text)+" *documents/a.md\n", "", 1), "SHA256SUMS: documents/a.md: not listed"},
		{"not there", all + sum("x") + "  documents/b.md\n", "SHA256SUMS:4: documents/b.md: no such file"},
		{"outside", all + sum("x") + "  ../x\n", "SHA256SUMS:4: ../x: path escapes"},
		{"twice", all + sum(head) + "  dataset.yaml\n", "SHA256SUMS:4: dataset.yaml: listed twice"},
		{"no sum", "abc  dataset.yaml\n", `SHA256SUMS:1: "abc  dataset.yaml": not a line of sha256sum`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := dataset.Load(folder(t, map[string]string{
				"documents/a.md": text, "queries.jsonl": query, "README.md": "about", "SHA256SUMS": c.sums,
			}))
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
		})
	}
}
