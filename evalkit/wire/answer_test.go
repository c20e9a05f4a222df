package wire

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit/embed/openai"
	"github.com/chunkeval/chunkeval/evalkit/experiment"
	"github.com/chunkeval/chunkeval/evalkit/llm"
)

// chatServer answers "eight weeks", and YES or NO to judges in turn; it embeds
// every text alike.
type chatServer struct {
	mu    sync.Mutex
	chats int
	texts int
	fail  bool
}

func (s *chatServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Model    string
		Input    []string
		Messages []struct{ Content string }
	}
	_ = json.NewDecoder(r.Body).Decode(&req)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail {
		http.Error(w, "no", http.StatusBadRequest)
		return
	}
	if strings.HasSuffix(r.URL.Path, "/embeddings") {
		s.texts += len(req.Input)
		data := []string{}
		for i := range req.Input {
			data = append(data, fmt.Sprintf(`{"index":%d,"embedding":[1,1]}`, i))
		}
		fmt.Fprintf(w, `{"data":[%s],"usage":{"prompt_tokens":5}}`, strings.Join(data, ","))
		return
	}
	s.chats++
	text := "eight weeks"
	if prompt := req.Messages[0].Content; strings.HasPrefix(prompt, "Below are numbered parts") {
		text = "1"
	} else if strings.HasPrefix(prompt, "You check") {
		text = "VERDICT: YES"
		if strings.Index(prompt, "<answer>") < strings.Index(prompt, "<question>") && strings.Contains(prompt, "<reference>") {
			text = "VERDICT: NO"
		}
	}
	fmt.Fprintf(w, `{"model":"%s-1","choices":[{"message":{"content":%q},"finish_reason":"stop"}],"usage":{"prompt_tokens":100,"completion_tokens":4}}`, req.Model, text)
}

func (s *chatServer) start(t *testing.T) string {
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	return h.URL + "/v1"
}

// asked is groups over a data set with a reference answer and a question that
// has none.
func asked(t *testing.T, lab *Lab, text string) ([]*Group, error) {
	t.Helper()
	dir := toy(t)
	write(t, filepath.Join(dir, "queries.jsonl"), `{"id":"q1","question":"What drifts?","answer":"the buoy","gold":[{"doc":"a.md","quote":"The buoy drifts with the ice."}]}
{"id":"q2","question":"What listens?","gold":[{"doc":"a.md","quote":"The node listens on the seabed."}]}
{"id":"q3","question":"Who paints?","gold":[],"unanswerable":true}
`)
	c, err := ReadConfig(write(t, filepath.Join(t.TempDir(), "x.yaml"), "dataset: "+dir+"\n"+text))
	require.NoError(t, err)
	return lab.Groups(c)
}

// runAll runs all Experiments of groups.
func runAll(t *testing.T, gs []*Group) []*experiment.Result {
	t.Helper()
	var all []*experiment.Result
	for _, g := range gs {
		for r, err := range experiment.Run(t.Context(), g.Setup, g.Settings, experiment.Options{}) {
			require.NoError(t, err)
			all = append(all, r)
		}
	}
	return all
}

