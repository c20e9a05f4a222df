package retrieve_test

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/retrieve"
)

// bm25 is the formula written down directly, for comparison.
func bm25(a evalkit.Analyzer, passages []string, q string, k1, b float64) []float64 {
	var docs [][]string
	total := 0.0
	for _, p := range passages {
		docs = append(docs, a.Terms(p))
		total += float64(len(a.Terms(p)))
	}
	count := func(doc []string, term string) (n float64) {
		for _, t := range doc {
			if t == term {
				n++
			}
		}
		return n
	}
	n := float64(len(docs))
	scores := make([]float64, len(docs))
	for _, term := range a.Terms(q) {
		df := 0.0
		for _, d := range docs {
			df += min(1, count(d, term))
		}
		idf := math.Log(1 + (n-df+0.5)/(df+0.5))
		for i, d := range docs {
			tf := count(d, term)
			if tf == 0 {
				continue // with k1 = 0 the formula is 0/0
			}
			scores[i] += idf * tf * (k1 + 1) / (tf + k1*(1-b+b*float64(len(d))/(total/n)))
		}
	}
	return scores
}

func TestBM25IsTheFormula(t *testing.T) {
	var chunks []evalkit.Chunk
	for _, c := range library() {
		if c.Units == nil {
			chunks = append(chunks, c)
		}
	}
	var passages []string
	for _, c := range chunks {
		passages = append(passages, c.Text)
	}
	for _, q := range libraryQueries() {
		for _, p := range [][2]float64{{1.2, 0.75}, {0, 0.75}, {2, 0}, {0.9, 1}} {
			want := map[evalkit.ChunkID]float64{}
			for i, s := range bm25(english(t), passages, q.Text, p[0], p[1]) {
				if s > 0 {
					want[chunks[i].ID()] = s
				}
			}
			hits, err := index(t, fmt.Sprintf("bm25(k1=%v,b=%v)", p[0], p[1]), env(t), chunks).Retrieve(t.Context(), q, 100)
			require.NoError(t, err)
			assert.Len(t, hits, len(want))
			for _, h := range hits {
				assert.InDelta(t, want[h.Chunk.ID()], h.Score, 1e-12, "%s in %v", q.Text, h.Chunk.ID())
			}
		}
	}
}

// Three passages of 2, 2 and 4 terms: avg 8/3. "cat" is in two of them:
// idf ln(1 + 1.5/2.5) = ln 1.6; k1·(1 − b + b·len/avg) is 0.975 and 1.65.
func TestBM25ByHand(t *testing.T) {
	e := retrieve.Env{Analyzer: must(t, "simple")}
	r := index(t, "bm25", e, []evalkit.Chunk{chunk("a", "cat dog"), chunk("b", "dog cow"), chunk("c", "cat cat cow pig")})
	hits, err := r.Retrieve(t.Context(), query("cat"), 5)
	require.NoError(t, err)
	require.Equal(t, []string{"c#0", "a#0"}, ids(hits))
	assert.InDelta(t, math.Log(1.6)*2*2.2/(2+1.65), hits[0].Score, 1e-15)
	assert.InDelta(t, math.Log(1.6)*2.2/(1+0.975), hits[1].Score, 1e-15)

	twice, err := r.Retrieve(t.Context(), query("cat cat"), 5)
	require.NoError(t, err)
	assert.Equal(t, 2*hits[0].Score, twice[0].Score, "a repeated query term counts again")
}

func must(t testing.TB, name string) evalkit.Analyzer {
	t.Helper()
	a, err := retrieve.NewAnalyzer(name)
	require.NoError(t, err)
	return a
}

// A chunk scores as its best unit, and the header counts.
func TestUnits(t *testing.T) {
	text := "cat cat. dog cow."
	parent := chunk("p", text)
	parent.Units = []evalkit.Span{{Start: 0, End: 8}, {Start: 9, End: len(text)}}
	headed := chunk("h", "nothing here")
	headed.Header = "Pigs"
	chunks := []evalkit.Chunk{parent, headed, chunk("x", "dog cow")}
	for _, spec := range []string{"bm25", "bleve", "dense"} {
		e := retrieve.Env{Analyzer: must(t, "simple"), Embedder: words{4096}}
		r := index(t, spec, e, chunks)
		hits, err := r.Retrieve(t.Context(), query("dog cow."), 3)
		require.NoError(t, err)
		found := map[evalkit.DocID]float64{}
		for _, h := range hits {
			found[h.Chunk.Doc] = h.Score
		}
		if spec != "dense" { // "cow." is not "cow" to the embedder
			assert.Equal(t, found["x"], found["p"], "%s: the second unit says the same as chunk x", spec)
			assert.Equal(t, []string{"p#0", "x#0"}, ids(hits), spec)
		} else {
			assert.InDelta(t, 1, found["p"], 1e-6)
		}
		hits, err = r.Retrieve(t.Context(), query("pigs"), 1)
		require.NoError(t, err)
		assert.Equal(t, []string{"h#0"}, ids(hits), spec)
	}
}

