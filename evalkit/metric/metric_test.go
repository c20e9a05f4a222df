package metric

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/expand"
)

// bytesOf counts one token per byte.
type bytesOf struct{}

func (bytesOf) String() string        { return "byte" }
func (bytesOf) Count(text string) int { return len(text) }
func (bytesOf) Starts(dst []int, text string) []int {
	for i := range len(text) {
		dst = append(dst, i)
	}
	return dst
}

// world is one document of 100 letters cut into chunks, and its judgments.
type world struct {
	chunks []evalkit.Chunk
	j      *evalkit.Judgments
}

func newWorld(size, step int, gold ...evalkit.Span) *world {
	text := strings.Repeat("abcdefghij", 10)
	w := &world{j: &evalkit.Judgments{Texts: evalkit.NewTexts([]evalkit.Document{{ID: "d", Text: text}, {ID: "e", Text: text}}, bytesOf{})}}
	for start := 0; start < len(text); start += step {
		s := evalkit.Span{Start: start, End: min(start+size, len(text))}
		w.chunks = append(w.chunks, evalkit.Chunk{Doc: "d", Index: len(w.chunks), Span: s, Text: text[s.Start:s.End]})
		if s.End == len(text) {
			break
		}
	}
	w.j.Chunks = map[evalkit.DocID][]evalkit.Chunk{"d": w.chunks}
	for _, g := range gold {
		w.j.Query.Qrels = append(w.j.Query.Qrels, evalkit.Qrel{Doc: "d", Span: g, Grade: 1})
	}
	return w
}

// hits returns chunks by their index in rank order.
func (w *world) hits(indexes ...int) []evalkit.RetrievedChunk {
	var out []evalkit.RetrievedChunk
	for i, n := range indexes {
		out = append(out, evalkit.RetrievedChunk{Chunk: w.chunks[n], Role: evalkit.RoleHit, Rank: i + 1, Score: 1 / float64(i+1)})
	}
	return out
}

func (w *world) score(t testing.TB, metric string, v evalkit.View, got []evalkit.RetrievedChunk) float64 {
	t.Helper()
	m, err := Parse(metric)
	require.NoError(t, err)
	x, err := m.Score(w.j, v, got)
	require.NoError(t, err, metric)
	return x
}

func span(start, end int) evalkit.Span { return evalkit.Span{Start: start, End: end} }

// TestFullEvidenceIsWhatTheModelSees: white space at a cut belongs to no chunk, and
// two chunks beside it still show all of the gold.
func TestFullEvidenceIsWhatTheModelSees(t *testing.T) {
	text := "one two. Three four."
	w := &world{j: &evalkit.Judgments{Texts: evalkit.NewTexts([]evalkit.Document{{ID: "d", Text: text}}, bytesOf{})}}
	for i, s := range []evalkit.Span{span(0, 3), span(4, 8), span(9, 14), span(15, 20)} {
		w.chunks = append(w.chunks, evalkit.Chunk{Doc: "d", Index: i, Span: s, Text: text[s.Start:s.End]})
	}
	w.j.Chunks = map[evalkit.DocID][]evalkit.Chunk{"d": w.chunks}
	w.j.Query.Qrels = []evalkit.Qrel{{Doc: "d", Span: span(4, 14), Grade: 1}}
	assert.InDelta(t, 1, w.score(t, "full_evidence", evalkit.HitOnly, w.hits(2, 1)), 0)
	assert.InDelta(t, 0.9, w.score(t, "recall", evalkit.HitOnly, w.hits(2, 1)), 1e-12, "recall counts every character")
	assert.Zero(t, w.score(t, "full_evidence", evalkit.HitOnly, w.hits(1, 3)), "a word is missing")
}

func TestSpanFamily(t *testing.T) {
	w := newWorld(10, 10, span(5, 25), span(40, 50)) // |G| = 30
	got := w.hits(0, 1, 9)                           // [0,20) and [90,100): |R| = 30, |G∩R| = 15
	for metric, want := range map[string]float64{
		"recall": 0.5, "precision": 0.5, "IoU": 15.0 / 45, "F1": 0.5, "full_evidence": 0, "full_evidence(tau=0.75)": 0,
		"redundancy": 0, "context_tokens": 30, "density": 0.5, "chunks": 3, "recall(unit=token)": 0.5,
	} {
		assert.InDelta(t, want, w.score(t, metric, evalkit.HitOnly, got), 1e-12, metric)
	}
	assert.InDelta(t, 1, w.score(t, "full_evidence(tau=0.75)", evalkit.HitOnly, w.hits(0, 1, 4)), 0, "15 of 20 are covered")
}

