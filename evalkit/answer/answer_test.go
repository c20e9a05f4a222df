package answer_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/answer"
	"github.com/chunkeval/chunkeval/evalkit/expand"
	"github.com/chunkeval/chunkeval/evalkit/llm"
	"github.com/chunkeval/chunkeval/evalkit/token"
)

// corpus is two documents; flat serves three chunks of them, two of which touch.
var docs = []evalkit.Document{
	{ID: "a", Text: "Staff have 27 days of leave. Ask three weeks ahead. The office closes in July."},
	{ID: "b", Text: "A kilometre in your own car is paid with 38 cents. Mentions {question} in braces."},
}

func flat() ([]evalkit.RetrievedChunk, *evalkit.Texts) {
	chunk := func(doc, index, start, end int) evalkit.RetrievedChunk {
		d := docs[doc]
		return evalkit.RetrievedChunk{
			Chunk: evalkit.Chunk{Doc: d.ID, Index: index, Span: evalkit.Span{Start: start, End: end}, Text: d.Text[start:end], Header: "not shown"},
			Role:  evalkit.RoleHit, Rank: 1,
		}
	}
	tok, _ := token.Parse("cl100k")
	return []evalkit.RetrievedChunk{chunk(0, 0, 0, 28), chunk(0, 2, 52, len(docs[0].Text)), chunk(1, 0, 0, 50), chunk(1, 1, 51, len(docs[1].Text))}, evalkit.NewTexts(docs, tok)
}

// chatter answers with f and keeps what it was asked.
type chatter struct {
	f     func(llm.ChatRequest) (string, error)
	mu    sync.Mutex
	asked []llm.ChatRequest
}

func (c *chatter) Chat(_ context.Context, r llm.ChatRequest) (*llm.ChatAnswer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, r)
	text, err := c.f(r)
	if err != nil {
		return nil, err
	}
	return &llm.ChatAnswer{Text: text, Model: "m-1", Prompt: 10, Completion: 2}, nil
}

func says(text string) *chatter {
	return &chatter{f: func(llm.ChatRequest) (string, error) { return text, nil }}
}

func with(c llm.Chatter) answer.Env {
	return answer.Env{Chat: func(llm.Config) (llm.Chatter, error) { return c, nil }}
}

func build(t *testing.T, s string, env answer.Env) answer.Answerer {
	t.Helper()
	spec, err := answer.Parse(s)
	require.NoError(t, err)
	a, err := spec.New(env)
	require.NoError(t, err)
	return a
}

func TestPromptIsTheFlatListMerged(t *testing.T) {
	chunks, texts := flat()
	a := build(t, `openai(model=m,prompt="C:{context}|Q:{question}|{abstain}",abstain="no idea")`, with(says("x")))
	p := a.Prompt("How many {context}?", chunks, texts)
	want := "Staff have 27 days of leave." + expand.GapMark + "The office closes in July." + expand.DocumentMark + docs[1].Text
	assert.Equal(t, want, p.Context)
	assert.Equal(t, "C:"+want+"|Q:How many {context}?|no idea", p.Text, "filled once: what is filled in is left alone")
	assert.Len(t, p.SHA256(), 64)
	assert.NotContains(t, p.Text, "not shown")
	assert.NotEqual(t, p.SHA256(), a.Prompt("How?", chunks, texts).SHA256())
}

func TestOpenAIAnswers(t *testing.T) {
	chunks, texts := flat()
	c := says("  27 days\n")
	a := build(t, "openai(model=m,temperature=0.5,seed=4,max_tokens=9)", with(c))
	p := a.Prompt("How many days?", chunks, texts)
	got, err := a.Answer(t.Context(), p)
	require.NoError(t, err)
	assert.Equal(t, &answer.Answer{Text: "27 days", Model: "m-1", PromptHash: p.SHA256(), Prompt: 10, Completion: 2}, got)
	assert.Equal(t, []llm.ChatRequest{{User: p.Text, Temperature: 0.5, Seed: 4, MaxTokens: 9}}, c.asked)

	for text, abstained := range map[string]bool{"I do not know.": true, "I DO NOT KNOW": true, "i do not know, sorry": true, "I do not.": false, "They do not know.": false, "27": false} {
		got, err = build(t, "openai(model=m)", with(says(text))).Answer(t.Context(), p)
		require.NoError(t, err)
		assert.Equal(t, abstained, got.Abstained, text)
	}
	broken := &chatter{f: func(llm.ChatRequest) (string, error) { return "", errors.New("down") }}
	_, err = build(t, "openai(model=m)", with(broken)).Answer(t.Context(), p)
	require.ErrorContains(t, err, "down")
}

