package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit/expand"
	"github.com/chunkeval/chunkeval/evalkit/internal/browser"
)

// served runs a sweep over the handbook's questions that begin with h00 and
// serves its results.
func served(t *testing.T) (url, results string) {
	t.Helper()
	dir := t.TempDir()
	set, err := filepath.Abs("../../../datasets/handbook")
	require.NoError(t, err)
	config := filepath.Join(dir, "small.yaml")
	require.NoError(t, os.WriteFile(config, []byte("dataset: "+set+"\nstrategies: [fixed_size(size=100), markdown]\nretriever: bm25\nqueries: ['h00*', 'h01*']\nsweep: {window: [0/0, 1/1]}\n"), 0o644))
	results = filepath.Join(dir, "results")
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"run", config, "--results", results, "--no-cache", "--quiet"}, nil, &out, &out))
	ctx, cancel := context.WithCancel(context.Background())
	pr, pw := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- run(ctx, []string{"serve", "--addr", "127.0.0.1:0", "--results", results, "--config", config, "--no-cache"}, nil, pw, io.Discard)
	}()
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, <-done, "the server ends when it is told to")
	})
	line, err := bufio.NewReader(pr).ReadString('\n')
	require.NoError(t, err)
	go func() { _, _ = io.Copy(io.Discard, pr) }()
	return strings.TrimSpace(line), results
}

// call sends a request and returns the status and the body.
func call(t *testing.T, method, url, body string, header ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
		r.Header.Set(header[i], header[i+1])
	}
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, string(b)
}

func TestServe(t *testing.T) {
	url, results := served(t)
	t.Run("query", func(t *testing.T) {
		status, body := call(t, "POST", url+"api/query", `{"query":"How many days of leave?","strategy":"fixed_size(size=60)","top_k":2,"neighbor_prev":1,"neighbor_next":1}`)
		require.Equal(t, 200, status, body)
		var r expand.Response
		require.NoError(t, json.Unmarshal([]byte(body), &r))
		assert.Len(t, r.ExpansionTree, 2)
		assert.Greater(t, len(r.RetrievedChunks), 2)
		assert.Contains(t, body, `"neighbors_prev":`)
		_, body = call(t, "POST", url+"api/query", `{"query":"How many days of leave?"}`)
		require.NoError(t, json.Unmarshal([]byte(body), &r))
		assert.Equal(t, [3]int{5, 0, 0}, [3]int{r.TopK, r.NeighborPrev, r.NeighborNext}, "the defaults")
		for _, e := range r.ExpansionTree {
			assert.NotNil(t, e.NeighborsPrev, "empty, not null")
		}
		status, body = call(t, "POST", url+"api/query", `{"query":"leave <b>x</b>"}`, "Accept", "text/html")
		assert.Equal(t, 200, status)
		assert.Contains(t, body, "leave &lt;b&gt;x&lt;/b&gt;")
	})
	t.Run("bad requests", func(t *testing.T) {
		for body, want := range map[string]string{
			`{}`:                          `{"error":"query: empty"}`,
			`{"query":"a","topk":3}`:      `unknown field \"topk\"`,
			`{"query":"a","top_k":0}`:     `top_k: 0: want 1 to 1000`,
			`{"query":"a","top_k":"5"}`:   `cannot unmarshal string`,
			`{"query":"a","dataset":"/"}`: `dataset \"/\": not served; there are`,
			`{"query":"a","strategy":"semantic(embedder=\"onnx(model=/etc)\")"}`: `could read files or call hosts`,
			`{"query":"a","embedder":"openai(base_url=x)"}`:                      `only lsa, hash`,
			`{"query":"a","neighbor_prev":-1}`:                                   `neighbor_prev: -1`,
			`{"query":"a"} {}`:                                                   `more than one JSON value`,
			`[`:                                                                  `unexpected EOF`,
		} {
			status, got := call(t, "POST", url+"api/query", body)
			assert.Equal(t, 400, status, body)
			assert.Contains(t, got, want, body)
		}
		status, got := call(t, "POST", url+"api/query", `{"query":"`+strings.Repeat("a", 2<<20)+`"}`)
		assert.Equal(t, 413, status, got)
	})
	t.Run("other origins and hosts", func(t *testing.T) {
		status, _ := call(t, "POST", url+"api/query", `{"query":"a"}`, "Origin", "http://elsewhere.example")
		assert.Equal(t, 403, status)
		status, _ = call(t, "GET", url, "", "Host", "rebound.example")
		assert.Equal(t, 403, status)
	})
	t.Run("pages", func(t *testing.T) {
		for _, page := range []string{"", "query.html", "runs.html", "managerial.html", "openapi.json", "api/experiments", "api/runs"} {
			status, _ := call(t, "GET", url+page, "")
			assert.Equal(t, 200, status, page)
		}
		for _, page := range []string{"nothing", "e/x/index.html", "e/../../etc/passwd", "compare/x.html"} {
			status, _ := call(t, "GET", url+page, "")
			assert.Equal(t, 404, status, page)
		}
	})
	t.Run("run", func(t *testing.T) {
		status, body := call(t, "POST", url+"api/experiments", `{"name":"mine","dataset":"handbook","strategies":["page"],"retriever":"bm25","queries":["h00*"]}`)
		require.Equal(t, 202, status, body)
		_, events := call(t, "GET", url+"api/runs/1/events", "")
		assert.Contains(t, events, `"state":"done"`)
		_, list := call(t, "GET", url+"api/experiments", "")
		assert.Contains(t, list, `"name":"mine"`)
		assert.DirExists(t, results)
		_, page := call(t, "GET", url, "")
		assert.Contains(t, page, "mine", "the list is not stale")
		status, body = call(t, "POST", url+"api/experiments", `{"dataset":"handbook","strategies":["page"],"topk":3}`)
		assert.Equal(t, 400, status)
		assert.Contains(t, body, `did you mean \"top_k\"`)
		status, _ = call(t, "DELETE", url+"api/runs/99", "")
		assert.Equal(t, 404, status)
		status, _ = call(t, "DELETE", url+"api/runs/1", "")
		assert.Equal(t, 204, status)
	})
	t.Run("compare", func(t *testing.T) {
		ids := idsOf(t, url)
		n := len(ids)
		status, body := call(t, "GET", url+"api/compare?ids="+ids[n-2]+","+ids[n-1]+",gone", "")
		require.Equal(t, 200, status, body)
		assert.Contains(t, body, "differ in Neighbor Expansion")
		assert.Contains(t, body, `"gap":"not stored here"`)
		status, _ = call(t, "GET", url+"api/compare", "")
		assert.Equal(t, 400, status)
	})
}

