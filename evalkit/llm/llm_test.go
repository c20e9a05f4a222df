package llm_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/llm"
)

// fakeTime passes only when it is slept.
type fakeTime struct {
	mu    sync.Mutex
	at    time.Time
	slept []time.Duration
}

func (f *fakeTime) now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.at
}

func (f *fakeTime) sleep(ctx context.Context, d time.Duration) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at = f.at.Add(d)
	f.slept = append(f.slept, d)
	return ctx.Err()
}

func (f *fakeTime) clock(jitter float64) *llm.Clock {
	f.at = time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	return &llm.Clock{Now: f.now, Sleep: f.sleep, Jitter: func() float64 { return jitter }}
}

// server answers with f and counts the requests.
func server(t *testing.T, f http.HandlerFunc) (url string, calls *atomic.Int64) {
	t.Helper()
	calls = &atomic.Int64{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		f(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1", calls
}

func config(url string) llm.Config {
	return llm.Config{BaseURL: url, Model: "m", KeyEnv: llm.DefaultKeyEnv, Timeout: time.Minute, Tries: 5}
}

func noEnv(string) string { return "" }

func client(t *testing.T, c llm.Config, clock *llm.Clock) *llm.Client {
	t.Helper()
	x, err := llm.New(c, llm.Options{Getenv: noEnv, Clock: clock})
	require.NoError(t, err)
	return x
}

// good answers with one vector per text: [position, 1].
func good(w http.ResponseWriter, r *http.Request) {
	var req struct{ Input []string }
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var data []string
	for i := range req.Input {
		data = append(data, fmt.Sprintf(`{"index":%d,"embedding":[%d,1]}`, i, i))
	}
	fmt.Fprintf(w, `{"model":"m-1","data":[%s],"usage":{"prompt_tokens":7,"total_tokens":7}}`, strings.Join(data, ","))
}

func body(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
}

func TestHO_EM_01_RateLimit(t *testing.T) {
	t.Run("429 twice, then good", func(t *testing.T) {
		n := atomic.Int64{}
		url, calls := server(t, func(w http.ResponseWriter, r *http.Request) {
			if n.Add(1) <= 2 {
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(http.StatusTooManyRequests)
				return
			}
			good(w, r)
		})
		f := &fakeTime{}
		c := client(t, config(url), f.clock(0))
		got, err := c.Embed(t.Context(), []string{"a"}, 0)
		require.NoError(t, err)
		assert.Equal(t, [][]float64{{0, 1}}, got.Rows)
		assert.EqualValues(t, 3, calls.Load())
		assert.Equal(t, []time.Duration{time.Second, time.Second}, f.slept, "at least the told time")
		assert.Equal(t, llm.Usage{Calls: 3, Retries: 2, Prompt: 7}, c.Usage())
	})
	t.Run("always 429", func(t *testing.T) {
		url, calls := server(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) })
		f := &fakeTime{}
		c := client(t, config(url), f.clock(0))
		_, err := c.Embed(t.Context(), []string{"a"}, 0)
		var status *llm.StatusError
		require.ErrorAs(t, err, &status)
		assert.Equal(t, 429, status.Status)
		assert.Equal(t, 5, status.Tries)
		assert.EqualValues(t, 5, calls.Load(), "bounded")
		assert.Equal(t, []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second}, f.slept, "growing")
		for range 3 {
			_, err = c.Embed(t.Context(), []string{"b"}, 0)
			require.ErrorContains(t, err, "status 429 Too Many Requests after 5 tries")
		}
		assert.EqualValues(t, 5, calls.Load(), "a server that is down is not asked before the wait is over")
		require.NoError(t, f.sleep(t.Context(), time.Minute))
		_, err = c.Embed(t.Context(), []string{"b"}, 0)
		require.ErrorContains(t, err, "status 429")
		assert.EqualValues(t, 6, calls.Load(), "and then once")
	})
	t.Run("500 then good", func(t *testing.T) {
		n := atomic.Int64{}
		url, _ := server(t, func(w http.ResponseWriter, r *http.Request) {
			if n.Add(1) == 1 {
				http.Error(w, "oops", http.StatusInternalServerError)
				return
			}
			good(w, r)
		})
		f := &fakeTime{}
		_, err := client(t, config(url), f.clock(0.5)).Embed(t.Context(), []string{"a"}, 0)
		require.NoError(t, err)
		// 500 ms and half of 250 ms of jitter for all, and half of 250 ms for this one.
		assert.Equal(t, []time.Duration{750 * time.Millisecond}, f.slept)
	})
	t.Run("401 is final", func(t *testing.T) {
		url, calls := server(t, func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, `{"error":{"message":"no"}}`, http.StatusUnauthorized)
		})
		_, err := client(t, config(url), nil).Embed(t.Context(), []string{"a"}, 0)
		require.ErrorContains(t, err, "set the variable OPENAI_API_KEY")
		assert.EqualValues(t, 1, calls.Load())
	})
	t.Run("slow", func(t *testing.T) {
		url, calls := server(t, func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		})
		c := config(url)
		c.Timeout, c.Tries = 10*time.Millisecond, 2
		_, err := client(t, c, (&fakeTime{}).clock(0)).Embed(t.Context(), []string{"a"}, 0)
		require.ErrorContains(t, err, "no answer within 10ms (after 2 tries)")
		assert.LessOrEqual(t, calls.Load(), int64(2))
	})
}

