package server

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/answer"
	"github.com/chunkeval/chunkeval/evalkit/chunk"
	"github.com/chunkeval/chunkeval/evalkit/embed"
	"github.com/chunkeval/chunkeval/evalkit/retrieve"
	"github.com/chunkeval/chunkeval/evalkit/token"
	"github.com/chunkeval/chunkeval/evalkit/wire"
)

// toy writes a data set of one document and returns its folder.
func toy(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"dataset.yaml":   "name: toy\nlanguage: en\nlicence: CC0-1.0\n",
		"documents/a.md": "The buoy drifts with the ice. The node listens on the seabed. The gateway forwards what it hears.\n",
		"queries.jsonl":  `{"id":"q","question":"What drifts?","gold":[{"doc":"a.md","quote":"The buoy drifts with the ice."}]}` + "\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return dir
}

// newServer serves toy; change may add to what it is started with.
func newServer(t *testing.T, change func(*Options)) *Server {
	t.Helper()
	o := Options{
		Lab: &wire.Lab{}, Datasets: map[string]string{"toy": toy(t)},
		Defaults: Defaults{Dataset: "toy", Strategy: "page", Retriever: "bm25", TopK: 5},
	}
	if change != nil {
		change(&o)
	}
	s := New(o)
	t.Cleanup(func() {
		s.Close()
		require.NoError(t, o.Lab.Close())
	})
	return s
}

// post sends body and returns the status and the answer.
func post(t *testing.T, s *Server, path, body string) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost"+path, strings.NewReader(body)))
	return w.Code, w.Body.String()
}

// TestRequestsOpenNoFile names a file wherever a request can name a component.
func TestRequestsOpenNoFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	s := newServer(t, nil)
	piece := "wordpiece(vocab=" + file + ")"
	const chat = "openai(model=m)"
	for _, x := range []struct{ key, value string }{
		{"tokenizer", piece},
		{"embedder", "openai(model=m,tokenizer=" + piece + ")"},
		{"embedder", "onnx(model=" + file + ")"},
		{"embedder", "precomputed(file=" + file + ")"},
		{"embedder", "anything(x=1)"},
		{"strategies", "page(tokenizer=" + piece + ")"},
		{"strategies", `page(tokenizer="wordpiece(vocab=\"` + file + `\")")`},
		{"strategies", `page(tokenizer="word\u0070iece(vocab=` + file + `)")`},
		{"strategies", "semantic(embedder=onnx(model=" + file + "))"},
		{"strategies", "semantic(embedder=lsa,tokenizer=" + piece + ")"},
		{"strategies", "contextual(strategy=page(tokenizer=" + piece + "),llm=" + chat + ")"},
		{"strategies", "llm_semantic(llm=" + chat + ")"},
		{"retriever", "hybrid(lexical=later(file=" + file + "))"},
		{"fusion", "later(file=" + file + ")"},
		{"answerer", chat},
		{"judge", chat},
	} {
		for _, sweep := range []bool{false, true} {
			c := map[string]any{"dataset": "toy", "strategies": []string{"page"}, "retriever": "hybrid", "answerer": "extractive"}
			switch {
			case !sweep:
				c[x.key] = x.value
			case x.key == "strategies" || x.key == "judge":
				continue // not swept
			default:
				c["sweep"] = map[string]any{x.key: []string{x.value}}
			}
			body, err := json.Marshal(c)
			require.NoError(t, err)
			status, got := post(t, s, "/api/experiments", string(body))
			assert.Equal(t, 400, status, "%s: %s", body, got)
			assert.Contains(t, got, "could read files or call hosts", "%s", body)
		}
	}
	status, got := post(t, s, "/api/experiments", `{"dataset":"toy","strategies":[{"page":{"tokenizer":{"wordpiece":{"vocab":"`+file+`"}}}}]}`)
	assert.Equal(t, 400, status, got)
	assert.Contains(t, got, "only cl100k, rune, word and what the server was started with: others could read files or call hosts")
	for _, body := range []string{
		`{"query":"a","strategy":"page(tokenizer=` + piece + `)"}`, `{"query":"a","embedder":"onnx(model=` + file + `)"}`,
		`{"query":"a","retriever":"hybrid(fusion=later(file=` + file + `))"}`,
	} {
		status, got := post(t, s, "/api/query", body)
		assert.Equal(t, 400, status, body)
		assert.Contains(t, got, "could read files or call hosts", body)
	}
}

