package compare_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/compare"
	"github.com/chunkeval/chunkeval/evalkit/experiment"
	"github.com/chunkeval/chunkeval/evalkit/internal/trial"
)

// scored is an Experiment of one strategy whose recall values are given; NaN
// stands for a query that failed.
func scored(id, strategy string, values ...float64) *experiment.Result {
	r := &experiment.Result{Dataset: &evalkit.Dataset{Name: "toy"}}
	r.Record.ID, r.Record.Dataset.Name = id, "toy"
	r.Record.Spec = experiment.Spec{Name: id, Strategies: []string{strategy}, TopK: 5, Retriever: "bm25(k1=1.2,b=0.75,analyzer=en)"}
	s := experiment.StrategyResult{Strategy: strategy}
	for i, v := range values {
		q := evalkit.Query{ID: evalkit.QueryID(fmt.Sprint("q", i)), Text: fmt.Sprint("question ", i)}
		q.Qrels = []evalkit.Qrel{{Doc: evalkit.DocID(fmt.Sprint("d", i/2)), Span: evalkit.Span{End: 1}, Grade: 1}}
		r.Dataset.Queries = append(r.Dataset.Queries, q)
		res := experiment.QueryResult{Query: q.ID}
		for _, m := range []string{"recall", "context_tokens"} {
			score := experiment.Score{Metric: m, View: evalkit.Expanded, Value: v}
			if m == "context_tokens" {
				score.Value = 100
			}
			if math.IsNaN(v) {
				res.Failed, score.Value, score.Reason = "no answer", 0, "failed"
			}
			res.Scores = append(res.Scores, score)
		}
		if res.Failed != "" {
			r.Record.Counts.Failed++
		}
		s.Queries = append(s.Queries, res)
	}
	r.Strategies = []experiment.StrategyResult{s}
	r.Record.Effective = []experiment.Effective{{Strategy: strategy}}
	return r
}

var recall = compare.Options{Measures: []compare.Measure{{Metric: "recall", View: evalkit.Expanded}}}

func compared(t *testing.T, o compare.Options, all ...*experiment.Result) *compare.Comparison {
	t.Helper()
	c, err := compare.New(loaded(t, trial.Inputs(all...), o), o)
	require.NoError(t, err)
	_, err = json.Marshal(c)
	require.NoError(t, err, "no NaN")
	return c
}

func TestHO_ST_01_IdenticalRuns(t *testing.T) {
	values := []float64{0, 1, 0.5, 1, 0, 1, 0.25, 1}
	c := compared(t, recall, scored("a", "page", values...), scored("b", "page", values...))
	d := c.Sheets[0].Rows[0].Cells[1].Delta
	assert.Zero(t, d.Mean)
	assert.InDelta(t, 1, *d.P, 0)
	assert.Equal(t, compare.NoDifference, d.Verdict)
	assert.Equal(t, compare.Interval{}, *d.Naive)
	assert.Equal(t, [3]int{0, 8, 0}, [3]int{d.Win, d.Tie, d.Loss})

	c = compared(t, recall, scored("a", "page", 0), scored("b", "page", 1))
	d = c.Sheets[0].Rows[0].Cells[1].Delta
	assert.Nil(t, d.P)
	assert.Equal(t, compare.NotTested, d.Verdict)
	assert.Equal(t, []string{"not tested: 1 pair; a test needs at least 5"}, d.Warnings)
}

func TestHO_ST_02_OnePairIsShownAsSuch(t *testing.T) {
	c := compared(t, recall, scored("a", "page", 0, 1, 0, 1, 0, 1), scored("b", "page", 1, 1, 1, 1, 0, 1))
	d := c.Sheets[0].Rows[0].Cells[1].Delta
	assert.InDelta(t, 0.5, *d.P, 1e-15, "two of four patterns of two signs")
	assert.InDelta(t, *d.P, *d.Holm, 0)
	assert.Equal(t, "one test: the corrected p is the raw p", c.Family.String())
}