func TestHO_EM_01_WaitsAreShared(t *testing.T) {
	// All workers are refused together. The wait grows once, and every one of
	// them waits.
	const workers = 8
	var first sync.WaitGroup
	first.Add(workers)
	n := atomic.Int64{}
	url, calls := server(t, func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) <= workers {
			first.Done()
			first.Wait()
			w.Header().Set("Retry-After", "3")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		good(w, r)
	})
	f := &fakeTime{}
	clock := f.clock(0)
	start := f.at
	c := client(t, config(url), clock)
	var wg sync.WaitGroup
	errs := make([]error, workers)
	for i := range workers {
		wg.Go(func() { _, errs[i] = c.Embed(t.Context(), []string{"a"}, 0) })
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	assert.EqualValues(t, 2*workers, calls.Load())
	assert.GreaterOrEqual(t, f.at.Sub(start), 3*time.Second)
	for _, d := range f.slept {
		assert.LessOrEqual(t, d, 3*time.Second, "eight refusals at once are one round")
	}
}

func TestRetryAfter(t *testing.T) {
	f := &fakeTime{}
	f.clock(0)
	for _, c := range []struct {
		header, value string
		want          time.Duration // 500 ms is the own wait
	}{
		{"Retry-After", "2", 2 * time.Second},
		{"Retry-After", "1.5", 1500 * time.Millisecond},
		{"Retry-After-Ms", "900", 900 * time.Millisecond},
		{"Retry-After", f.at.Add(20 * time.Second).Format(http.TimeFormat), 20 * time.Second},
		{"Retry-After", f.at.Add(-20 * time.Second).Format(http.TimeFormat), 500 * time.Millisecond},
		{"Retry-After", "soon", 500 * time.Millisecond},
		{"Retry-After", "-4", 500 * time.Millisecond},
		{"Retry-After", "NaN", 500 * time.Millisecond},
	} {
		n := atomic.Int64{}
		url, _ := server(t, func(w http.ResponseWriter, r *http.Request) {
			if n.Add(1) == 1 {
				w.Header().Set(c.header, c.value)
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			good(w, r)
		})
		f := &fakeTime{}
		_, err := client(t, config(url), f.clock(0)).Embed(t.Context(), []string{"a"}, 0)
		require.NoError(t, err)
		assert.Equal(t, []time.Duration{c.want}, f.slept, "%s: %s", c.header, c.value)
	}
	for _, value := range []string{"3600", "1e300"} {
		url, calls := server(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", value)
			w.WriteHeader(http.StatusTooManyRequests)
		})
		_, err := client(t, config(url), (&fakeTime{}).clock(0)).Embed(t.Context(), []string{"a"}, 0)
		require.ErrorContains(t, err, "it asks to wait", "nobody waits an hour")
		assert.EqualValues(t, 1, calls.Load())
	}
}

func TestQuotaIsFinal(t *testing.T) {
	url, calls := server(t, func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, `{"error":{"message":"You exceeded your quota","type":"insufficient_quota","code":"insufficient_quota"}}`, http.StatusTooManyRequests)
	})
	_, err := client(t, config(url), nil).Embed(t.Context(), []string{"a"}, 0)
	require.ErrorContains(t, err, "You exceeded your quota; waiting does not help")
	assert.EqualValues(t, 1, calls.Load())
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	url, calls := server(t, func(w http.ResponseWriter, _ *http.Request) {
		cancel()
		w.WriteHeader(http.StatusTooManyRequests)
	})
	_, err := client(t, config(url), nil).Embed(ctx, []string{"a"}, 0)
	require.ErrorIs(t, err, context.Canceled)
	assert.EqualValues(t, 1, calls.Load())
}