func TestAnsweringAndJudging(t *testing.T) {
	s := &chatServer{}
	url := s.start(t)
	dir := t.TempDir()
	config := fmt.Sprintf("strategies: [page]\nretriever: bm25\nanswerer:\n  openai: {base_url: %q, model: a, tries: 1}\njudge:\n  openai: {base_url: %q, model: j, tries: 1}\n", url, url)
	lab := &Lab{CacheDir: dir}
	gs, err := asked(t, lab, config)
	require.NoError(t, err)
	assert.Contains(t, gs[0].Specs[0].Answerer, `model="a"`)
	assert.Contains(t, gs[0].Specs[0].Judge, `model="j"`)
	assert.Contains(t, gs[0].Components, "answerer")
	assert.Contains(t, gs[0].Components, "judge")
	queries := gs[0].Setup.Dataset.Queries
	estimates, notes, err := Estimate(t.Context(), gs)
	require.NoError(t, err)
	assert.Empty(t, notes)
	require.Len(t, estimates, 2)
	assert.Equal(t, []string{"answerer", "a"}, []string{estimates[0].What, estimates[0].Model})
	assert.Equal(t, len(queries), estimates[0].Calls)
	assert.Zero(t, s.chats, "an estimate sends nothing")

	r := runAll(t, gs)[0]
	sent := s.chats
	judged := 0
	for i, q := range r.Strategies[0].Queries {
		require.Empty(t, q.Answer.Failed)
		assert.Equal(t, "eight weeks", q.Answer.Text)
		assert.Equal(t, []any{"a-1", 100, 4}, []any{q.Answer.Model, q.Answer.PromptTokens, q.Answer.CompletionTokens})
		assert.Equal(t, queries[i].ID, q.Query)
		judged += len(q.Answer.Verdicts)
		for _, v := range q.Answer.Verdicts {
			assert.Equal(t, []string{"j-1", "judge-v1"}, []string{v.Judge, v.PromptVersion})
			assert.Contains(t, v.Raw, "VERDICT: ")
		}
	}
	assert.Equal(t, len(queries)+judged, sent)
	assert.LessOrEqual(t, sent, estimates[0].Calls+estimates[1].Calls)
	sum := r.Record.Effective[0].Answers
	assert.Equal(t, len(queries), sum.N)
	assert.Equal(t, 100*sent, sum.PromptTokens)
	for _, m := range sum.Means {
		if m.Metric == "faithfulness" {
			assert.InDelta(t, 1, *m.Mean, 0)
		}
		if m.Metric == "correctness" {
			assert.Equal(t, 1, m.N, "one reference")
			assert.InDelta(t, 0.5, *m.Mean, 0)
		}
		assert.Equal(t, len(queries), m.N+m.Undefined, m.Metric)
	}
	require.Len(t, sum.Agreement, 2)
	assert.Equal(t, "all verdicts are the same", sum.Agreement[0].Note)

	prices := llm.Prices{Currency: "USD", Models: map[string]llm.Price{"a": {Prompt: 1, Completion: 2}}}
	spent := lab.TakeUsage(prices)
	require.Len(t, spent, 2)
	assert.Equal(t, "answerer", spent[0].Role)
	assert.InDelta(t, float64(len(queries))*(100+8)/1e6, *spent[0].Cost, 1e-12)
	assert.Nil(t, spent[1].Cost, "no price, no cost")
	assert.Empty(t, lab.TakeUsage(prices), "taken")

	// Again: from the cache, and the same.
	again, err := asked(t, &Lab{CacheDir: dir}, config)
	require.NoError(t, err)
	assert.Equal(t, r.Strategies, runAll(t, again)[0].Strategies)
	assert.Equal(t, sent, s.chats)
	assert.Equal(t, gs[0].Fingerprint(0), again[0].Fingerprint(0))
}

func TestFailedAnswersCount(t *testing.T) {
	s := &chatServer{fail: true}
	gs, err := asked(t, &Lab{}, fmt.Sprintf("strategies: [page]\nretriever: bm25\nanswerer: 'openai(base_url=%q,model=a)'\n", s.start(t)))
	require.NoError(t, err)
	r := runAll(t, gs)[0]
	sum := r.Record.Effective[0].Answers
	assert.Equal(t, sum.N, sum.Failed)
	assert.Equal(t, sum.N, r.Record.Counts.AnswersFailed)
	for _, m := range sum.Means {
		if m.Metric == "abstention" {
			assert.Equal(t, sum.N, m.N)
			assert.InDelta(t, 0, *m.Mean, 0)
		}
	}
	assert.Contains(t, strings.Join(r.Record.Warnings, "\n"), "status 400")
	for i, q := range r.Strategies[0].Queries {
		for _, score := range q.Answer.Scores {
			undefined := score.Metric != "abstention" && gs[0].Setup.Dataset.Queries[i].Answer == ""
			assert.Equal(t, undefined, score.Reason != "", "%s %s: %s", q.Query, score.Metric, score.Reason)
			assert.Zero(t, score.Value)
		}
	}
}

func TestAnswererKeys(t *testing.T) {
	gs, err := groups(t, &Lab{}, "strategies: [page]\nanswerer: extractive\n")
	require.NoError(t, err)
	assert.Equal(t, "extractive(sentences=1,min_match=0.25)", gs[0].Specs[0].Answerer)
	estimates, _, err := Estimate(t.Context(), gs)
	require.NoError(t, err)
	assert.Empty(t, estimates, "nothing is sent")
	for _, q := range runAll(t, gs)[0].Strategies[0].Queries {
		assert.NotEmpty(t, q.Answer.Text)
		assert.Len(t, q.Answer.PromptSHA256, 64)
	}
	gs, err = groups(t, &Lab{}, "strategies: [page]\nanswerer: none\n")
	require.NoError(t, err)
	assert.Empty(t, gs[0].Specs[0].Answerer)
	assert.Nil(t, gs[0].Setup.Answerer)
	for text, want := range map[string]string{
		"answerer: extractve":                                    `x.yaml:3: answerer: parse answerer "extractve"`,
		"judge: openai(model=m)":                                 "x.yaml:3: judge: there is nothing to judge",
		"answerer: extractive\njudge: x":                         "x.yaml:4: judge: parse judge",
		"answerer: openai(model=m,api_key=hunter2)":              "environment",
		"answerer: openai(model=m,key_env=NO_SUCH_VARIABLE_SET)": "the variable NO_SUCH_VARIABLE_SET is not set",
	} {
		_, err := groups(t, &Lab{}, "strategies: [page]\n"+text+"\n")
		require.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), "hunter2")
	}
}

