package gate

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/compare"
	"github.com/chunkeval/chunkeval/evalkit/experiment"
	"github.com/chunkeval/chunkeval/evalkit/internal/trial"
)

// ran runs a configuration over datasets/handbook with any number of workers.
func ran(t testing.TB, config string, workers int) *experiment.Result {
	t.Helper()
	return trial.Over(t, "../../datasets/handbook", config, workers)[0]
}

func input(r *experiment.Result) compare.Input { return trial.Inputs(r)[0] }

func decide(t testing.TB, baseline, candidate *experiment.Result) *Verdict {
	t.Helper()
	v, err := Decide(input(baseline), input(candidate), DefaultPolicy(), Options{})
	require.NoError(t, err)
	return v
}

const plain = "strategies: [fixed_size(size=200)]\nretriever: bm25\n"

func TestPlantedRegressionsFail(t *testing.T) {
	base := ran(t, plain, 0)
	dense := "strategies: [fixed_size(size=200)]\nretriever: dense\n"
	for name, c := range map[string]struct{ baseline, candidate *experiment.Result }{
		"smaller chunks":    {base, ran(t, "strategies: [fixed_size(size=40)]\nretriever: bm25\n", 0)},
		"a broken analyzer": {base, ran(t, plain+"analyzer: cjk\n", 0)},
		"a swapped model":   {ran(t, dense, 0), ran(t, dense+"embedder: hash(dim=16)\n", 0)},
	} {
		t.Run(name, func(t *testing.T) {
			v := decide(t, c.baseline, c.candidate)
			assert.Equal(t, Fail, v.State, "%+v", v.Checks)
			assert.NotEmpty(t, v.Regressed)
			assert.NotNil(t, v.Regressed[0].Response, "the stored tree is told")
		})
	}
}

func TestLostDocumentIsRefused(t *testing.T) {
	base := ran(t, plain, 0)
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("../../datasets/handbook")))
	require.NoError(t, os.Remove(filepath.Join(dir, "SHA256SUMS")))
	require.NoError(t, os.Remove(filepath.Join(dir, "documents", "leave-policy.md")))
	b, err := os.ReadFile(filepath.Join(dir, "queries.jsonl"))
	require.NoError(t, err)
	var kept strings.Builder
	for line := range strings.Lines(string(b)) {
		if !strings.Contains(line, "leave-policy.md") {
			kept.WriteString(line)
		}
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "queries.jsonl"), []byte(kept.String()), 0o644))
	lost := trial.Over(t, dir, plain, 0)[0]
	_, err = Decide(input(base), input(lost), DefaultPolicy(), Options{})
	require.ErrorContains(t, err, "the data changed since the baseline")
	v, err := Decide(input(base), input(lost), DefaultPolicy(), Options{ChangedData: true})
	require.NoError(t, err)
	assert.Equal(t, Fail, v.State)
	assert.Contains(t, v.Checks[len(v.Checks)-1].Text, "are missing or were changed")
}

func TestNoisePasses(t *testing.T) {
	base := ran(t, plain, 0)
	assert.Equal(t, Pass, decide(t, base, base).State, "itself")
	assert.Equal(t, Pass, decide(t, base, ran(t, plain, 1)).State, "one worker")
	v := decide(t, base, ran(t, plain+"seed: 7\n", 0))
	assert.Equal(t, Pass, v.State, "another seed")
	lsa := "strategies: [fixed_size(size=200)]\nretriever: hybrid\n"
	v = decide(t, ran(t, lsa, 0), ran(t, lsa+"seed: 7\n", 0))
	assert.NotEqual(t, Fail, v.State, "another seed of the embedder")
}

func TestTenQuestionsAreInconclusive(t *testing.T) {
	few := plain + "queries: ['h00*', 'h010']\n"
	v := decide(t, ran(t, few, 0), ran(t, few+"analyzer: cjk\n", 0))
	assert.Equal(t, Inconclusive, v.State)
	for _, k := range v.Checks {
		assert.Equal(t, minQuestions, k.Needed)
		assert.Contains(t, k.Text, "at least 20 are needed")
	}
}