// TestHarmlessIsNamed holds the list against what the parsers know.
func TestHarmlessIsNamed(t *testing.T) {
	analyzer, err := retrieve.NewAnalyzer("en")
	require.NoError(t, err)
	hash := embed.Hash{Dim: 8}
	n := named{}
	for _, name := range chunk.Names() {
		if name == "llm_semantic" || name == "contextual" {
			assert.Error(t, n.allow("strategy", name), "asks a model")
			continue
		}
		s, err := chunk.Parse(name, chunk.Env{Tokenizer: token.Runes{}, Embedder: func(string) (evalkit.Embedder, error) { return hash, nil }})
		require.NoError(t, err)
		assert.NoError(t, n.allow("strategy", s.String()), "with every setting that it prints")
	}
	for _, name := range []string{"bm25", "bleve", "dense", "hybrid", "hybrid(fusion=weighted)", "oracle"} {
		x, err := retrieve.Parse(name, retrieve.Env{Analyzer: analyzer, Embedder: hash})
		require.NoError(t, err)
		assert.NoError(t, n.allow("retriever", x.String()))
	}
	for _, name := range embed.Names() {
		x, err := embed.Parse(name)
		require.NoError(t, err)
		assert.NoError(t, n.allow("embedder", x.String()))
	}
	x, err := answer.Parse("extractive")
	require.NoError(t, err)
	assert.NoError(t, n.allow("answerer", x.String()))
	require.ErrorContains(t, n.allow("later", "x"), "could read files", "a role that is not listed")
	require.ErrorContains(t, n.allow("strategy", "fixed_sise(size=3)"), `did you mean "fixed_size"?`)
	require.ErrorContains(t, n.allow("strategy", "page(sise=3)"), `unknown key "sise": did you mean "size"?`)
}

// TestOwnerNamesComponents allows, at any depth, what the server was started with.
func TestOwnerNamesComponents(t *testing.T) {
	c, err := wire.ParseConfig("c.yaml", []byte("dataset: toy\nstrategies: [page, 'semantic(embedder=onnx(model=a))']\ntokenizer: {wordpiece: {vocab: v.txt}}\nsweep: {answerer: [none, openai(model=m)]}\n"), "/")
	require.NoError(t, err)
	n := ownerNamed(Options{Config: c, Embedders: []string{"later(file=x)"}, Defaults: Defaults{Strategy: "page(tokenizer=wordpiece(vocab=w.txt))"}})
	for role, texts := range map[string][]string{
		"tokenizer": {"wordpiece(vocab=v.txt)", "wordpiece( vocab = w.txt )"},
		"strategy":  {"semantic(embedder=onnx(model=a))", "semantic_modified(embedder=onnx(model=a),tokenizer=wordpiece(vocab=v.txt))", `semantic(embedder="later(file=x)")`},
		"embedder":  {"onnx(model=a)", "later(file=x)"},
		"answerer":  {"openai(model=m)"},
	} {
		for _, text := range texts {
			assert.NoError(t, n.allow(role, text))
		}
	}
	for role, text := range map[string]string{"tokenizer": "wordpiece(vocab=other)", "embedder": "onnx(model=a,long=split)", "judge": "openai(model=m)"} {
		assert.Error(t, n.allow(role, text))
	}
}

func TestUnservedDatasetSaysHowToServeIt(t *testing.T) {
	status, got := post(t, newServer(t, nil), "/api/query", `{"query":"a","dataset":"mydata"}`)
	assert.Equal(t, 400, status)
	assert.Contains(t, got, `dataset \"mydata\": not served; there are [\"toy\"]; serve it with evalkit serve --dataset DIR, or as the dataset of --config FILE`)
}
