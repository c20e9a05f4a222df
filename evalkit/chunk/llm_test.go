package chunk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/chunk/chunktest"
	"github.com/chunkeval/chunkeval/evalkit/llm"
)

// thirds is a model that cuts behind every third part, and writes the beginning
// of a chunk as its line; reply, if it is there, answers in its place.
type thirds struct {
	reply func(prompt string) (string, error)
	mu    sync.Mutex
	asked []string
}

func (*thirds) String() string { return "thirds" }
func (*thirds) Model() string  { return "thirds" }

func (c *thirds) Chat(_ context.Context, prompt string, _ int) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, prompt)
	if c.reply != nil {
		return c.reply(prompt)
	}
	return thirdsReply(prompt), nil
}

func thirdsReply(prompt string) string {
	if _, chunk, ok := strings.Cut(prompt, "<chunk>\n"); ok {
		return "About " + strings.Join(strings.Fields(chunk[:min(20, len(chunk))]), " ") + "."
	}
	n := strings.Count(prompt, "</part>")
	var out []string
	for i := 3; i < n; i += 3 {
		out = append(out, fmt.Sprint(i))
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, ", ")
}

func strategyWith(t *testing.T, s string, c Chat) evalkit.Strategy {
	t.Helper()
	e := env(t)
	e.Chat = func(string) (Chat, error) { return c, nil }
	out, err := Parse(s, e)
	require.NoError(t, err)
	return out
}

const seven = "One is. Two is. Three is. Four is. Five is. Six is. Seven is."

func TestLLMSemanticCutsWhereTheModelSays(t *testing.T) {
	for reply, want := range map[string][]string{
		"3, 6":                      {"One is. Two is. Three is.", "Four is. Five is. Six is.", "Seven is."},
		"1":                         {"One is.", "Two is. Three is. Four is. Five is. Six is. Seven is."},
		"none":                      {seven},
		"Topics change.\n\n**2,7**": {"One is. Two is.", "Three is. Four is. Five is. Six is. Seven is."},
	} {
		c := &thirds{reply: func(string) (string, error) { return reply, nil }}
		got, err := strategyWith(t, "llm_semantic", c).Split(t.Context(), evalkit.Document{ID: "d", Text: seven})
		require.NoError(t, err)
		assert.Equal(t, want, texts(got), reply)
		assert.Len(t, c.asked, 1)
		assert.Contains(t, c.asked[0], "<part 7>Seven is.</part>")
	}
}

func TestLLMSemanticAnswersThatAreNone(t *testing.T) {
	doc := evalkit.Document{ID: "d", Text: seven}
	for _, reply := range []string{"", "3, 2", "0", "8", "3 3", "three", "after part 3", "3, 99999999999999999999"} {
		c := &thirds{reply: func(string) (string, error) { return reply, nil }}
		_, err := strategyWith(t, "llm_semantic", c).Split(t.Context(), doc)
		require.ErrorContains(t, err, "no list of numbers from 1 to 6", reply)
		assert.Len(t, c.asked, 2, "asked once more")
		assert.NotEqual(t, c.asked[0], c.asked[1], "with other words, or a cache would give the same answer")
	}
	n := 0
	c := &thirds{reply: func(string) (string, error) {
		if n++; n == 1 {
			return "well", nil
		}
		return "4", nil
	}}
	got, err := strategyWith(t, "llm_semantic", c).Split(t.Context(), doc)
	require.NoError(t, err)
	assert.Len(t, got, 2)
	c = &thirds{reply: func(string) (string, error) { return "", errors.New("down") }}
	_, err = strategyWith(t, "llm_semantic", c).Split(t.Context(), doc)
	require.ErrorContains(t, err, "sentences 1 to 7: llm: down")
}

func TestLLMSemanticViewsMoveOn(t *testing.T) {
	long := evalkit.Document{ID: "d", Text: strings.Repeat("A sentence of some ten tokens stands here again. ", 60)}
	for _, reply := range []string{"1", "none", "2, 3"} {
		c := &thirds{reply: func(string) (string, error) { return reply, nil }}
		s := strategyWith(t, "llm_semantic(size=100,view=60)", c)
		got, err := s.Split(t.Context(), long)
		require.NoError(t, err)
		for _, x := range got {
			assert.LessOrEqual(t, x.Tokens, 100)
		}
		calls, prompt, _ := s.(LLMSemantic).Sends(long)
		assert.LessOrEqual(t, len(c.asked), calls, "the estimate is an upper bound")
		sent := 0
		for _, p := range c.asked {
			sent += env(t).Tokenizer.Count(p)
		}
		assert.LessOrEqual(t, sent, prompt)
	}
}