func TestHO_ME_09_FailedQueriesStayVisible(t *testing.T) {
	c := compared(t, recall, scored("a", "page", 1, 1, 0, math.NaN()))
	cell := c.Sheets[0].Rows[0].Cells[0]
	assert.InDelta(t, 0.5, *cell.Mean, 0)
	assert.Equal(t, [2]int{4, 1}, [2]int{cell.N, cell.Failed})
	assert.Contains(t, c.Warnings, compare.Warning{Text: "a: 1 unit failed and count 0"})
}

func TestHO_RP_05_DifferentColumns(t *testing.T) {
	a, b := scored("a", "page", 1, 0, 1), scored("b", "sentence", 0, 0, 1)
	b.Strategies[0].Queries[0].Scores = append(b.Strategies[0].Queries[0].Scores, experiment.Score{Metric: "late", View: evalkit.HitOnly, Value: 0.5})
	in := append(trial.Inputs(a, b), compare.Input{ID: "gone", Gap: "deleted"})
	o := compare.Options{Measures: []compare.Measure{{Metric: "late", View: evalkit.HitOnly}, {Metric: "recall", View: evalkit.Expanded}}}
	c, err := compare.New(loaded(t, in, o), o)
	require.NoError(t, err)
	require.Len(t, c.Sheets, 1)
	s := c.Sheets[0]
	assert.Equal(t, "all strategies", s.Title)
	late := s.Rows[0]
	assert.Equal(t, "not measured", late.Cells[0].Reason)
	assert.Nil(t, late.Cells[0].Mean)
	assert.InDelta(t, 0.5, *late.Cells[1].Mean, 0, "under its own run")
	assert.Equal(t, "deleted", c.Columns[2].Gap)
	assert.Contains(t, c.Warnings, compare.Warning{Text: "gone cannot be shown: deleted"})
}

func TestSheetsAlignStrategies(t *testing.T) {
	all := trial.Handbook(t, "strategies: [fixed_size(size=100), markdown]\nretriever: bm25\nqueries: ['h00*']\nsweep: {window: [0/0, 1/1]}\n")
	c := compared(t, few, all...)
	require.Len(t, c.Sheets, 2)
	assert.Equal(t, "fixed_size(size=100,overlap=0,unit=token)", c.Sheets[0].Title)
	assert.Equal(t, []string{"±0/0", "±1/1"}, []string{c.Sheets[0].Arms[0].Badge, c.Sheets[0].Arms[1].Badge})
	assert.Equal(t, "±0/0", c.Sheets[1].Arms[1].Badge, "in force")
	for _, row := range c.Sheets[1].Rows {
		assert.Equal(t, compare.NoDifference, row.Cells[1].Delta.Verdict, "markdown ignores the window: %s", row.Measure)
	}
	one := compared(t, few, all[0])
	assert.Len(t, one.Sheets[0].Arms, 2, "the strategies of one Experiment")
	again := compared(t, few, all...)
	assert.Equal(t, asJSON(t, c), asJSON(t, again))
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}

func TestWarningsNameWhatDiffers(t *testing.T) {
	change := map[string]func(s *experiment.Spec){
		"Neighbor Expansion": func(s *experiment.Spec) { s.NeighborNext = 1 },
		"Embedding Model":    func(s *experiment.Spec) { s.Embedder = "hash(dim=8)" },
		"top_k":              func(s *experiment.Spec) { s.TopK = 10 },
		"retriever":          func(s *experiment.Spec) { s.Retriever = "dense" },
		"seed":               func(s *experiment.Spec) { s.Seed = 9 },
		"tokenizer":          func(s *experiment.Spec) { s.Tokenizer = "rune" },
		"analyzer":           func(s *experiment.Spec) { s.Analyzer = "de" },
	}
	texts := func(names ...string) []string {
		a, b := scored("a", "page", 1, 0), scored("b", "page", 1, 0)
		for _, n := range names {
			change[n](&b.Record.Spec)
		}
		out := []string{}
		for _, w := range compared(t, recall, a, b).Warnings {
			out = append(out, w.Text)
		}
		return out
	}
	assert.Empty(t, texts())
	assert.Equal(t, []string{"Experiments differ in Neighbor Expansion: ±0/0 against ±0/1"}, texts("Neighbor Expansion"))
	assert.Equal(t, []string{"Experiments differ in Embedding Model: none against hash(dim=8)"}, texts("Embedding Model"))
	for _, n := range []string{"top_k", "retriever", "seed", "tokenizer", "analyzer"} {
		assert.Empty(t, texts(n), "%s alone is what is studied", n)
		both := texts(n, "Neighbor Expansion")
		assert.Len(t, both, 2)
		assert.Contains(t, both[1], n)
		assert.Contains(t, both[1], "cannot be put down to one cause")
	}
}