func TestBrokenConnection(t *testing.T) {
	n := atomic.Int64{}
	url, _ := server(t, func(w http.ResponseWriter, r *http.Request) {
		switch n.Add(1) {
		case 1: // closed without an answer
			c, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				_ = c.Close()
			}
		case 2: // half of an answer
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, `{"data":[`)
		default:
			good(w, r)
		}
	})
	f := &fakeTime{}
	got, err := client(t, config(url), f.clock(0)).Embed(t.Context(), []string{"a"}, 0)
	require.NoError(t, err)
	assert.Equal(t, 2, got.Dim)
	assert.Len(t, f.slept, 2)
}

func TestHO_EM_02_Order(t *testing.T) {
	three := func(index ...string) http.HandlerFunc {
		var data []string
		for i, x := range index {
			data = append(data, fmt.Sprintf(`{%s"embedding":[%d,1]}`, x, i))
		}
		return body(`{"data":[` + strings.Join(data, ",") + `]}`)
	}
	embed := func(h http.HandlerFunc) (*llm.Embeddings, error) {
		url, _ := server(t, h)
		return client(t, config(url), nil).Embed(t.Context(), []string{"a", "b", "c"}, 0)
	}
	got, err := embed(three(`"index":1,`, `"index":2,`, `"index":0,`))
	require.NoError(t, err)
	assert.Equal(t, [][]float64{{2, 1}, {0, 1}, {1, 1}}, got.Rows)
	got, err = embed(three("", "", ""))
	require.NoError(t, err)
	assert.Equal(t, [][]float64{{0, 1}, {1, 1}, {2, 1}}, got.Rows, "without an index, as they come")
	for want, h := range map[string]http.HandlerFunc{
		"2 vectors for 3 texts":      three("", ""),
		"4 vectors for 3 texts":      three("", "", "", ""),
		"0 vectors for 3 texts":      body(`{}`),
		"two vectors have index 1":   three(`"index":1,`, `"index":1,`, `"index":0,`),
		"index 3, of 3 texts":        three(`"index":3,`, `"index":1,`, `"index":0,`),
		"index -1, of 3 texts":       three(`"index":-1,`, `"index":1,`, `"index":0,`),
		"vectors of 2 and 1":         body(`{"data":[{"embedding":[1,2]},{"embedding":[1]},{"embedding":[1,2]}]}`),
		"not that of an OpenAI serv": body(`<html>hello</html>`),
	} {
		_, err := embed(h)
		assert.ErrorContains(t, err, want)
	}
	_, err = embed(three("", ""))
	var count *llm.CountError
	require.ErrorAs(t, err, &count)
}

func TestHO_EM_04_NumbersThatAreNone(t *testing.T) {
	url, _ := server(t, body(`{"model":"NaN","data":[{"embedding":[1,null]},{"embedding":[NaN,2]},{"embedding":[-Infinity,2]},{"embedding":null},{"embedding":[3,4]}]}`))
	got, err := client(t, config(url), nil).Embed(t.Context(), []string{"a", "b", "c", "d", "e"}, 0)
	require.NoError(t, err)
	assert.Equal(t, [][]float64{nil, nil, nil, nil, {3, 4}}, got.Rows)
	assert.Equal(t, "NaN", got.Model, "text is left alone")
}

