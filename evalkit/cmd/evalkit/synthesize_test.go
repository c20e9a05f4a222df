package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit/dataset"
)

// questioner writes a question about the first sentence of what it is shown; it
// is down after so many answers, and never words an answer the same way twice.
type questioner struct {
	mu    sync.Mutex
	calls int
	down  int // answers before it is down; 0: never
}

func (q *questioner) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var req struct{ Messages []struct{ Content string } }
	_ = json.NewDecoder(r.Body).Decode(&req)
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.calls++; q.down > 0 && q.calls > q.down {
		http.Error(w, "the key "+r.Header.Get("Authorization")+" is no good", http.StatusForbidden)
		return
	}
	_, part, _ := strings.Cut(req.Messages[0].Content, "<part>\n")
	part, _, _ = strings.Cut(part, "\n</part>")
	sentence := strings.SplitAfter(strings.TrimSpace(part), ".")[0]
	list, _ := json.Marshal([]map[string]any{{
		"question": "What about " + strings.TrimSuffix(sentence, ".") + "?", "answer": fmt.Sprint("answer ", q.calls), "quotes": []string{sentence},
	}})
	_ = json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"message": map[string]string{"content": string(list)}}}})
}

// pages makes a folder of documents about different things.
func pages(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for i, text := range []string{
		"Harbours freeze early in winter.", "Trains replace flights of up to six hours.", "Every kilometre by car pays 38 cents.", "Boats are repaired in May.",
		"Lamps burn oil until dawn.", "Barrels were counted twice.", "Apprentices keep a diary.", "Salt trade declined slowly.", "Orchards need frost.", "Bridges close at noon.",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("d%d.md", i)), []byte(text+" More text follows.\n"), 0o644))
	}
	return dir
}

func TestSynthesizeIsResumedReviewedAndBuilt(t *testing.T) {
	t.Setenv("MY_KEY", secretKey)
	q := &questioner{down: 6}
	s := httptest.NewServer(q)
	defer s.Close()
	docs, dir := pages(t), t.TempDir()
	work := filepath.Join(dir, "work")
	args := []string{"dataset", "synthesize", docs, work, "--llm", fmt.Sprintf("openai(base_url=%q,model=m,key_env=MY_KEY,tries=1)", s.URL+"/v1"), "--questions", "8", "--language", "en", "--licence", "CC0-1.0", "--name", "pages"}

	out, _, err := capture(t, append(args, "--dry-run")...)
	require.NoError(t, err)
	assert.Regexp(t, `synthesizer +m +8 +\d+ +9600 +no price given`, out)
	assert.Zero(t, q.calls)
	assert.NoDirExists(t, work)

	_, _, err = capture(t, args...)
	require.ErrorContains(t, err, "status 403")
	assert.NotContains(t, err.Error(), secretKey)
	assert.Equal(t, exitFailed, status(err))

	q.down = 0
	before := q.calls
	out, _, err = capture(t, args...)
	require.NoError(t, err)
	assert.Contains(t, out, "8 questions accepted")
	assert.Equal(t, 8-6, q.calls-before, "six answers were kept")

	// A person rejects one and mends another.
	review := filepath.Join(work, "review.jsonl")
	b, err := os.ReadFile(review)
	require.NoError(t, err)
	lines := strings.SplitAfter(string(b), "\n")
	lines[0] = strings.Replace(lines[0], `"status":"accept"`, `"status":"reject"`, 1)
	lines[1] = strings.Replace(lines[1], `"question":"What about`, `"question":"Pray, what about`, 1)
	require.NoError(t, os.WriteFile(review, []byte(strings.Join(lines, "")), 0o644))

	// More are asked for; the changes stay.
	before = q.calls
	out, _, err = capture(t, append(args, "--questions", "9")...)
	require.NoError(t, err)
	assert.Contains(t, out, "9 questions accepted")
	assert.LessOrEqual(t, q.calls-before, 2, "one batch at most")
	again, err := os.ReadFile(review)
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(string(again), strings.Join(lines[:8], "")), "the first lines, changes included")

	set := filepath.Join(dir, "set")
	out, _, err = capture(t, "dataset", "review", work, set)
	require.NoError(t, err)
	assert.Contains(t, out, "pages: 10 documents")
	ds, err := dataset.Load(set)
	require.NoError(t, err)
	require.Len(t, ds.Queries, 8)
	mended := 0
	for _, x := range ds.Queries {
		require.Len(t, x.Qrels, 1)
		if strings.HasPrefix(x.Text, "Pray") {
			mended++
		}
	}
	assert.Equal(t, 1, mended)
	provenance, err := os.ReadFile(filepath.Join(set, "provenance.jsonl"))
	require.NoError(t, err)
	assert.Equal(t, 8, strings.Count(string(provenance), `"prompt_version":"synth-v1"`))
	assert.Contains(t, string(provenance), "key_env=MY_KEY")
	requireNowhere(t, dir, secretKey)
}

func TestSynthesizeRefuses(t *testing.T) {
	docs, work := pages(t), filepath.Join(t.TempDir(), "work")
	for want, args := range map[string][]string{
		"--llm: parse model": {docs, work}, "environment": {docs, work, "--llm", "openai(model=m,api_key=hunter2)"}, "no documents": {t.TempDir(), work, "--llm", "openai(model=m)"},
		"--embedder": {docs, work, "--llm", "openai(model=m)", "--embedder", "lsb"},
	} {
		_, _, err := capture(t, append([]string{"dataset", "synthesize"}, args...)...)
		require.ErrorContains(t, err, want)
		assert.Equal(t, exitUsage, status(err))
		assert.NotContains(t, err.Error(), "hunter2")
	}
	other := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(other, "x.md"), []byte("Other."), 0o644))
	_, _, err := capture(t, "dataset", "synthesize", other, work, "--llm", "openai(model=m)")
	require.ErrorContains(t, err, "holds questions over other documents")
	_, _, err = capture(t, "dataset", "review", t.TempDir(), filepath.Join(t.TempDir(), "x"))
	require.ErrorContains(t, err, "run evalkit dataset synthesize first")
}