func TestFusionIsAnAxisOfItsOwn(t *testing.T) {
	a, b := scored("a", "page", 1, 0), scored("b", "page", 1, 0)
	a.Record.Spec.Retriever = "hybrid(lexical=bm25(k1=1.2,b=0.75,analyzer=en),fusion=rrf(k=60),depth=100)"
	b.Record.Spec.Retriever = "hybrid(lexical=bm25(k1=1.2,b=0.75,analyzer=de),fusion=rrf(k=10),depth=100)"
	b.Record.Spec.Analyzer = "de"
	c := compared(t, recall, a, b)
	assert.Equal(t, "differs in fusion and analyzer: the gain cannot be put down to one cause", lastText(c.Warnings))
}

// lastText returns the last warning.
func lastText(w []compare.Warning) string { return w[len(w)-1].Text }

func TestRefusals(t *testing.T) {
	a, b := scored("a", "page", 1, 0), scored("b", "page", 1, 0)
	b.Record.Dataset.Name = "other"
	_, err := compare.New(loaded(t, trial.Inputs(a, b), recall), recall)
	require.EqualError(t, err, `compare a with b: different data sets, "toy" and "other": their questions cannot be paired`)
	b = scored("b", "page", 1, 0)
	for i := range b.Dataset.Queries {
		b.Dataset.Queries[i].ID += "x"
	}
	_, err = compare.New(loaded(t, trial.Inputs(a, b), recall), recall)
	require.EqualError(t, err, "compare a with b: no question in common")
	_, err = compare.New(nil, recall)
	require.Error(t, err)
}

func TestLeftOutQueriesAreNamed(t *testing.T) {
	c := compared(t, recall, scored("a", "page", 1, 0, 1), scored("b", "page", 1, 0))
	assert.Equal(t, 2, c.Sheets[0].Common)
	assert.Equal(t, []evalkit.QueryID{"q2"}, c.Sheets[0].LeftOut)
	assert.Equal(t, 2, c.Sheets[0].Rows[0].Cells[1].Delta.N)
}

// arms makes an arm for each list of values, at the given cost.
func arms(n int, recall map[string]func(i int) float64, tokens map[string]float64, order ...string) []*compare.Arm {
	var out []*compare.Arm
	for _, name := range order {
		values := make([]float64, n)
		for i := range values {
			values[i] = recall[name](i)
		}
		r := scored(name, name, values...)
		for i := range r.Strategies[0].Queries {
			r.Strategies[0].Queries[i].Scores[1].Value = tokens[name]
		}
		out = append(out, compare.NewArm(name, &r.Strategies[0], r.Dataset.Queries, compare.Headline()))
	}
	return out
}

func TestRecommendTheCheapestThatIsGoodEnough(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	noise := make([]float64, 300)
	for i := range noise {
		noise[i] = r.Float64() / 4
	}
	values := map[string]func(i int) float64{
		"poor": func(i int) float64 { return 0.3 + noise[i] },
		"good": func(i int) float64 { return 0.695 + noise[i] },
		"best": func(i int) float64 { return 0.7 + noise[(i+1)%300] },
	}
	tokens := map[string]float64{"poor": 100, "good": 500, "best": 1500}
	got := compare.Recommend(arms(300, values, tokens, "best", "poor", "good"), 0.05, compare.Options{})
	require.Equal(t, compare.Clear, got.Confidence)
	assert.Equal(t, "good", got.Options[got.Pick].Strategy)
	assert.Equal(t, "best", got.Options[got.Best].Strategy)
	assert.True(t, got.Options[0].Short)
	assert.True(t, got.Options[0].Front)
}