func TestOpenAIOverHTTP(t *testing.T) {
	var sent map[string]any
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewDecoder(r.Body).Decode(&sent)
		fmt.Fprint(w, `{"model":"m-1","choices":[{"message":{"content":"38 cents"},"finish_reason":"length"}],"usage":{"prompt_tokens":70,"completion_tokens":3}}`)
	}))
	defer s.Close()
	chunks, texts := flat()
	a := build(t, fmt.Sprintf("openai(base_url=%q,model=m)", s.URL+"/v1"), answer.Env{})
	got, err := a.Answer(t.Context(), a.Prompt("What does a kilometre pay?", chunks, texts))
	require.NoError(t, err)
	assert.Equal(t, "38 cents", got.Text)
	assert.True(t, got.Cut)
	assert.Equal(t, []int{70, 3}, []int{got.Prompt, got.Completion})
	assert.EqualValues(t, 0, sent["temperature"])
}

func TestExtractive(t *testing.T) {
	chunks, texts := flat()
	a := build(t, "extractive", answer.Env{})
	for q, want := range map[string]string{
		"How much is paid for a kilometre in the car?": "A kilometre in your own car is paid with 38 cents.",
		"When does the office close?":                  "The office closes in July.",
		"How many days of leave?":                      "Staff have 27 days of leave.",
	} {
		p := a.Prompt(q, chunks, texts)
		got, err := a.Answer(t.Context(), p)
		require.NoError(t, err)
		assert.Equal(t, &answer.Answer{Text: want, PromptHash: p.SHA256()}, got)
	}
	for _, q := range []string{"Zebra quagga?", "", "?"} {
		got, err := a.Answer(t.Context(), a.Prompt(q, chunks, texts))
		require.NoError(t, err)
		assert.True(t, got.Abstained, q)
	}
	got, err := a.Answer(t.Context(), a.Prompt("Who?", nil, texts))
	require.NoError(t, err)
	assert.True(t, got.Abstained, "an empty context")
	two, err := build(t, "extractive(sentences=2,min_match=0)", answer.Env{}).Answer(t.Context(), a.Prompt("office leave", chunks, texts))
	require.NoError(t, err)
	assert.Equal(t, "Staff have 27 days of leave. The office closes in July.", two.Text, "in the order of the context")
}

func TestScores(t *testing.T) {
	score := func(q evalkit.Query, a answer.Answer) map[string]any {
		out := map[string]any{}
		for _, s := range answer.Scores(q, &a) {
			out[s.Metric] = s.Value
			if s.Reason != "" {
				out[s.Metric] = s.Reason
			}
		}
		return out
	}
	ref := evalkit.Query{Answer: "the Denver Broncos"}
	assert.Equal(t, map[string]any{"exact_match": 1., "token_f1": 1., "rouge_l": 0.8, "abstention": 1.}, score(ref, answer.Answer{Text: "Denver Broncos!"}))
	assert.Equal(t, map[string]any{"exact_match": 0., "token_f1": 0., "rouge_l": 0., "abstention": 0.}, score(ref, answer.Answer{Text: "the Denver Broncos", Abstained: true}))
	no := evalkit.Query{Unanswerable: true, Answer: "x"}
	const reason = "unanswerable: see abstention"
	assert.Equal(t, map[string]any{"exact_match": reason, "token_f1": reason, "rouge_l": reason, "abstention": 1.}, score(no, answer.Answer{Abstained: true}))
	assert.Equal(t, map[string]any{"exact_match": reason, "token_f1": reason, "rouge_l": reason, "abstention": 0.}, score(no, answer.Answer{Text: "x"}))
	assert.Equal(t, "no reference answer", score(evalkit.Query{}, answer.Answer{Text: "x"})["token_f1"])
}