func TestEstimateOfEmbedding(t *testing.T) {
	s := &chatServer{}
	lab := &Lab{Embedders: []EmbedderKind{{"openai", openai.Open}}}
	gs, err := groups(t, lab, fmt.Sprintf("strategies: [page, semantic]\nembedder: 'openai(base_url=%q,model=e,batch=2)'\nsweep: {retriever: [dense, hybrid]}\n", s.start(t)))
	require.NoError(t, err)
	estimates, notes, err := Estimate(t.Context(), gs)
	require.NoError(t, err)
	assert.Zero(t, s.texts)
	require.Len(t, estimates, 1, "one embedder, whatever the retriever")
	assert.Len(t, notes, 2)
	runAll(t, gs)
	spent := lab.TakeUsage(llm.Prices{})
	require.Len(t, spent, 1)
	assert.Equal(t, "embedder", spent[0].Role)
	assert.Positive(t, s.texts)
	require.NoError(t, lab.Close())
}

func TestStrategiesThatAskAModel(t *testing.T) {
	s := &chatServer{}
	model := fmt.Sprintf("openai(base_url=%q,model=c)", s.start(t))
	config := "strategies:\n  - 'llm_semantic(llm=" + model + ")'\n  - 'contextual(strategy=page,llm=" + model + ")'\nretriever: bm25\n"
	dir := t.TempDir()
	lab := &Lab{CacheDir: dir}
	gs, err := groups(t, lab, config)
	require.NoError(t, err)
	estimates, notes, err := Estimate(t.Context(), gs)
	require.NoError(t, err)
	assert.Len(t, notes, 2)
	assert.Zero(t, s.chats)
	require.Len(t, estimates, 2)
	assert.Equal(t, []string{"llm_semantic", "c"}, []string{estimates[0].What, estimates[0].Model})
	r := runAll(t, gs)[0]
	assert.Len(t, r.Strategies[0].Chunks, 2)
	assert.Equal(t, "eight weeks", r.Strategies[1].Chunks[0].Header)
	assert.Equal(t, 2, s.chats)
	spent := lab.TakeUsage(llm.Prices{})
	require.Len(t, spent, 1, "one client for one model")
	assert.Equal(t, []any{"chunker", 2}, []any{spent[0].Role, spent[0].Calls})
	again, err := groups(t, &Lab{CacheDir: dir}, config)
	require.NoError(t, err)
	assert.Equal(t, r.Strategies, runAll(t, again)[0].Strategies)
	assert.Equal(t, 2, s.chats, "a second run is free")

	_, err = groups(t, &Lab{}, "strategies: [llm_semantic]\n")
	require.ErrorContains(t, err, "llm: parse model \"\": not given")
	_, err = groups(t, &Lab{}, "strategies: ['contextual(llm=openai(model=m,api_key=hunter2))']\n")
	require.ErrorContains(t, err, "strategies[0]")
	assert.NotContains(t, err.Error(), "hunter2")
}

func TestReadPrices(t *testing.T) {
	dir := t.TempDir()
	read := func(text string) (llm.Prices, error) {
		return ReadPrices(write(t, filepath.Join(dir, "p.yaml"), text))
	}
	p, err := read("currency: EUR\nmodels:\n  gpt-4.1: {prompt: 2, completion: 8}\n  e: {prompt: 0.02}\n")
	require.NoError(t, err)
	assert.Equal(t, llm.Prices{Currency: "EUR", Models: map[string]llm.Price{"gpt-4.1": {Prompt: 2, Completion: 8}, "e": {Prompt: 0.02}}}, p)
	for text, want := range map[string]string{
		"models: {m: {promt: 1}}": `did you mean "prompt"?`, "models: {m: {prompt: x}}": "not a number", "models: {m: {prompt: -1}}": "not a number of at least 0",
		"models: 3": "want a model", "": "want the keys", "price: 1": "unknown key",
	} {
		_, err := read(text)
		assert.ErrorContains(t, err, want, text)
	}
	_, err = ReadPrices(dir + "/none.yaml")
	require.Error(t, err)
}
