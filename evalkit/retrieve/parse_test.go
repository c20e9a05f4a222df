package retrieve_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/retrieve"
)

func TestParse(t *testing.T) {
	for in, want := range map[string]string{
		"bm25":                             "bm25(k1=1.2,b=0.75,analyzer=en)",
		"bm25( b = 0 , analyzer = de )":    "bm25(k1=1.2,b=0,analyzer=de)",
		"bleve":                            "bleve(analyzer=en)",
		"dense":                            "dense",
		"oracle":                           "oracle",
		"hybrid(lexical=bm25(k1=2))":       "hybrid(lexical=bm25(k1=2,b=0.75,analyzer=en),fusion=rrf(k=60,lexical=1,dense=1),depth=100)",
		"hybrid(depth=7,lexical=bleve)":    "hybrid(lexical=bleve(analyzer=en),fusion=rrf(k=60,lexical=1,dense=1),depth=7)",
		"hybrid(fusion=rrf(dense=0.25))":   "hybrid(lexical=bm25(k1=1.2,b=0.75,analyzer=en),fusion=rrf(k=60,lexical=1,dense=0.25),depth=100)",
		"hybrid(fusion=weighted(dense=1))": "hybrid(lexical=bm25(k1=1.2,b=0.75,analyzer=en),fusion=weighted(scale=minmax,dense=1),depth=100)",
	} {
		x, err := retrieve.Parse(in, env(t))
		require.NoError(t, err, in)
		assert.Equal(t, want, x.String())
		again, err := retrieve.Parse(x.String(), env(t))
		require.NoError(t, err)
		assert.Equal(t, want, again.String())
		assert.Equal(t, evalkit.Fingerprint(x), evalkit.Fingerprint(again))
	}
}

func TestParseErrors(t *testing.T) {
	full, none := env(t), retrieve.Env{}
	for _, tc := range []struct {
		in   string
		env  retrieve.Env
		want string
	}{
		{"bm26", full, `parse retriever "bm26": unknown retriever "bm26": did you mean "bm25"?`},
		{"elastic", full, `unknown retriever "elastic": known are bm25, bleve, dense, hybrid, oracle`},
		{"bm25(k=1)", full, `unknown key "k": did you mean "k1"?`},
		{"bm25(k1=-1)", full, "k1: -1 is not from 0 to 1e+06"},
		{"bm25(b=1.5)", full, "b: 1.5 is not from 0 to 1"},
		{"bm25(b=NaN)", full, `b: "NaN" is not a finite number`},
		{"bm25(analyzer=eng)", full, `analyzer "eng": unknown: did you mean "en"?`},
		{"bleve(k1=1)", full, `unknown key "k1"`},
		{"dense(dim=8)", full, `unknown key "dim": no settings are known here`},
		{"hybrid(lexical=dense)", full, "lexical: dense is not bm25 or bleve"},
		{"hybrid(lexical=bm25(b=2))", full, "lexical: b: 2 is not from 0 to 1"},
		{"hybrid(depth=0)", full, "depth: 0 is below 1"},
		{"hybrid(fusion=rrt)", full, `fusion: unknown fusion "rrt": did you mean "rrf"?`},
		{"hybrid(fusion=rrf(k=-1))", full, "fusion: k: -1 is not from 0 to 1e+06"},
		{"hybrid(fusion=rrf(lexical=0,dense=0))", full, "fusion: lexical, dense: both weights are 0"},
		{"hybrid(fusion=weighted(scale=log))", full, `fusion: scale: "log" is not one of minmax, zscore`},
		{"hybrid(fusion=weighted(dense=2))", full, "fusion: dense: 2 is not from 0 to 1"},
		{"bm25", none, "analyzer: none given: write analyzer=en"},
		{"bleve", none, "analyzer: none given: write analyzer=en"},
		{"bleve", retrieve.Env{Analyzer: upper{}}, "analyzer: upper is not one of bleve's"},
		{"dense", none, "dense retrieval needs an embedder: none given"},
		{"hybrid(lexical=bm25(analyzer=en))", none, "dense retrieval needs an embedder: none given"},
	} {
		_, err := retrieve.Parse(tc.in, tc.env)
		assert.ErrorContains(t, err, tc.want, tc.in)
	}
}

// upper is an analyzer that is not bleve's.
type upper struct{}

func (upper) String() string             { return "upper" }
func (upper) Terms(text string) []string { return strings.Fields(strings.ToUpper(text)) }
func (upper) Fingerprint() string        { return "upper, revision 2" }

func TestAnalyzerOfOnesOwn(t *testing.T) {
	r := index(t, "bm25", retrieve.Env{Analyzer: upper{}}, []evalkit.Chunk{chunk("a", "about THE river")})
	hits, err := r.Retrieve(t.Context(), query("The"), 5)
	require.NoError(t, err)
	assert.Equal(t, []string{"a#0"}, ids(hits))
}

func TestFingerprintNamesWhatTheStringDoesNot(t *testing.T) {
	print := func(spec string, e retrieve.Env) string {
		x, err := retrieve.Parse(spec, e)
		require.NoError(t, err)
		return evalkit.Fingerprint(x)
	}
	for _, spec := range []string{"dense", "hybrid"} {
		e := env(t)
		first := print(spec, e)
		assert.Equal(t, first, print(spec, e))
		e.Embedder = words{65}
		assert.NotEqual(t, first, print(spec, e))
	}
	assert.NotEqual(t, print("bm25", env(t)), print("bm25(k1=1)", env(t)))
}

func TestKBelowOneIsAnError(t *testing.T) {
	for _, spec := range specs() {
		for _, k := range []int{0, -3} {
			_, err := index(t, spec, env(t), library()).Retrieve(t.Context(), query("river"), k)
			assert.EqualError(t, err, fmt.Sprintf(`retrieve query "q": k is %d: want at least 1`, k))
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range append(specs(), "bm25(analyzer=keyword)", "hybrid(fusion=rrf(k=1e-300))", "bm25(k1=1e6,b=1)", "x(", "") {
		f.Add(s)
	}
	e := env(f)
	f.Fuzz(func(t *testing.T, s string) {
		x, err := retrieve.Parse(s, e)
		if err != nil {
			return
		}
		again, err := retrieve.Parse(x.String(), e)
		require.NoError(t, err)
		require.Equal(t, x.String(), again.String())
		require.Equal(t, evalkit.Fingerprint(x), evalkit.Fingerprint(again))
	})
}

func ExampleParse() {
	analyzer, err := retrieve.NewAnalyzer(retrieve.AnalyzerFor("en-GB"))
	if err != nil {
		fmt.Println(err)
		return
	}
	x, err := retrieve.Parse("bm25", retrieve.Env{Analyzer: analyzer})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	r, err := x.Index(ctx, []evalkit.Chunk{
		{Doc: "a", Index: 0, Span: evalkit.Span{Start: 0, End: 17}, Text: "Bridges need care"},
		{Doc: "a", Index: 1, Span: evalkit.Span{Start: 18, End: 31}, Text: "Rivers flood."},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	hits, err := r.Retrieve(ctx, evalkit.Query{Text: "Which river flooded?"}, 5)
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(x)
	for _, h := range hits {
		fmt.Printf("%d %v %.3f\n", h.Rank, h.Chunk.ID(), h.Score)
	}
	// Output:
	// bm25(k1=1.2,b=0.75,analyzer=en)
	// 1 a#1 1.510
}