func TestSQuADValues(t *testing.T) {
	for _, c := range []struct {
		answer, reference string
		em, f1            float64
	}{
		// The values of evaluate-v2.0.py, by its rules.
		{"Saint Bernadette Soubirous", "Saint Bernadette Soubirous", 1, 1},
		{"The  copper   statue of Christ.", "a copper statue of Christ", 1, 1},
		{"in the year 1858", "1858", 0, 2. / 4}, // 1 shared of 3 and 1
		{"red red blue", "red blue blue", 0, 2. / 3},
		{"the", "a", 1, 1},
		{"the", "word", 0, 0},
		{"well-known", "well known", 0, 0}, // punctuation goes without a blank
		{"nothing alike", "some words", 0, 0},
		// By our addition: characters of scripts without blanks are words.
		{"東京都", "東京", 0, 2 * 2. / 5},
		{"東京。", "東京", 1, 1},
		{"Zürich", "zürich", 1, 1},
	} {
		assert.InDelta(t, c.em, answer.ExactMatch(c.answer, c.reference), 0, c.answer)
		assert.InDelta(t, c.f1, answer.TokenF1(c.answer, c.reference), 1e-12, c.answer)
	}
	assert.InDelta(t, 1, answer.TokenF1("b c", "x", "c b"), 0, "the best reference counts")
}

func TestROUGELValue(t *testing.T) {
	// rouge_score 0.1.2 prints fmeasure=0.5882352941176471 for this pair.
	got := answer.ROUGEL("The quick brown dog jumps on the log.", "The quick brown fox jumps over the lazy dog")
	assert.InDelta(t, 0.5882352941176471, got, 1e-15)
	assert.InDelta(t, 0, answer.ROUGEL("c b a", "x y"), 0)
	assert.InDelta(t, 1./3, answer.ROUGEL("c b a", "a b c"), 1e-15)
}

func FuzzMetricsInRange(f *testing.F) {
	f.Add("the cat", "a cat sat")
	f.Add("", "東京 is")
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, m := range []func(string, ...string) float64{answer.ExactMatch, answer.TokenF1, answer.ROUGEL} {
			v := m(a, b)
			require.True(t, v >= 0 && v <= 1, "%v", v)
			require.InDelta(t, v, m(b, a), 1e-12, "symmetric")
			require.InDelta(t, 1, m(a, a), 1e-12)
		}
		require.LessOrEqual(t, answer.ExactMatch(a, b), answer.TokenF1(a, b))
	})
}

func TestJudge(t *testing.T) {
	chunks, texts := flat()
	replies := []string{"It is.\nVERDICT: YES", "verdict - no", "VERDICT: NO… no, VERDICT: YES", "hm"}
	c := &chatter{}
	c.f = func(llm.ChatRequest) (string, error) { return replies[len(c.asked)-1], nil }
	spec, err := answer.ParseJudge("openai(model=j,seed=7)")
	require.NoError(t, err)
	j, err := spec.New(with(c))
	require.NoError(t, err)
	q := evalkit.Query{Text: "How many days?", Answer: "27"}
	a := build(t, "openai(model=m)", with(says("27 days")))
	p := a.Prompt(q.Text, chunks, texts)
	got, err := a.Answer(t.Context(), p)
	require.NoError(t, err)
	verdicts, err := j.Judge(t.Context(), q, p, got)
	require.NoError(t, err)
	require.Len(t, verdicts, 4)
	for i, v := range verdicts {
		assert.Equal(t, replies[i], v.Raw, "raw, as the model wrote it")
		assert.Equal(t, []string{"m-1", "judge-v1"}, []string{v.Judge, v.PromptVersion})
		assert.Len(t, v.PromptHash, 64)
	}
	assert.Equal(t, []bool{true, false, true, false}, []bool{verdicts[0].Yes, verdicts[1].Yes, verdicts[2].Yes, verdicts[3].Yes})
	assert.False(t, verdicts[3].Readable)
	assert.Equal(t, []int{7, 8, 7, 8}, []int{c.asked[0].Seed, c.asked[1].Seed, c.asked[2].Seed, c.asked[3].Seed})
	first, second := c.asked[0].User, c.asked[1].User
	assert.Less(t, strings.Index(first, "<question>"), strings.Index(first, "<answer>"))
	assert.Greater(t, strings.Index(second, "<question>"), strings.Index(second, "<answer>"))
	assert.Contains(t, first, p.Context)
	assert.NotContains(t, c.asked[2].User, p.Context, "correctness is judged by the reference alone")
	assert.Equal(t, []answer.Score{{Metric: "faithfulness", Value: 0.5}, {Metric: "correctness", Value: 1}}, answer.JudgeScores(q, got, verdicts))

	silent := answer.Answer{Abstained: true}
	verdicts, err = j.Judge(t.Context(), q, p, &silent)
	require.NoError(t, err)
	assert.Empty(t, verdicts)
	assert.Equal(t, []answer.Score{{Metric: "faithfulness", Reason: "the answer abstains"}, {Metric: "correctness"}}, answer.JudgeScores(q, &silent, nil))
	no := evalkit.Query{Unanswerable: true}
	assert.Equal(t, []answer.Score{{Metric: "faithfulness", Reason: "no readable verdict"}, {Metric: "correctness", Reason: "unanswerable: see abstention"}}, answer.JudgeScores(no, got, nil))
}