// scored is an Experiment whose recall values are given.
func scored(id string, values []float64) *experiment.Result {
	r := &experiment.Result{Dataset: &evalkit.Dataset{Name: "toy"}}
	r.Record.ID, r.Record.Dataset.Name = id, "toy"
	r.Record.Spec = experiment.Spec{Name: id, Strategies: []string{"page"}, Tokenizer: "rune", Retriever: "dense"}
	r.Record.Effective = []experiment.Effective{{Strategy: "page"}}
	s := experiment.StrategyResult{Strategy: "page"}
	for i, v := range values {
		q := evalkit.Query{ID: evalkit.QueryID(fmt.Sprint("q", i)), Text: fmt.Sprint("question ", i)}
		q.Qrels = []evalkit.Qrel{{Doc: evalkit.DocID(fmt.Sprint("d", i)), Span: evalkit.Span{End: 1}, Grade: 1}}
		r.Dataset.Queries = append(r.Dataset.Queries, q)
		s.Queries = append(s.Queries, experiment.QueryResult{Query: q.ID, Scores: []experiment.Score{{Metric: "recall", View: evalkit.Expanded, Value: v}}})
	}
	mean := 0.0
	s.Summary = []experiment.SummaryRow{{Metric: "recall", View: evalkit.Expanded, Mean: &mean, N: len(values)}}
	r.Strategies = []experiment.StrategyResult{s}
	return r
}

func TestBaselineRoundTrip(t *testing.T) {
	r := ran(t, plain+"queries: ['h0*']\n", 0)
	measures := DefaultPolicy().Measures()
	var b bytes.Buffer
	require.NoError(t, Save(&b, r.Source(), "it was good", measures))
	path := filepath.Join(t.TempDir(), "base.jsonl")
	require.NoError(t, os.WriteFile(path, b.Bytes(), 0o644))
	base, err := ReadBaseline(path)
	require.NoError(t, err)
	assert.Equal(t, "it was good", base.Reason)
	v, err := Decide(compare.Input{ID: base.ID, Source: base}, input(r), DefaultPolicy(), Options{})
	require.NoError(t, err)
	assert.Equal(t, Pass, v.State)
	for _, k := range v.Checks {
		assert.Zero(t, k.Delta.Mean)
		assert.Equal(t, k.Delta.N, k.Delta.Tie)
	}
	var again bytes.Buffer
	require.NoError(t, Save(&again, base, "it was good", measures))
	assert.Equal(t, b.String(), again.String(), "what was read is what was written")

	lines := strings.SplitAfter(b.String(), "\n")
	for name, text := range map[string]string{
		"cut off":    strings.Join(lines[:len(lines)-3], ""),
		"no head":    strings.Join(lines[1:], ""),
		"not JSON":   lines[0] + "{\n",
		"empty":      "",
		"other keys": strings.Replace(b.String(), `"reason"`, `"why"`, 1),
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		_, err := ReadBaseline(path)
		require.Error(t, err, name)
		assert.Contains(t, err.Error(), "base.jsonl", name)
	}
}

func TestOutputs(t *testing.T) {
	v := decide(t, ran(t, plain, 0), ran(t, "strategies: [fixed_size(size=40)]\nretriever: bm25\n", 0))
	v.Reason = "a | b"
	for _, f := range []func(*bytes.Buffer) error{
		func(b *bytes.Buffer) error { return v.Text(b) },
		func(b *bytes.Buffer) error { return v.Markdown(b) },
		func(b *bytes.Buffer) error { return v.JUnit(b) },
	} {
		var b bytes.Buffer
		require.NoError(t, f(&b))
		assert.Contains(t, b.String(), string(v.Regressed[0].Query))
		assert.Contains(t, b.String(), "1. hit ", "with its tree")
	}
	var b bytes.Buffer
	require.NoError(t, v.JUnit(&b))
	var s testSuite
	require.NoError(t, xml.Unmarshal(b.Bytes(), &s))
	assert.Len(t, s.Cases, len(v.Checks))
	assert.Positive(t, s.Failures)
}