func TestChat(t *testing.T) {
	var sent map[string]any
	reply := `{"model":"m-1","choices":[{"message":{"content":"yes"},"finish_reason":"stop"}],"usage":{"prompt_tokens":11,"completion_tokens":2}}`
	url, _ := server(t, func(w http.ResponseWriter, r *http.Request) {
		sent = nil
		_ = json.NewDecoder(r.Body).Decode(&sent)
		_, _ = io.WriteString(w, reply)
	})
	c := client(t, config(url), nil)
	got, err := c.Chat(t.Context(), llm.ChatRequest{System: "s", User: "u", Seed: 3, MaxTokens: 9})
	require.NoError(t, err)
	assert.Equal(t, &llm.ChatAnswer{Text: "yes", Model: "m-1", Prompt: 11, Completion: 2}, got)
	assert.Equal(t, map[string]any{
		"model": "m", "seed": 3., "max_tokens": 9., "temperature": 0., "stream": false,
		"messages": []any{map[string]any{"role": "system", "content": "s"}, map[string]any{"role": "user", "content": "u"}},
	}, sent, "a temperature of 0 is sent")
	assert.Equal(t, llm.Usage{Calls: 1, Prompt: 11, Completion: 2}, c.Usage())

	_, err = c.Chat(t.Context(), llm.ChatRequest{User: "u", Temperature: -1})
	require.NoError(t, err)
	assert.NotContains(t, sent, "temperature")

	for in, want := range map[string]string{
		`{"choices":[]}`: "no choice",
		`{"choices":[{"message":{"content":""},"finish_reason":"length"}]}`:          "ended at the limit of tokens",
		`{"choices":[{"message":{"content":""},"finish_reason":"stop"}]}`:            "empty",
		`{"choices":[{"message":{"content":"x"},"finish_reason":"content_filter"}]}`: "withheld",
		`[]`: "not that of an OpenAI server",
	} {
		reply = in
		_, err = c.Chat(t.Context(), llm.ChatRequest{User: "u"})
		require.ErrorContains(t, err, want)
	}
	reply = `{"choices":[{"message":{"content":"half"},"finish_reason":"length"}]}`
	got, err = c.Chat(t.Context(), llm.ChatRequest{User: "u"})
	require.NoError(t, err)
	assert.True(t, got.Cut)
}

func TestReasoningModelsTakeAnotherLimit(t *testing.T) {
	var sent map[string]any
	url, _ := server(t, func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewDecoder(r.Body).Decode(&sent)
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"x"}}]}`)
	})
	cfg := config(url)
	cfg.Model = "gpt-5-mini"
	_, err := client(t, cfg, nil).Chat(t.Context(), llm.ChatRequest{User: "u", MaxTokens: 9, Temperature: -1})
	require.NoError(t, err)
	assert.Contains(t, sent, "max_completion_tokens")
	assert.NotContains(t, sent, "max_tokens")
}

func TestReadConfig(t *testing.T) {
	for in, want := range map[string]string{
		"x(model=m)": `base_url="https://api.openai.com/v1",model="m",key_env=OPENAI_API_KEY`,
		`x(model="a/b:c",base_url="http://h:1/v1",key_env=K_2,key_header=api-key,timeout=2.5,tries=1)`: `base_url="http://h:1/v1",model="a/b:c",key_env=K_2,key_header=api-key,timeout=2.5,tries=1`,
	} {
		e, err := evalkit.ParseExpr(in)
		require.NoError(t, err)
		c, err := llm.ReadConfig(e.Settings())
		require.NoError(t, err)
		assert.Equal(t, want, c.Identity()+c.Rest())
		again, err := evalkit.ParseExpr("x(" + want + ")")
		require.NoError(t, err)
		d, err := llm.ReadConfig(again.Settings())
		require.NoError(t, err)
		assert.Equal(t, c, d)
	}
	for in, want := range map[string]string{
		"x": "model: not given", "x(model=m,tries=0)": "tries: 0 is below 1", "x(model=m,timeout=0)": "timeout: 0 is not above 0", "x(model=m,key_env=1)": "key_env",
	} {
		e, err := evalkit.ParseExpr(in)
		require.NoError(t, err)
		_, err = llm.ReadConfig(e.Settings())
		assert.ErrorContains(t, err, want)
	}
}

func TestServerMessages(t *testing.T) {
	for in, want := range map[string]string{
		`{"error":{"message":"a"}}`:            "a",
		`{"error":"b","error_type":"x"}`:       "b",
		`{"detail":[{"msg":"c"}]}`:             `[{"msg":"c"}]`,
		`{"object":"error","message":"d\n e"}`: "d e",
		"plain  text\n":                        "plain text",
		strings.Repeat("x", 400):               strings.Repeat("x", 300) + "…",
	} {
		url, _ := server(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, in)
		})
		_, err := client(t, config(url), nil).Embed(t.Context(), []string{"a"}, 0)
		var status *llm.StatusError
		require.ErrorAs(t, err, &status)
		assert.Equal(t, want, status.Message)
		assert.True(t, status.Refused())
	}
}