// TestNoWinnerThatTheDataDoNotSupport: noise alone never makes a clear pick of
// the dearer of two equal settings.
func TestNoWinnerThatTheDataDoNotSupport(t *testing.T) {
	clearly := 0
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 9))
		values := map[string]func(i int) float64{
			"cheap": func(int) float64 { return float64(r.IntN(2)) },
			"dear":  func(int) float64 { return float64(r.IntN(2)) },
		}
		got := compare.Recommend(arms(60, values, map[string]float64{"cheap": 100, "dear": 900}, "cheap", "dear"), 0.02, few)
		require.NotEqual(t, compare.None, got.Confidence)
		if got.Confidence == compare.Clear && got.Options[got.Pick].Strategy == "dear" {
			clearly++
		}
		if got.Confidence == compare.Open {
			assert.Greater(t, got.Needed, 60)
			assert.Equal(t, []int{0}, got.Undecided)
		}
	}
	assert.LessOrEqual(t, clearly, 5, "alpha of 40, with room for chance")
}

func TestTooFewQuestionsRecommendNothing(t *testing.T) {
	one := func(int) float64 { return 1 }
	got := compare.Recommend(arms(10, map[string]func(int) float64{"a": one}, map[string]float64{"a": 1}, "a"), 0.02, few)
	assert.Equal(t, compare.None, got.Confidence)
	assert.Equal(t, -1, got.Pick)
	assert.Equal(t, "10 questions with gold: a recommendation needs at least 20", got.Reason)
}

// TestStrategyIsACauseToo: two Experiments of one strategy each that differ in
// another setting as well.
func TestStrategyIsACauseToo(t *testing.T) {
	a, b := scored("a", "page", 1, 0), scored("b", "sentence", 1, 0)
	assert.Empty(t, compared(t, recall, a, b).Warnings, "the strategy alone is what is studied")
	b.Record.Spec.TopK = 10
	w := compared(t, recall, a, b).Warnings
	require.Len(t, w, 1)
	assert.Equal(t, "differs in strategy and top_k: the gain cannot be put down to one cause", w[0].Text)
	assert.NotNil(t, compared(t, recall, a, a).Warnings, "an empty list in JSON, not null")
}

// TestOnlyWhatCanDifferIsTested: between windows alone neither hits nor strategies
// that ignore neighbors can differ, so they are no part of the family.
func TestOnlyWhatCanDifferIsTested(t *testing.T) {
	config := "strategies: [fixed_size(size=100), markdown(size=200)]\nretriever: bm25\ntop_k: 3\nqueries: ['h00*', 'h01*']\nsweep:\n  window: [0/0, 1/1]\n"
	all := trial.Handbook(t, config)
	c, err := compare.New(loaded(t, trial.Inputs(all...), few), few)
	require.NoError(t, err)
	tested := 0
	for _, s := range c.Sheets {
		for _, row := range s.Rows {
			d := row.Cells[1].Delta
			if row.View == evalkit.Expanded && s.Title == s.Arms[0].Strategy && s.Arms[1].Badge == "±1/1" {
				assert.NotNil(t, d.P, row.Measure)
				tested++
				continue
			}
			assert.Nil(t, d.P, "%s %s", s.Title, row.Measure)
			assert.Equal(t, compare.NoDifference, d.Verdict)
		}
	}
	assert.Positive(t, tested)
	assert.Equal(t, tested, c.Family.Tests)

	// With something else in play, a tie is a finding.
	other := trial.Handbook(t, "strategies: [markdown(size=200)]\nretriever: bm25\ntop_k: 3\nseed: 2\nqueries: ['h00*', 'h01*']\n")
	c, err = compare.New(loaded(t, trial.Inputs(all[0], other[0]), few), few)
	require.NoError(t, err)
	assert.Equal(t, len(c.Sheets[0].Rows), c.Family.Tests)
}