func TestTouchingSpansDoNotOverlap(t *testing.T) {
	w := newWorld(10, 10, span(10, 20))
	assert.Zero(t, w.score(t, "recall", evalkit.HitOnly, w.hits(0, 2)))
}

func TestOverlapCountsOnce(t *testing.T) {
	w := newWorld(20, 10, span(0, 40))
	got := w.hits(0, 1) // [0,20) and [10,30)
	assert.InDelta(t, 0.75, w.score(t, "recall", evalkit.HitOnly, got), 1e-12)
	assert.InDelta(t, 0.25, w.score(t, "redundancy", evalkit.HitOnly, got), 1e-12)
	assert.InDelta(t, 30, w.score(t, "context_tokens", evalkit.HitOnly, got), 0)
}

func TestEvidFamily(t *testing.T) {
	w := newWorld(10, 10, span(5, 15), span(50, 60))
	got := w.hits(9, 0, 5) // half of the first at rank 2, the second at rank 3
	for metric, want := range map[string]float64{
		"evid.hit@1": 0, "evid.hit@2": 1, "evid.recall@2": 0.5, "evid.recall@3": 1, "evid.full@2": 0, "evid.full@3": 1, "evid.RR": 0.5, "evid.RR@1": 0,
		"evid.recall@3(tau=0.6)": 0.5,
		// gains 0, 5, 10; ideal 10, 5, 5
		"evid.nDCG@3": (5/math.Log2(3) + 10/math.Log2(4)) / (10 + 5/math.Log2(3) + 5/math.Log2(4)),
	} {
		assert.InDelta(t, want, w.score(t, metric, evalkit.HitOnly, got), 1e-12, metric)
	}
}

func TestRankFamilyOnChunks(t *testing.T) {
	w := newWorld(10, 10, span(5, 15)) // halves of chunks 0 and 1: both relevant at tau 0.5
	got := w.hits(9, 1)
	for metric, want := range map[string]float64{"P@5": 0.2, "R@5": 0.5, "RR": 0.5, "AP": 0.25, "Success@1": 0, "Success@5": 1} {
		assert.InDelta(t, want, w.score(t, metric, evalkit.HitOnly, got), 1e-12, metric)
	}
}

func TestChromaFamily(t *testing.T) {
	w := newWorld(10, 10, span(5, 15))
	// Chunks 0 and 1 overlap the gold; [20,30) does not even touch it. Half of
	// the gold is in chunk 0.
	got := w.hits(0, 9)
	for metric, want := range map[string]float64{
		"chroma.recall@5": 0.5, "chroma.precision@5": 5.0 / 20, "chroma.IoU@5": 5.0 / 25, "chroma.precision_omega": 0.5, "chroma.recall@1": 0.5,
		"chroma.precision@min": 5.0 / 20,
	} {
		assert.InDelta(t, want, w.score(t, metric, evalkit.HitOnly, got), 1e-12, metric)
	}
	touching := newWorld(10, 10, span(10, 20)) // chunks 0 and 2 only touch, and count
	assert.InDelta(t, 10.0/30, touching.score(t, "chroma.precision_omega", evalkit.HitOnly, nil), 1e-12)
}

func TestUndefined(t *testing.T) {
	w := newWorld(10, 10, span(5, 15))
	none := newWorld(10, 10)
	for _, c := range []struct {
		w      *world
		metric string
		v      evalkit.View
		got    []evalkit.RetrievedChunk
	}{
		{w, "precision", evalkit.HitOnly, nil},
		{w, "chroma.recall@5", evalkit.HitOnly, nil},
		{w, "nDCG@10", evalkit.Expanded, w.hits(0)},
		{w, "attr.prev", evalkit.HitOnly, w.hits(0)},
		{none, "recall", evalkit.HitOnly, none.hits(0)},
		{none, "AP", evalkit.HitOnly, none.hits(0)},
	} {
		m, err := Parse(c.metric)
		require.NoError(t, err)
		_, err = m.Score(c.w.j, c.v, c.got)
		require.ErrorIs(t, err, evalkit.ErrUndefined, c.metric)
		assert.NotEmpty(t, err.Error())
	}
	assert.Zero(t, w.score(t, "recall", evalkit.HitOnly, nil), "an empty result is recall 0")
}