func TestKappa(t *testing.T) {
	var a, b []bool
	for i, n := range []int{20, 5, 10, 15} { // yes/yes, yes/no, no/yes, no/no: 0.4 by hand
		for range n {
			a, b = append(a, i < 2), append(b, i%2 == 0)
		}
	}
	k, err := answer.Kappa(a, b)
	require.NoError(t, err)
	assert.InDelta(t, 0.4, k, 1e-12)
	k, err = answer.Kappa(a, a)
	require.NoError(t, err)
	assert.InDelta(t, 1, k, 1e-12)
	for _, same := range [][]bool{nil, {true, true}} {
		_, err = answer.Kappa(same, same)
		require.ErrorIs(t, err, evalkit.ErrUndefined)
	}
	v := func(pass int, yes, readable bool) answer.Verdict {
		return answer.Verdict{Metric: answer.MetricCorrectness, Pass: pass, Yes: yes, Readable: readable}
	}
	k, pairs, err := answer.Agreement(answer.MetricCorrectness, [][]answer.Verdict{
		{v(1, true, true), v(2, true, true)}, {v(1, false, true), v(2, false, true)}, {v(1, true, true), v(2, true, false)}, {}, {v(1, true, true), v(2, false, true)},
	})
	require.NoError(t, err)
	assert.Equal(t, 3, pairs, "only pairs that can be read")
	assert.InDelta(t, (2./3-4./9)/(1-4./9), k, 1e-12)
	_, _, err = answer.Agreement(answer.MetricFaithfulness, nil)
	require.ErrorIs(t, err, evalkit.ErrUndefined)
}

func TestParse(t *testing.T) {
	for in, want := range map[string]string{
		"extractive":      "extractive(sentences=1,min_match=0.25)",
		"openai(model=m)": `openai(base_url="https://api.openai.com/v1",model="m",temperature=0,seed=0,max_tokens=256,prompt=v1,abstain="I do not know.",key_env=OPENAI_API_KEY)`,
		`openai(model=m,prompt="{context}{question}",temperature=-1)`: `openai(base_url="https://api.openai.com/v1",model="m",temperature=-1,seed=0,max_tokens=256,prompt="{context}{question}",abstain="I do not know.",key_env=OPENAI_API_KEY)`,
	} {
		spec, err := answer.Parse(in)
		require.NoError(t, err)
		assert.Equal(t, want, spec.String())
		again, err := answer.Parse(spec.String())
		require.NoError(t, err)
		assert.True(t, spec == again)
	}
	for in, want := range map[string]string{
		"extractve": `did you mean "extractive"?`, "x": "known are extractive, openai", "openai": "model: not given", "openai(model=m,prompt=x)": "{context} does not occur",
		"extractive(sentences=0)": "sentences", "extractive(min_match=2)": "min_match", "openai(model=m,temperature=3)": "temperature", "openai(model=m,max_tokens=0)": "max_tokens",
		`openai(model=m,abstain=" ")`: "abstain: is blank", "openai(": "missing closing", "extractive(a=1)": "unknown key",
	} {
		_, err := answer.Parse(in)
		assert.ErrorContains(t, err, want, in)
	}
	j, err := answer.ParseJudge("openai(model=j)")
	require.NoError(t, err)
	again, err := answer.ParseJudge(j.String())
	require.NoError(t, err)
	assert.Equal(t, j, again)
	for in, want := range map[string]string{"x": "known is openai", "openai(model=m,passes=3)": "passes", "openai": "model", "openai(model=m,temperature=9)": "temperature"} {
		_, err := answer.ParseJudge(in)
		assert.ErrorContains(t, err, want, in)
	}
}