func TestContextualFillsTheHeaderAndNothingElse(t *testing.T) {
	doc := evalkit.Document{ID: "d", Text: "# Ports\n\nThe harbour opens at six.\n\n# Ice\n\nThe buoy drifts with the ice."}
	c := &thirds{reply: func(string) (string, error) { return " It is about\nboats. \n", nil }}
	got, err := strategyWith(t, "contextual(strategy=markdown(size=12))", c).Split(t.Context(), doc)
	require.NoError(t, err)
	plain := split(t, "markdown(size=12)", doc.Text)
	require.Len(t, got, len(plain))
	for i := range got {
		want := "It is about boats."
		if plain[i].Header != "" {
			want = plain[i].Header + "\n" + want
		}
		assert.Equal(t, want, got[i].Header, "behind the header of the inner strategy")
		got[i].Header = plain[i].Header
	}
	assert.Equal(t, plain, got)
	assert.Contains(t, c.asked[0], doc.Text)

	for reply, want := range map[string]string{" \n": "the answer is blank"} {
		c := &thirds{reply: func(string) (string, error) { return reply, nil }}
		_, err := strategyWith(t, "contextual", c).Split(t.Context(), doc)
		require.ErrorContains(t, err, want)
	}
	c = &thirds{reply: func(string) (string, error) { return "", errors.New("down") }}
	_, err = strategyWith(t, "contextual", c).Split(t.Context(), doc)
	require.ErrorContains(t, err, "chunk 0: llm: down")
}

func TestContextualShowsThePartAroundTheChunk(t *testing.T) {
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "Line number %d ä🙂. ", i)
	}
	c := &thirds{}
	s := strategyWith(t, "contextual(strategy=sentence(size=40),view=200)", c)
	got, err := s.Split(t.Context(), evalkit.Document{ID: "d", Text: b.String()})
	require.NoError(t, err)
	require.Len(t, c.asked, len(got))
	for _, prompt := range c.asked {
		_, document, _ := strings.Cut(prompt, "<document>\n")
		document, rest, _ := strings.Cut(document, "\n</document>")
		_, chunk, _ := strings.Cut(rest, "<chunk>\n")
		chunk, _, _ = strings.Cut(chunk, "\n</chunk>")
		assert.Contains(t, document, chunk)
		assert.LessOrEqual(t, env(t).Tokenizer.Count(document), 205)
	}
	calls, prompt, _ := s.(Contextual).Sends(evalkit.Document{Text: b.String()})
	assert.Positive(t, calls*prompt)
}

func TestLLMStrategiesNeedAModel(t *testing.T) {
	for _, s := range []string{"llm_semantic", "contextual"} {
		_, err := Parse(s, Env{Tokenizer: env(t).Tokenizer})
		require.ErrorContains(t, err, "cannot be used here")
		_, err = Parse(s, Env{Tokenizer: env(t).Tokenizer, Chat: func(string) (Chat, error) { return nil, errors.New("not given") }})
		require.ErrorContains(t, err, "llm: not given")
	}
	_, err := Parse("contextual(strategy=nothing_like_it)", env(t))
	require.ErrorContains(t, err, "strategy: parse strategy")
}

// TestConformanceOverHTTP runs the whole way: a server, a client, a cache. The
// server never answers the same twice; the cache makes chunks the same.
func TestConformanceOverHTTP(t *testing.T) {
	var mu sync.Mutex
	calls := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req struct{ Messages []struct{ Content string } }
		_ = json.NewDecoder(r.Body).Decode(&req)
		mu.Lock()
		defer mu.Unlock()
		calls++
		text := thirdsReply(req.Messages[0].Content)
		if strings.HasPrefix(text, "About") {
			text += fmt.Sprint(calls)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"message": map[string]string{"content": text}}}})
	}))
	defer server.Close()
	dir := t.TempDir()
	build := func(s string) evalkit.Strategy {
		e := env(t)
		e.Chat = func(spec string) (Chat, error) {
			return llm.ParseModel(spec, func(c llm.Config) (llm.Chatter, error) {
				client, err := llm.New(c, llm.Options{Getenv: func(string) string { return "" }})
				return llm.NewCache(client, c.Identity(), dir), err
			})
		}
		out, err := Parse(s, e)
		require.NoError(t, err)
		again, err := Parse(out.String(), e)
		require.NoError(t, err)
		assert.Equal(t, out.String(), again.String())
		return out
	}
	for _, s := range []string{"llm_semantic(size=50,llm=openai(base_url=%q,model=m))", "contextual(strategy=sentence(size=60),llm=openai(base_url=%q,model=m))"} {
		s = fmt.Sprintf(s, server.URL+"/v1")
		chunktest.Run(t, build(s))
		before := calls
		chunktest.Run(t, build(s))
		assert.Equal(t, before, calls, "a second run is free: %s", s)
	}
}

func TestHO_SEC_02_ModelSettings(t *testing.T) {
	_, err := llm.ParseModel("openai(model=m,api_key=hunter2)", nil)
	require.ErrorContains(t, err, "environment")
	assert.NotContains(t, err.Error(), "hunter2")
	for in, want := range map[string]string{"": "not given", "x": "known is openai", "openai(model=m,temperature=3)": "temperature", "openai": "model", "openai(model=m,x=1)": "unknown key"} {
		_, err := llm.ParseModel(in, nil)
		require.ErrorContains(t, err, want)
	}
}