func TestPolicyFile(t *testing.T) {
	p, err := parsePolicy([]byte("alpha: 0.01\nsignificant: pass\nmetrics:\n  - {metric: recall+, margin: 0.05}\n  - {metric: context_tokens+, margin: 10%}\nseconds: 50%\n"))
	require.NoError(t, err)
	assert.Equal(t, Policy{Alpha: 0.01, Significant: SignificantPasses, Seconds: 0.5, Seed: 1, Rules: []Rule{
		{compare.Measure{Metric: "recall", View: evalkit.Expanded}, 0.05, false},
		{compare.Measure{Metric: "context_tokens", View: evalkit.Expanded}, 0.1, true},
	}}, p)
	for text, want := range map[string]string{
		"alfa: 0.05\n":                          "unknown field",
		"metrics: []\n":                         "metrics: the list is empty",
		"metrics: [{metric: recal, margin: 1}]": `did you mean`,
		"metrics: [{metric: recall}]":           "margin",
		"alpha: 2\n":                            "alpha: 2: want above 0",
		"alpha: .nan\n":                         "alpha: NaN: want above 0",
		"seconds: 5\n":                          "want a share",
		"significant: maybe\n":                  "want beyond, fail or pass",
		"metrics: [{metric: recall, margin: 1}, {metric: recall, margin: 2}]": "recall is named twice",
		"metrics: [{metric: evid.RR+, margin: 1}]":                            "no expanded view",
		"strategies: ['fixed_size(']\n":                                       "strategies[0]",
	} {
		_, err := parsePolicy([]byte(text))
		require.ErrorContains(t, err, want, text)
	}
}

// TestReproducePage: the committed page is what the generator writes.
func TestReproducePage(t *testing.T) {
	files, err := filepath.Glob("../../reports/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	var b bytes.Buffer
	require.NoError(t, Page(&b, files))
	want, err := os.ReadFile("../../reports/reproduce.md")
	require.NoError(t, err)
	assert.Equal(t, b.String(), string(want), "run make reproduce-page")
}

func TestReproduceSaysWhatDiffers(t *testing.T) {
	r := scored("x", []float64{1, 0})
	half := 0.5
	r.Strategies[0].Summary[0].Mean = &half
	e := &Expected{Rows: []Number{
		{"x", "page", "recall+", 0.5, 0}, {"x", "page", "recall+", 0.51, 0.02}, {"x", "page", "recall+", 0.6, 0.02}, {"x", "page", "IoU", 0.5, 1},
	}}
	out, ok := e.Reproduce([]*experiment.Result{r})
	assert.False(t, ok)
	var got []string
	for _, o := range out {
		got = append(got, o.Text)
	}
	assert.Equal(t, []string{"OK", "OK within tolerance", "FAIL", "FAIL"}, got)
}

func TestExpectedNumbersAreNumbers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "e.yaml")
	for row, want := range map[string]string{
		"value: null, tolerance: 0": "has no value",
		"tolerance: 0":              "has no value",
		"value: 1, tolerance: -1":   "a tolerance of at least 0",
		"value: 1, tolerance: .inf": "a tolerance of at least 0",
		"value: .nan":               "want numbers",
		"value: 1, tolerence: 0":    "unknown field",
	} {
		require.NoError(t, os.WriteFile(path, []byte("config: c.yaml\nexpected:\n  - {experiment: a, strategy: b, metric: recall, "+row+"}\n"), 0o644))
		_, err := ReadExpected(path)
		assert.ErrorContains(t, err, want, row)
	}
}