func TestHO_ME_03_EmptyGoldIsUndefinedForEveryMetric(t *testing.T) {
	w := newWorld(10, 10)
	for _, m := range Defaults() {
		if m.Info().Recall {
			for _, v := range []evalkit.View{evalkit.HitOnly, evalkit.Expanded} {
				_, err := m.Score(w.j, v, w.hits(0))
				assert.True(t, errors.Is(err, evalkit.ErrUndefined), "%s", m)
			}
		}
	}
}

func TestParse(t *testing.T) {
	for _, m := range Defaults() {
		back, err := Parse(m.String())
		require.NoError(t, err)
		assert.Equal(t, m.String(), back.String())
		assert.NotEmpty(t, m.Info().Doc)
		assert.NotEmpty(t, m.Info().Source)
	}
	for in, want := range map[string]string{
		"recal": `did you mean "recall"`, "P": "needs a cutoff", "recall@5": "takes no cutoff", "P@0": "at least 1", "P@05": "at least 1", "nDCG@10(tau=2)": "tau: 2",
		"recall(unit=word)": `"word" is not one of`, "AP(gain=exponential)": `unknown key "gain"`, "": "no name", "chroma.recall@max": "at least 1",
	} {
		_, err := Parse(in)
		require.Error(t, err, in)
		assert.Contains(t, err.Error(), want)
	}
	m, err := Parse("nDCG@10(gain=exponential)")
	require.NoError(t, err)
	assert.Equal(t, "nDCG@10(gain=exponential)", m.String(), "the gain is named")
}

func TestHO_ME_08_ExportFallsStrictly(t *testing.T) {
	var b bytes.Buffer
	ids := []evalkit.ChunkID{{Doc: "m 1", Index: 0}, {Doc: "m2", Index: 0}, {Doc: "m3", Index: 4}}
	require.NoError(t, WriteRun(&b, []Run{{Query: "q1", Chunks: ids, Scores: []float64{2, 2, 2}}}, "tag"))
	assert.Equal(t, "q1 Q0 m%201#0 1 2 tag\nq1 Q0 m2#0 2 1.9999999 tag\nq1 Q0 m3#4 3 1.9999998 tag\n", b.String())
	b.Reset()
	require.NoError(t, WriteQrels(&b, "q1", map[evalkit.ChunkID]float64{ids[2]: 1, ids[1]: 0.5}))
	assert.Equal(t, "q1 0 m2#0 1\nq1 0 m3#4 1\n", b.String())
}

func TestHO_ME_08_ExportFallsInSinglePrecision(t *testing.T) {
	scores := []float64{math.Inf(1), math.Nextafter(1, 2), 1, 1, 1 - 1e-12, 0, 0, math.Inf(-1), math.Inf(-1)}
	run := Run{Query: "q", Scores: scores, Chunks: make([]evalkit.ChunkID, len(scores))}
	var b bytes.Buffer
	require.NoError(t, WriteRun(&b, []Run{run}, "tag"))
	last := math.Inf(1)
	for line := range strings.Lines(b.String()) {
		score, err := strconv.ParseFloat(strings.Fields(line)[4], 32)
		require.NoError(t, err)
		require.False(t, math.IsInf(score, 0))
		require.Less(t, score, last)
		last = score
	}
	run.Scores[3] = math.NaN()
	require.ErrorContains(t, WriteRun(&b, []Run{run}, "tag"), "not a number")
}

// TestTauBoundary holds that exactly tau is enough, for every tau in percent.
func TestTauBoundary(t *testing.T) {
	text := strings.Repeat("x", 200)
	for n := 1; n <= 100; n++ {
		c := evalkit.Chunk{Doc: "d", Span: span(100-n, 200)} // n of the gold's 100
		w := &world{chunks: []evalkit.Chunk{c}, j: &evalkit.Judgments{
			Query: evalkit.Query{Qrels: []evalkit.Qrel{{Doc: "d", Span: span(0, 100), Grade: 1}}},
			Texts: evalkit.NewTexts([]evalkit.Document{{ID: "d", Text: text}}, nil), Chunks: map[evalkit.DocID][]evalkit.Chunk{"d": {c}},
		}}
		tau := fmt.Sprintf("(tau=%v)", float64(n)/100)
		for _, metric := range []string{"evid.hit@1", "full_evidence", "P@1"} {
			assert.InDelta(t, 1, w.score(t, metric+tau, evalkit.HitOnly, w.hits(0)), 0, "%s%s", metric, tau)
		}
	}
}