func TestHO_SEC_02_KeysInSettings(t *testing.T) {
	for _, in := range []string{"openai(model=m,api_key=hunter2)", `openai(model=m,base_url="http://a:hunter2@b")`} {
		_, err := answer.Parse(in)
		require.ErrorContains(t, err, "environment")
		assert.NotContains(t, err.Error(), "hunter2")
		_, err = answer.ParseJudge(in)
		require.ErrorContains(t, err, "environment")
		assert.NotContains(t, err.Error(), "hunter2")
	}
}

func TestFingerprints(t *testing.T) {
	print := func(s string) string { return evalkit.Fingerprint(build(t, s, with(says("")))) }
	base := print("openai(model=m)")
	assert.Equal(t, base, print("openai(model=m,key_env=K,timeout=1,tries=9)"))
	for _, s := range []string{"seed=1", "temperature=1", `prompt="{context}{question}"`, "abstain=x", "max_tokens=2"} {
		assert.NotEqual(t, base, print("openai(model=m,"+s+")"))
	}
	spec, err := answer.ParseJudge("openai(model=j)")
	require.NoError(t, err)
	j, err := spec.New(with(says("")))
	require.NoError(t, err)
	assert.Contains(t, evalkit.Fingerprint(j), answer.PromptVersion)
}

func TestEstimateIsAnUpperBound(t *testing.T) {
	chunks, texts := flat()
	tok, err := token.Parse("cl100k")
	require.NoError(t, err)
	spec, err := answer.Parse("openai(model=m,max_tokens=50)")
	require.NoError(t, err)
	a, err := spec.New(with(says("")))
	require.NoError(t, err)
	queries := []evalkit.Query{{Text: "How many days of leave?", Answer: "27"}, {Text: "Who?"}}
	sum := 0
	for _, q := range queries {
		sum += tok.Count(a.Prompt(q.Text, chunks, texts).Text)
	}
	e := spec.(answer.OpenAI).Estimate(tok, queries, tok.Count(a.Prompt("", chunks, texts).Context))
	assert.GreaterOrEqual(t, e.Prompt, sum)
	assert.Less(t, e.Prompt, sum+100)
	assert.Equal(t, []int{2, 100}, []int{e.Calls, e.Completion})
	j, err := answer.ParseJudge("openai(model=j,passes=2,max_tokens=10)")
	require.NoError(t, err)
	e = j.Estimate(tok, queries, 100, 50)
	assert.Equal(t, []int{6, 60}, []int{e.Calls, e.Completion}, "the second question has no reference")
	cost, ok := llm.Prices{Models: map[string]llm.Price{"m": {Prompt: 2, Completion: 10}}}.Cost("m", 500_000, 100_000)
	assert.True(t, ok)
	assert.InDelta(t, 2, cost, 1e-12)
	_, ok = llm.Prices{}.Cost("m", 1, 1)
	assert.False(t, ok, "an unknown price is not 0")
	require.Error(t, llm.Prices{Models: map[string]llm.Price{"m": {Prompt: math.NaN()}}}.Check())
}

func BenchmarkExtractive(b *testing.B) {
	text := strings.Repeat(docs[0].Text+" ", 40)
	spec, err := answer.Parse("extractive")
	require.NoError(b, err)
	a, err := spec.New(answer.Env{})
	require.NoError(b, err)
	for b.Loop() {
		if _, err := a.Answer(b.Context(), answer.Prompt{Question: "When does the office close?", Context: text}); err != nil {
			b.Fatal(err)
		}
	}
}

func ExampleTokenF1() {
	fmt.Printf("%.2f\n", answer.TokenF1("in the year 1858", "1858"))
	// Output: 0.50
}
