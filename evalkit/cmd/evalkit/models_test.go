package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/embed"
)

const secretKey = "hunter2-0123456789"

// modelServer embeds by hashing, as long as the key is right; its errors repeat
// the key, as some servers' do.
func modelServer(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req struct{ Input []string }
		err := json.NewDecoder(r.Body).Decode(&req)
		if key := r.Header.Get("Authorization"); key != "Bearer "+secretKey || err != nil {
			http.Error(w, fmt.Sprintf(`{"error":{"message":"wrong key %s"}}`, key), http.StatusUnauthorized)
			return
		}
		v, err := embed.Hash{Dim: 32}.Embed(r.Context(), evalkit.Passage, req.Input)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		var data []map[string]any
		for i := range req.Input {
			data = append(data, map[string]any{"index": i, "embedding": v.Row(i)})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"model": "m", "data": data})
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

// experimentFile writes a configuration over the toy data set.
func experimentFile(t *testing.T, dir, text string) string {
	t.Helper()
	require.NoError(t, writeToy(filepath.Join(dir, "toy")))
	name := filepath.Join(dir, "x.yaml")
	require.NoError(t, os.WriteFile(name, []byte("dataset: toy\n"+text), 0o644))
	return name
}

func requireNowhere(t *testing.T, dir, secret string) {
	t.Helper()
	files := 0
	require.NoError(t, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		b, err := os.ReadFile(name)
		assert.NotContains(t, name+string(b)+unpacked(t, b), secret, name)
		return err
	}))
	assert.Positive(t, files)
}

// unpacked returns what a page holds compressed: the details of questions.
func unpacked(t *testing.T, page []byte) string {
	t.Helper()
	var out strings.Builder
	for _, packed := range regexp.MustCompile(`H4sI[A-Za-z0-9+/=]+`).FindAllString(string(page), -1) {
		b, err := base64.StdEncoding.DecodeString(packed)
		require.NoError(t, err)
		r, err := gzip.NewReader(bytes.NewReader(b))
		require.NoError(t, err)
		_, err = io.Copy(&out, r)
		require.NoError(t, err)
	}
	return out.String()
}

func TestHO_SEC_02_RunLeavesNoSecret(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("MY_KEY", secretKey)
	config := experimentFile(t, dir, fmt.Sprintf(`strategies: [page, fixed_size(size=12), semantic(size=40)]
embedder:
  openai: {base_url: %q, model: m, key_env: MY_KEY, window: 10, long: cut, query_prefix: "query: ", timeout: 20, tries: 1}
`, modelServer(t)))
	results, cache := filepath.Join(dir, "results"), filepath.Join(dir, "cache")
	out, errs, err := capture(t, "run", config, "--results", results, "--cache", cache, "--profile")
	require.NoError(t, err)
	id := strings.Fields(listed(t, results))[0]
	shown, _, err := capture(t, "show", id, "--results", results)
	require.NoError(t, err)
	assert.NotContains(t, out+errs+shown, secretKey)
	requireNowhere(t, results, secretKey)
	requireNowhere(t, cache, secretKey)
	for _, table := range []string{"documents", "queries", "chunks", "tree", "retrieved", "candidates", "scores", "summary"} {
		rows, _, err := capture(t, "export", id, "--results", results, "--jsonl", table)
		require.NoError(t, err)
		assert.NotContains(t, rows, secretKey, "Parquet is compressed")
	}
	pages := filepath.Join(dir, "pages")
	_, _, err = capture(t, "site", pages, "--results", results)
	require.NoError(t, err)
	_, _, err = capture(t, "report", id, "--results", results, "--out", pages, "--questions", "all")
	require.NoError(t, err)
	requireNowhere(t, pages, secretKey)
	var details strings.Builder
	files, err := filepath.Glob(filepath.Join(pages, "e", "*", "q", "*", "*"))
	require.NoError(t, err)
	for _, name := range files {
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		details.WriteString(unpacked(t, b))
	}
	assert.True(t, strings.Contains(details.String(), "Expansion tree"), "what is compressed was read")
	record, err := os.ReadFile(filepath.Join(results, id, "experiment.json"))
	require.NoError(t, err)
	assert.Contains(t, string(record), "key_env=MY_KEY", "the variable is named")
	assert.Contains(t, string(record), `query_prefix=\"query: \"`)
	assert.Contains(t, string(record), "passages are cut at the model's window of 10 tokens", "HO-EM-06: reported per strategy")
}

// listed returns the table of list without its head.
func listed(t *testing.T, results string) string {
	t.Helper()
	out, _, err := capture(t, "list", "--results", results)
	require.NoError(t, err)
	_, rows, _ := strings.Cut(out, "\n")
	return rows
}

func TestHO_SEC_02_SecretsInSettingsAreRefused(t *testing.T) {
	for _, setting := range []string{
		`openai(model=m,api_key=hunter2)`, `openai(model=m,base_url="https://user:hunter2@host/v1")`, `opnai(model=m,key=hunter2)`, `openai(model=m,api_key=hunter2`,
		`openai(model=m,key_env=gsk_hunter2)`, `openai(model=m,base_url="https://host/v1?key=hunter2")`,
	} {
		dir := t.TempDir()
		config := experimentFile(t, dir, "strategies: [page]\nembedder: '"+setting+"'\n")
		out, errs, err := capture(t, "run", config, "--results", filepath.Join(dir, "results"))
		require.ErrorContains(t, err, "x.yaml:3: embedder: ")
		assert.Equal(t, exitUsage, status(err))
		_, _, nested := capture(t, "query", "--dataset", filepath.Join(dir, "toy"), "--strategy", "semantic(embedder="+setting+")", "q")
		require.Error(t, nested)
		assert.NotContains(t, out+errs+err.Error()+nested.Error(), "hunter2")
	}
	dir := t.TempDir()
	config := experimentFile(t, dir, "strategies: [page]\nembedder:\n  openai: {model: m, headers: {Authorization: Bearer hunter2}}\n")
	_, _, err := capture(t, "run", config)
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "hunter2")
	config = experimentFile(t, dir+"/b", "embedder:\n  openai:\n    api_key: hunter2\n   model: [m\n")
	_, _, err = capture(t, "run", config)
	require.ErrorContains(t, err, "x.yaml:")
	assert.NotContains(t, err.Error(), "hunter2", "an error of syntax does not print the lines around it")
}

func TestHO_EM_01_FailedUnitsEndNonZero(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("MY_KEY", "wrong-"+secretKey)
	config := experimentFile(t, dir, fmt.Sprintf("strategies: [page]\nembedder: 'openai(base_url=%q,model=m,key_env=MY_KEY)'\n", modelServer(t)))
	results := filepath.Join(dir, "results")
	out, errs, err := capture(t, "run", config, "--results", results, "--no-cache")
	require.ErrorContains(t, err, "3 of 3 units failed and count 0")
	assert.Equal(t, exitFailed, status(err))
	shown, _, err := capture(t, "show", strings.Fields(listed(t, results))[0], "--results", results)
	require.NoError(t, err)
	assert.Contains(t, shown, "status 401 Unauthorized")
	assert.Contains(t, shown, "variable MY_KEY")
	assert.NotContains(t, out+errs+shown, "wrong-")
	requireNowhere(t, results, "wrong-")
}