func TestHO_HF_07_QueriesTheLexicalSideCannotAnswer(t *testing.T) {
	chunks := []evalkit.Chunk{
		chunk("a", "The river is cold."), chunk("b", "A title is unclosed here."), chunk("c", "Learn C and C++ soon."),
		chunk("d", "昨日は東京タワーに登りました。"),
	}
	for _, tc := range []struct {
		analyzer, text string
		want           []string
	}{
		{"en", "about the", []string{}},
		{"en", "no", []string{}},
		{"en", "", []string{}},
		{"en", "C++", []string{"c#0"}},
		{"en", `title:"unclosed`, []string{"b#0"}},
		{"en", `-river +cold* (x AND`, []string{"a#0"}},
		{"cjk", "東京タワー", []string{"d#0"}},
		{"standard", "no", []string{}},
	} {
		for _, spec := range []string{"bm25", "bleve"} {
			r := index(t, spec, retrieve.Env{Analyzer: must(t, tc.analyzer)}, chunks)
			hits, err := r.Retrieve(t.Context(), query(tc.text), 10)
			require.NoError(t, err, tc.text)
			assert.Equal(t, tc.want, ids(hits), "%s %s %q", spec, tc.analyzer, tc.text)
		}
		if tc.text == "" {
			continue // refused when the data set is loaded
		}
		hits, err := index(t, "hybrid", retrieve.Env{Analyzer: must(t, tc.analyzer), Embedder: words{64}}, chunks).Retrieve(t.Context(), query(tc.text), 10)
		require.NoError(t, err)
		assert.Len(t, hits, len(chunks), "%q: the dense leg still answers", tc.text)
	}
}

func TestNewAnalyzer(t *testing.T) {
	for name, want := range map[string][]string{
		"en":       {"river", "run", "fast", "c3po"},
		"de":       {"the", "river", "running", "fast", "c3po"},
		"standard": {"river's", "running", "fast", "c3po"},
		"simple":   {"the", "river", "s", "running", "fast", "c", "po"},
		"keyword":  {"The River's running FAST, C3PO"},
	} {
		a := must(t, name)
		assert.Equal(t, name, a.String())
		got := a.Terms("The River's running FAST, C3PO")
		if name == "de" { // its stemmer may cut English words: it keeps "the"
			got, want = got[:1], want[:1]
		}
		assert.Equal(t, want, got, name)
	}
	assert.Equal(t, []string{"東京", "京タ", "タワ", "ワー"}, must(t, "cjk").Terms("東京タワー"))
	for _, name := range retrieve.Analyzers() {
		assert.NotEmpty(t, must(t, name).Terms("Wörterbuch 東京 словарь"), name)
	}
	for name, want := range map[string]string{
		"":        `analyzer "": unknown: `,
		"eng":     `analyzer "eng": unknown: did you mean "en"?`,
		"standar": `did you mean "standard"?`,
		"klingon": "known are ar, cjk,",
	} {
		_, err := retrieve.NewAnalyzer(name)
		assert.ErrorContains(t, err, want)
	}
}

func TestAnalyzerFor(t *testing.T) {
	for tag, want := range map[string]string{
		"en": "en", "en-GB": "en", "DE": "de", "pt_BR": "pt", "zh-Hant": "cjk", "ja": "cjk", "ko": "cjk", "nb": "no",
		"": "standard", "el": "standard", "tlh": "standard", "cjk": "standard",
	} {
		assert.Equal(t, want, retrieve.AnalyzerFor(tag), tag)
	}
}

// A bleve index that nobody holds any more ends its goroutines.
func TestBleveIndexIsClosedWhenUnreachable(t *testing.T) {
	x, err := retrieve.Parse("bleve", env(t))
	require.NoError(t, err)
	before := bleveGoroutines()
	for range 3 {
		_, err := x.Index(t.Context(), library())
		require.NoError(t, err)
	}
	for range 1000 { // cleanups run on their own goroutine, some time after a collection
		runtime.GC()
		if bleveGoroutines() <= before {
			return
		}
		runtime.Gosched()
	}
	t.Errorf("%d goroutines of bleve, %d before", bleveGoroutines(), before)
}

func bleveGoroutines() int {
	buf := make([]byte, 1<<22)
	return strings.Count(string(buf[:runtime.Stack(buf, true)]), "scorch.(*Scorch)")
}

func TestOracle(t *testing.T) {
	text := "aaaaabbbbbcccccdddddeeeee"
	var chunks []evalkit.Chunk
	for i, s := range []evalkit.Span{{Start: 0, End: 5}, {Start: 0, End: 10}, {Start: 5, End: 15}, {Start: 15, End: 20}, {Start: 20, End: 25}} {
		chunks = append(chunks, evalkit.Chunk{Doc: "d", Index: i, Span: s, Text: text[s.Start:s.End]})
	}
	q := evalkit.Query{ID: "q", Qrels: []evalkit.Qrel{
		{Doc: "d", Span: evalkit.Span{Start: 2, End: 18}, Grade: 1},
		{Doc: "d", Span: evalkit.Span{Start: 20, End: 25}, Grade: 0},
		{Doc: "elsewhere", Span: evalkit.Span{Start: 0, End: 5}, Grade: 2},
	}}
	hits, err := index(t, "oracle", retrieve.Env{}, chunks).Retrieve(t.Context(), q, 10)
	require.NoError(t, err)
	// 10 bytes of gold; then 3 with chunk 0, 3 with 1, 3 with 3; the last adds nothing.
	assert.Equal(t, []string{"d#2", "d#0", "d#3", "d#1"}, ids(hits))
	for i, want := range []float64{10, 3, 3, 0} {
		assert.Equal(t, want, hits[i].Score)
	}
	hits, err = index(t, "oracle", retrieve.Env{}, chunks).Retrieve(t.Context(), query("no gold"), 10)
	require.NoError(t, err)
	assert.Empty(t, hits)
}