func idsOf(t *testing.T, url string) []string {
	t.Helper()
	_, body := call(t, "GET", url+"api/experiments", "")
	var list struct {
		Experiments []struct{ ID string }
	}
	require.NoError(t, json.Unmarshal([]byte(body), &list))
	var ids []string
	for _, x := range list.Experiments {
		ids = append(ids, x.ID)
	}
	return ids
}

// TestServeInABrowser walks the same way as on the static site, then asks a
// question and starts a run.
func TestServeInABrowser(t *testing.T) {
	b := browser.Open(t)
	url, _ := served(t)
	b.Go(url)
	b.Click(`#experiments tbody tr:nth-child(1) input`)
	b.Click(`#experiments tbody tr:nth-child(2) input`)
	b.Click(`#compare`)
	b.Wait(`document.querySelectorAll('table.moved tbody tr').length > 0`)
	assert.Positive(t, b.ChartsDrawn())
	b.Click(`table.moved tbody tr button`)
	b.Wait(`document.querySelectorAll('.pair ol.tree').length === 2`)

	b.Go(url + "query.html")
	b.Do(b.Type(`textarea`, "How many days of leave?"), b.Choose(`[name=neighbor_next]`, "2"))
	b.Click(`form button`)
	b.Wait(`document.querySelector('[data-role=result] ol.tree')`)
	assert.Positive(t, browser.Eval[int](b, `document.querySelectorAll('[data-role=result] li.next').length`))
	b.Shot("query")

	b.Go(url + "runs.html")
	b.Click(`form button`)
	b.Wait(`[...document.querySelectorAll('[data-role=runs] h3')].some(h => h.textContent.endsWith(': done'))`)
	b.Shot("runs")
	assert.Empty(t, b.Problems())
}
