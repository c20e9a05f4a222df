package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/chunk"
	"github.com/chunkeval/chunkeval/evalkit/embed"
	"github.com/chunkeval/chunkeval/evalkit/embed/openai"
	"github.com/chunkeval/chunkeval/evalkit/llm"
	"github.com/chunkeval/chunkeval/evalkit/retrieve"
	"github.com/chunkeval/chunkeval/evalkit/token"
)

// model is a server that answers with a vector of each text, and keeps what it
// was asked.
type model struct {
	mu     sync.Mutex
	calls  [][]string
	bodies []map[string]any

	dim    int
	name   string
	refuse func([]string) (status int, message string) // 0: answer
	vector func(text string) string                    // JSON; empty: a hash of the text
	tokens int                                         // reported
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var raw map[string]any
	if err := json.NewDecoder(r.Body).Decode(&raw); err != nil {
		http.Error(w, err.Error(), http.StatusTeapot)
		return
	}
	var texts []string
	for _, t := range raw["input"].([]any) {
		texts = append(texts, t.(string))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls, m.bodies = append(m.calls, texts), append(m.bodies, raw)
	if m.refuse != nil {
		if status, message := m.refuse(texts); status != 0 {
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"error":{"message":%q}}`, message)
			return
		}
	}
	var data []string
	for i, t := range texts {
		v := ""
		if m.vector != nil {
			v = m.vector(t)
		}
		if v == "" {
			h, _ := embed.Hash{Dim: m.dim}.Embed(r.Context(), evalkit.Passage, []string{t})
			b, _ := json.Marshal(h.Data)
			v = string(b)
		}
		data = append(data, fmt.Sprintf(`{"index":%d,"embedding":%s}`, i, v))
	}
	slices.Reverse(data)
	fmt.Fprintf(w, `{"model":%q,"data":[%s],"usage":{"prompt_tokens":%d}}`, m.name, strings.Join(data, ","), m.tokens)
}

func (m *model) sizes() []int {
	m.mu.Lock()
	defer m.mu.Unlock()
	var n []int
	for _, c := range m.calls {
		n = append(n, len(c))
	}
	return n
}

// start serves m and returns an embedder with settings, which begin with a comma.
func start(t *testing.T, m *model, settings string) *openai.Embedder {
	t.Helper()
	s := httptest.NewServer(m)
	t.Cleanup(s.Close)
	spec, err := openai.Parse(fmt.Sprintf("openai(base_url=%q,model=m,tries=1%s)", s.URL+"/v1", settings))
	require.NoError(t, err)
	e, err := openai.New(spec, llm.Options{Getenv: func(string) string { return "" }})
	require.NoError(t, err)
	return e
}

func texts(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("text number%d", i)
	}
	return out
}

func TestHO_EM_01_FailureIsNoVector(t *testing.T) {
	m := &model{dim: 4, refuse: func([]string) (int, string) { return http.StatusTooManyRequests, "slow down" }}
	e := start(t, m, "")
	v, err := e.Embed(t.Context(), evalkit.Passage, texts(3))
	require.ErrorContains(t, err, `model "m": 3 texts, 0 to 2: `)
	require.ErrorContains(t, err, "status 429")
	assert.Empty(t, v.Data)
}

func TestHO_EM_02_RowsFollowTheTexts(t *testing.T) {
	m := &model{dim: 16} // answers in reverse order, with indexes
	e := start(t, m, ",batch=3,parallel=2")
	all := texts(10)
	got, err := e.Embed(t.Context(), evalkit.Passage, all)
	require.NoError(t, err)
	want, err := embed.Hash{Dim: 16}.Embed(t.Context(), evalkit.Passage, all)
	require.NoError(t, err)
	assert.InDeltaSlice(t, want.Data, got.Data, 1e-6)

	short := start(t, &model{vector: func(string) string { return `[1],"x":[]},{"index":0,"embedding":[1]` }}, "")
	_, err = short.Embed(t.Context(), evalkit.Passage, []string{"a"})
	require.ErrorContains(t, err, "text 0: 2 vectors for 1 texts")
}

func TestHO_EM_03_Batches(t *testing.T) {
	all := texts(25)
	all[7] = " \n\ufeff"
	t.Run("never more than configured, blank not sent", func(t *testing.T) {
		m := &model{dim: 4, refuse: func(s []string) (int, string) {
			if len(s) > 10 {
				return http.StatusBadRequest, "too many inputs"
			}
			return 0, ""
		}}
		e := start(t, m, ",batch=10,parallel=1")
		v, err := e.Embed(t.Context(), evalkit.Passage, all)
		require.NoError(t, err)
		assert.Equal(t, []int{10, 10, 4}, m.sizes())
		assert.Equal(t, make([]float32, 4), v.Row(7))
		assert.Equal(t, openai.Stats{Usage: llm.Usage{Calls: 3}, Texts: 25, Blank: 1}, e.Stats())
	})
	t.Run("a refused batch is halved", func(t *testing.T) {
		m := &model{dim: 4, refuse: func(s []string) (int, string) {
			if len(s) > 7 {
				return http.StatusRequestEntityTooLarge, "too many tokens in all"
			}
			return 0, ""
		}}
		e := start(t, m, ",batch=24,parallel=1")
		v, err := e.Embed(t.Context(), evalkit.Passage, all)
		require.NoError(t, err)
		assert.Equal(t, []int{24, 12, 6, 6, 12, 6, 6}, m.sizes())
		want, err := embed.Hash{Dim: 4}.Embed(t.Context(), evalkit.Passage, all)
		require.NoError(t, err)
		assert.InDeltaSlice(t, want.Data, v.Data, 1e-6)
	})
	t.Run("a refused text is named", func(t *testing.T) {
		m := &model{dim: 4, refuse: func(s []string) (int, string) {
			if slices.Contains(s, "text number9") {
				return http.StatusBadRequest, "not this one"
			}
			return 0, ""
		}}
		_, err := start(t, m, ",batch=24,parallel=1").Embed(t.Context(), evalkit.Passage, all)
		var refused *openai.TextError
		require.ErrorAs(t, err, &refused)
		assert.Equal(t, []int{9}, refused.Positions, "counted with the blank one before it")
		require.ErrorContains(t, err, "text 9: ")
		require.ErrorContains(t, err, "not this one")
	})
	t.Run("only blank texts", func(t *testing.T) {
		m := &model{dim: 4}
		v, err := start(t, m, ",dimensions=4").Embed(t.Context(), evalkit.Passage, []string{"", " "})
		require.NoError(t, err)
		assert.Equal(t, evalkit.Vectors{Dim: 4, Data: make([]float32, 8)}, v)
		assert.Empty(t, m.sizes())
	})
}

func TestHO_EM_04_InvalidVectors(t *testing.T) {
	m := &model{dim: 2, vector: func(s string) string {
		return map[string]string{"zero": "[0,0]", "null": "[null,1]", "nan": "[NaN,1]", "none": "null", "huge": "[3e38,3e38]", "tiny": "[3e-38,4e-38]"}[s]
	}}
	e := start(t, m, "")
	v, err := e.Embed(t.Context(), evalkit.Passage, []string{"zero", "null", "nan", "none", "huge", "tiny", "good"})
	require.NoError(t, err)
	for i := range 4 {
		assert.Equal(t, []float32{0, 0}, v.Row(i))
	}
	half := float32(math.Sqrt(0.5))
	assert.Equal(t, []float32{half, half}, v.Row(4), "no overflow on the way")
	assert.InDeltaSlice(t, []float32{0.6, 0.8}, v.Row(5), 1e-6)
	assert.Equal(t, 4, e.Stats().Invalid)
	for _, x := range v.Data {
		assert.False(t, math.IsNaN(float64(x)))
	}

	// In a ranking: an invalid chunk is counted and not found; a query without
	// a vector has failed.
	ix, err := retrieve.Parse("dense", retrieve.Env{Embedder: e})
	require.NoError(t, err)
	r, err := ix.Index(t.Context(), chunks("zero", "good", "null"))
	require.NoError(t, err)
	assert.Equal(t, 2, r.(interface{ Invalid() int }).Invalid())
	hits, err := r.Retrieve(t.Context(), evalkit.Query{Text: "good"}, 1)
	require.NoError(t, err)
	assert.Equal(t, 1, hits[0].Chunk.Index)
	_, err = r.Retrieve(t.Context(), evalkit.Query{Text: "zero"}, 3)
	require.ErrorIs(t, err, evalkit.ErrNoVector)

	_, err = start(t, m, "").Embed(t.Context(), evalkit.Passage, []string{"none"})
	require.ErrorContains(t, err, "no vector for any of 1 texts")
}

// chunks makes a document of words and a chunk of each.
func chunks(words ...string) []evalkit.Chunk {
	var out []evalkit.Chunk
	at := 0
	for i, w := range words {
		out = append(out, evalkit.Chunk{Doc: "d", Index: i, Span: evalkit.Span{Start: at, End: at + len(w)}, Text: w})
		at += len(w) + 1
	}
	return out
}

func TestHO_EM_05_SizesAndModels(t *testing.T) {
	m := &model{dim: 8, name: "m-large"}
	e := start(t, m, "")
	ix, err := retrieve.Parse("dense", retrieve.Env{Embedder: e})
	require.NoError(t, err)
	r, err := ix.Index(t.Context(), chunks("red", "green"))
	require.NoError(t, err)
	m.dim, m.name = 4, "m-small"
	_, err = r.Retrieve(t.Context(), evalkit.Query{Text: "red"}, 2)
	require.ErrorContains(t, err, `vectors of 4 dimensions from model "m-small": those before have 8, from model "m-large"`)

	_, err = start(t, m, ",dimensions=6").Embed(t.Context(), evalkit.Passage, []string{"a"})
	require.ErrorContains(t, err, `vectors of 4 dimensions from model "m-small": asked for 6`)
	assert.EqualValues(t, 6, m.bodies[len(m.bodies)-1]["dimensions"])

	// Another model does not find the first one's vectors in a shared folder.
	dir := t.TempDir()
	for i, name := range []string{"one", "two", "one"} {
		m.calls = nil
		s := httptest.NewServer(m)
		spec, err := openai.Parse(fmt.Sprintf("openai(base_url=%q,model=%s)", "http://model.example/v1", name))
		require.NoError(t, err)
		inner, err := openai.New(spec, llm.Options{Getenv: func(string) string { return "" }, Transport: to(s)})
		require.NoError(t, err)
		c, err := embed.NewCache(inner, dir)
		require.NoError(t, err)
		_, err = c.Embed(t.Context(), evalkit.Passage, []string{"a"})
		require.NoError(t, err)
		assert.Equal(t, i < 2, len(m.calls) == 1, "run %d: model %s", i, name)
		require.NoError(t, c.Close())
		s.Close()
	}
}

// to sends every request to s.
func to(s *httptest.Server) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		r = r.Clone(r.Context())
		r.URL.Host = strings.TrimPrefix(s.URL, "http://")
		return http.DefaultTransport.RoundTrip(r)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestHO_EM_07_Prefixes(t *testing.T) {
	m := &model{dim: 8}
	e := start(t, m, `,query_prefix="query: ",passage_prefix="passage: "`)
	assert.Contains(t, e.String(), `query_prefix="query: ",passage_prefix="passage: "`, "in the record, blanks kept")
	tok, err := token.Parse("cl100k")
	require.NoError(t, err)
	doc := evalkit.Document{ID: "d", Text: "Ships sail. Trains roll. Planes fly."}
	for _, name := range []string{"sentence(size=4)", "semantic"} {
		s, err := chunk.Parse(name, chunk.Env{Tokenizer: tok, Embedder: func(string) (evalkit.Embedder, error) { return e, nil }})
		require.NoError(t, err)
		got, err := s.Split(t.Context(), doc)
		require.NoError(t, err)
		ix, err := retrieve.Parse("dense", retrieve.Env{Embedder: e})
		require.NoError(t, err)
		r, err := ix.Index(t.Context(), got)
		require.NoError(t, err)
		hits, err := r.Retrieve(t.Context(), evalkit.Query{Text: "What flies?"}, 9)
		require.NoError(t, err)
		for _, h := range hits {
			assert.Equal(t, doc.Text[h.Chunk.Span.Start:h.Chunk.Span.End], h.Chunk.Text)
			assert.NotContains(t, h.Chunk.Text, "passage: ")
		}
	}
	queries := 0
	for _, call := range m.calls {
		for _, text := range call {
			if text == "query: What flies?" {
				queries++
				continue
			}
			assert.True(t, strings.HasPrefix(text, "passage: "), text)
			assert.NotContains(t, text[1:], "passage: ", "once")
		}
	}
	assert.Equal(t, 2, queries)
}

func TestHO_SEC_02_NoKeyAnywhere(t *testing.T) {
	const key = "hunter2-0123456789"
	m := &model{dim: 2, refuse: func(s []string) (int, string) {
		if s[0] == "bad" {
			return http.StatusForbidden, "the key " + key + " may not do this"
		}
		return 0, ""
	}}
	s := httptest.NewServer(m)
	defer s.Close()
	spec, err := openai.Parse(fmt.Sprintf("openai(base_url=%q,model=m,key_env=MY_KEY)", s.URL))
	require.NoError(t, err)
	e, err := openai.New(spec, llm.Options{Getenv: func(string) string { return key }})
	require.NoError(t, err)
	_, err = e.Embed(t.Context(), evalkit.Passage, []string{"bad"})
	require.ErrorContains(t, err, "the key [key] may not do this")
	assert.Contains(t, e.String(), "key_env=MY_KEY", "the record names the variable")
	for _, out := range []string{e.String(), e.Fingerprint(), fmt.Sprintf("%+v %#v", e, e), err.Error()} {
		assert.NotContains(t, out, key)
	}
	for _, in := range []string{
		"openai(model=m,api_key=hunter2)", `openai(model=m,base_url="https://user:hunter2@host")`, "openai(model=m,key_env=hunter-2)", "openai(hunter2", "hunter2(model=hunter2)",
		"openai(model=m,hunter=hunter2)", `openai(model=m,x=y(token=hunter2))`,
	} {
		_, err := openai.Parse(in)
		require.Error(t, err, in)
		assert.NotContains(t, err.Error(), "hunter2", in)
	}
}

func TestParse(t *testing.T) {
	spec, err := openai.Parse("openai(model=m)")
	require.NoError(t, err)
	assert.Equal(t, `openai(base_url="https://api.openai.com/v1",model="m",dimensions=0,window=0,long=error,tokenizer=cl100k,query_prefix="",passage_prefix="",key_env=OPENAI_API_KEY)`, spec.String())
	for in, want := range map[string]string{
		"openai": "model: not given", "openai(modle=m)": `did you mean "model"?`, "openai(model=m,dimensions=-1)": "dimensions", "openai(model=m,window=-1)": "window",
		"openai(model=m,batch=0)": "batch", "openai(model=m,parallel=0)": "parallel", "openai(model=m,long=x)": "not one of error, cut, split",
		"openai(model=m,tokenizer=x)": "tokenizer", "lsa": "want openai(…)",
	} {
		_, err := openai.Parse(in)
		assert.ErrorContains(t, err, want, in)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"openai(model=m)", `openai(model="a b",query_prefix="q: ",batch=3,parallel=1,timeout=0.5,tries=2,key_env=K,key_header=x-key,window=8,long=split,dimensions=3)`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		spec, err := openai.Parse(s)
		if err != nil {
			return
		}
		again, err := openai.Parse(spec.String())
		require.NoError(t, err)
		require.Equal(t, spec, again)
	})
}

func TestFingerprintCoversWhatChangesVectors(t *testing.T) {
	print := func(s string) string {
		spec, err := openai.Parse(s)
		require.NoError(t, err)
		e, err := openai.New(spec, llm.Options{Getenv: func(string) string { return "k" }})
		require.NoError(t, err)
		return e.Fingerprint()
	}
	base := print("openai(model=m)")
	assert.Equal(t, base, print("openai(model=m,batch=1,parallel=9,timeout=3,tries=1,key_env=K,key_header=h)"))
	for _, other := range []string{"model=n", `model=m,base_url="http://h"`, "model=m,dimensions=3", "model=m,window=3", "model=m,query_prefix=q", "model=m,passage_prefix=q"} {
		assert.NotEqual(t, base, print("openai("+other+")"), other)
	}
}

func TestCancelStopsAllCalls(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	m := &model{dim: 2, refuse: func([]string) (int, string) { cancel(stop); return 0, "" }}
	_, err := start(t, m, ",batch=1,parallel=1").Embed(ctx, evalkit.Passage, texts(50))
	require.ErrorIs(t, err, stop)
	assert.Less(t, len(m.sizes()), 50)
}

func TestConcurrentUse(t *testing.T) {
	e := start(t, &model{dim: 8}, ",batch=2,parallel=3")
	want, err := embed.Hash{Dim: 8}.Embed(t.Context(), evalkit.Passage, texts(9))
	require.NoError(t, err)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			got, err := e.Embed(t.Context(), evalkit.Question, texts(9))
			assert.NoError(t, err)
			assert.InDeltaSlice(t, want.Data, got.Data, 1e-6)
		})
	}
	wg.Wait()
	assert.Equal(t, 36, e.Stats().Texts)
}

func BenchmarkEmbed(b *testing.B) {
	row, _ := json.Marshal(make([]float64, 384))
	s := httptest.NewServer(&model{vector: func(string) string { return string(row) }})
	defer s.Close()
	spec, err := openai.Parse(fmt.Sprintf("openai(base_url=%q,model=m)", s.URL))
	require.NoError(b, err)
	e, err := openai.New(spec, llm.Options{})
	require.NoError(b, err)
	all := texts(256)
	for b.Loop() {
		if _, err := e.Embed(b.Context(), evalkit.Passage, all); err != nil {
			b.Fatal(err)
		}
	}
}

func ExampleParse() {
	spec, err := openai.Parse(`openai(base_url="http://localhost:11434/v1",model=nomic-embed-text,query_prefix="search_query: ")`)
	fmt.Println(spec.Model, spec.Long, err)
	// Output: nomic-embed-text error <nil>
}