// FuzzViews checks the identities that hold between the views, and the range of
// every metric, over random chunkings, gold, hits and windows.
func FuzzViews(f *testing.F) {
	for seed := range uint64(150) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 5))
		size := 3 + rng.IntN(20)
		var golds []evalkit.Span
		for range 1 + rng.IntN(3) {
			start := rng.IntN(95)
			golds = append(golds, span(start, start+1+rng.IntN(100-start)))
		}
		w := newWorld(size, 1+rng.IntN(size), golds...)
		var hits []evalkit.Hit
		for i, n := range rng.Perm(len(w.chunks))[:min(len(w.chunks), 1+rng.IntN(6))] {
			hits = append(hits, evalkit.Hit{Chunk: w.chunks[n], Rank: i + 1, Score: 1})
		}
		window := evalkit.Window{Prev: rng.IntN(4), Next: rng.IntN(4)}
		_, flat := expand.Neighbors{}.Expand(hits, w.j.Chunks, window)
		var only []evalkit.RetrievedChunk
		for _, h := range hits {
			only = append(only, evalkit.RetrievedChunk{Chunk: h.Chunk, Role: evalkit.RoleHit, Rank: h.Rank})
		}
		for _, m := range Defaults() {
			for _, v := range []evalkit.View{evalkit.HitOnly, evalkit.Expanded} {
				got := map[evalkit.View][]evalkit.RetrievedChunk{evalkit.HitOnly: only, evalkit.Expanded: flat}[v]
				x, err := m.Score(w.j, v, got)
				if err != nil {
					require.ErrorIs(t, err, evalkit.ErrUndefined)
					continue
				}
				require.False(t, math.IsNaN(x), "%s", m)
				require.GreaterOrEqual(t, x, m.Info().Lo, "%s", m)
				require.LessOrEqual(t, x, m.Info().Hi, "%s", m)
			}
		}
		for _, unit := range []string{"", "(unit=token)"} {
			hit, all := w.score(t, "recall"+unit, evalkit.HitOnly, only), w.score(t, "recall"+unit, evalkit.Expanded, flat)
			attr := func(part string) float64 { return w.score(t, "attr."+part+unit, evalkit.Expanded, flat) }
			require.GreaterOrEqual(t, all, hit)
			require.InDelta(t, hit, attr("hits"), 1e-12)
			require.InDelta(t, all-hit, attr("neighbors"), 1e-12)
			require.InDelta(t, attr("neighbors"), attr("prev")+attr("next"), 1e-12)
			require.InDelta(t, attr("neighbors"), attr("distance@1")+attr("distance@2")+attr("distance@3"), 1e-12)
		}
	})
}

func TestRescue(t *testing.T) {
	w := newWorld(10, 10, span(20, 30))
	_, flat := expand.Neighbors{}.Expand([]evalkit.Hit{{Chunk: w.chunks[1], Rank: 1}}, w.j.Chunks, evalkit.Window{Next: 1})
	assert.InDelta(t, 1, w.score(t, "attr.rescue", evalkit.Expanded, flat), 0)
	assert.InDelta(t, 1, w.score(t, "attr.next", evalkit.Expanded, flat), 0)
	_, flat = expand.Neighbors{}.Expand([]evalkit.Hit{{Chunk: w.chunks[2], Rank: 1}}, w.j.Chunks, evalkit.Window{Next: 1})
	assert.Zero(t, w.score(t, "attr.rescue", evalkit.Expanded, flat))
}

func BenchmarkScoreSetting(b *testing.B) {
	w := newWorld(10, 10, span(5, 25), span(60, 70))
	var hits []evalkit.Hit
	for i, n := range []int{6, 0, 9, 3, 2} {
		hits = append(hits, evalkit.Hit{Chunk: w.chunks[n], Rank: i + 1})
	}
	metrics := Defaults()
	_, flat := expand.Neighbors{}.Expand(hits, w.j.Chunks, evalkit.Window{Prev: 1, Next: 1})
	for b.Loop() {
		got := append([]evalkit.RetrievedChunk{}, flat...) // another list each time
		for _, m := range metrics {
			_, _ = m.Score(w.j, evalkit.Expanded, got)
		}
	}
	b.ReportMetric(float64(len(metrics)), "metrics/op")
}

func ExampleParse() {
	m, err := Parse("nDCG@10")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m, m.Info().Family, m.Info().Doc)
	_, err = Parse("nDGC@10")
	fmt.Println(err)
	// Output:
	// nDCG@10 rank discounted gain over that of the ideal ranking
	// parse metric "nDGC@10": unknown metric "nDGC": did you mean "nDCG"?
}
