package retrieve_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/retrieve"
)

// list is a ranked list of one-letter documents with their scores.
func list(docs string, scores ...float64) []evalkit.Hit {
	var hits []evalkit.Hit
	for i, d := range []rune(docs) {
		h := evalkit.Hit{Chunk: chunk(string(d), "x"), Rank: i + 1, Score: float64(-i)}
		if scores != nil {
			h.Score = scores[i]
		}
		hits = append(hits, h)
	}
	return hits
}

func fuse(t testing.TB, fusion string, lexical, dense []evalkit.Hit) (order string, scores []float64) {
	t.Helper()
	f, err := retrieve.ParseFusion(fusion)
	require.NoError(t, err)
	hits, err := retrieve.Fuse(f, lexical, dense)
	require.NoError(t, err)
	for i, h := range hits {
		require.Equal(t, i+1, h.Rank)
		order += string(h.Chunk.Doc)
		scores = append(scores, h.Score)
	}
	return order, scores
}

func TestHO_HF_01_MissingMeansNoContribution(t *testing.T) {
	order, scores := fuse(t, "rrf(k=60)", list("DC"), list("ABC"))
	assert.Equal(t, "CADB", order)
	// 1/62 + 1/63, 1/61, 1/61, 1/62
	assert.InDeltaSlice(t, []float64{0.0320020, 0.0163934, 0.0163934, 0.0161290}, scores, 5e-8)
	assert.Equal(t, scores[1], scores[2])

	order, scores = fuse(t, "rrf(k=0,lexical=2,dense=0.5)", list("DC"), list("ABC"))
	assert.Equal(t, "DCAB", order)
	assert.InDeltaSlice(t, []float64{2, 1 + 0.5/3, 0.5, 0.25}, scores, 1e-15)
}

func TestHO_HF_03_LoneAndEqualScores(t *testing.T) {
	for fusion, want := range map[string][]float64{
		"weighted":                            {0.5, 0.5, 0.5},    // 1 and 0 missing
		"weighted(scale=zscore)":              {-1.5, -1.5, -1.5}, // 0 and -3 missing
		"weighted(scale=minmax,dense=0.25)":   {0.75, 0.75, 0.25},
		"weighted(scale=zscore,dense=0.9999)": {-0.0003, -2.9997, -2.9997},
	} {
		_, scores := fuse(t, fusion, list("BC", 7.1, 7.1), list("A", 0.42))
		assert.InDeltaSlice(t, want, scores, 1e-12, fusion)
	}
	order, _ := fuse(t, "weighted", list("BC", 7.1, 7.1), list("A", 0.42))
	assert.Equal(t, "ABC", order)
}

func TestHO_HF_04_BrokenScoreIsNamed(t *testing.T) {
	good := list("AB", 2, 1)
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, fusion := range []retrieve.Fusion{retrieve.RRF{K: 60, Lexical: 1, Dense: 1}, retrieve.Weighted{Scale: retrieve.MinMax, Dense: 0.5}} {
			_, err := retrieve.Fuse(fusion, good, list("ABCD", 0.9, bad, 0.2, 0.1))
			assert.EqualError(t, err, fmt.Sprintf("fuse: dense list: chunk B#0: score %v", bad))
			_, err = retrieve.Fuse(fusion, list("X", bad), good)
			assert.EqualError(t, err, fmt.Sprintf("fuse: lexical list: chunk X#0: score %v", bad))
		}
	}
	_, err := retrieve.Fuse(retrieve.RRF{K: 60, Lexical: 1, Dense: 1}, good, list("ABA"))
	assert.EqualError(t, err, "fuse: dense list: chunk A#0: given twice")
	_, err = retrieve.Fuse(retrieve.Weighted{Dense: 0.5}, good, good)
	assert.EqualError(t, err, `fuse: scale: "" is not minmax or zscore`)
	_, err = retrieve.Fuse(retrieve.RRF{K: 60, Lexical: math.NaN(), Dense: 1}, good, good)
	assert.EqualError(t, err, "fuse: lexical: NaN is not from 0 to 1e+06")
}

func TestHO_HF_05_TheFusionAskedForIsUsed(t *testing.T) {
	lexical, dense := list("CBA", 9, 8.9, 1), list("ABC", .99, .50, .49)
	order, scores := fuse(t, "rrf(k=60)", lexical, dense)
	assert.Equal(t, "ACB", order)
	assert.InDeltaSlice(t, []float64{0.0322665, 0.0322665, 0.0322581}, scores, 5e-8)
	assert.Equal(t, scores[0], scores[1])

	order, scores = fuse(t, "weighted(scale=minmax,dense=0.5)", lexical, dense)
	assert.Equal(t, "BAC", order)
	assert.InDeltaSlice(t, []float64{0.50375, 0.5, 0.5}, scores, 1e-12)

	for in, want := range map[string]string{ // what a stored run names
		"hybrid":                  "hybrid(lexical=bm25(k1=1.2,b=0.75,analyzer=en),fusion=rrf(k=60,lexical=1,dense=1),depth=100)",
		"hybrid(fusion=weighted)": "hybrid(lexical=bm25(k1=1.2,b=0.75,analyzer=en),fusion=weighted(scale=minmax,dense=0.5),depth=100)",
	} {
		x, err := retrieve.Parse(in, env(t))
		require.NoError(t, err)
		assert.Equal(t, want, x.String())
	}
}

// z-scores of 1, 2, 3, 4: mean 2.5, population sd √1.25.
func TestZScore(t *testing.T) {
	_, scores := fuse(t, "weighted(scale=zscore,dense=1)", list("E"), list("DCBA", 4, 3, 2, 1))
	sd := math.Sqrt(1.25)
	assert.InDeltaSlice(t, []float64{1.5 / sd, .5 / sd, -.5 / sd, -1.5 / sd, -3}, scores, 1e-12)
	// One of 101 scores lies √100 below the mean: what is missing is not above it.
	var docs []rune
	var values []float64
	for i := range 101 {
		docs, values = append(docs, rune('a'+i)), append(values, 1)
	}
	values[100] = 0
	_, scores = fuse(t, "weighted(scale=zscore,dense=1)", list("!"), list(string(docs), values...))
	assert.InDelta(t, -10, scores[101], 1e-9)
	assert.InDelta(t, -10, scores[100], 1e-9)
}

func TestHO_HF_06_OneChunkHasOneID(t *testing.T) {
	chunks := library()
	hybrid := index(t, "hybrid", env(t), chunks)
	for _, q := range libraryQueries()[:2] {
		lexical, err := index(t, "bm25", env(t), chunks).Retrieve(t.Context(), q, 100)
		require.NoError(t, err)
		dense, err := index(t, "dense", env(t), chunks).Retrieve(t.Context(), q, 100)
		require.NoError(t, err)
		fused, err := hybrid.Retrieve(t.Context(), q, 100)
		require.NoError(t, err)
		want := map[evalkit.ChunkID][2]evalkit.Component{}
		for _, h := range lexical {
			assert.Equal(t, evalkit.Component{Rank: h.Rank, Score: h.Score}, h.Lexical)
			assert.Zero(t, h.Dense)
			want[h.Chunk.ID()] = [2]evalkit.Component{h.Lexical, {}}
		}
		for _, h := range dense {
			assert.Equal(t, evalkit.Component{Rank: h.Rank, Score: h.Score}, h.Dense)
			assert.Zero(t, h.Lexical)
			want[h.Chunk.ID()] = [2]evalkit.Component{want[h.Chunk.ID()][0], h.Dense}
		}
		both := 0
		got := map[evalkit.ChunkID][2]evalkit.Component{}
		for _, h := range fused {
			got[h.Chunk.ID()] = [2]evalkit.Component{h.Lexical, h.Dense}
			if h.Lexical.Rank > 0 && h.Dense.Rank > 0 {
				both++
			}
		}
		assert.Equal(t, want, got)
		assert.Len(t, fused, len(got), "one row per chunk")
		assert.NotZero(t, both)
		assert.Len(t, dense, len(chunks), "both indexes hold the same chunks")
	}
}

func FuzzFuse(f *testing.F) {
	f.Add([]byte{}, []byte{}, 0.5)
	seed := func(scores ...float64) (b []byte) {
		for _, s := range scores {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(s))
		}
		return b
	}
	f.Add(seed(1, 2, 2), seed(0.5), 0.3)
	f.Add(seed(math.MaxFloat64, -math.MaxFloat64), seed(5e-324, 0), 1.0)
	f.Add(seed(1e-320, 1e-320, 2e-320), seed(-1, -1-1e-16), 0.0)
	f.Fuzz(func(t *testing.T, a, b []byte, weight float64) {
		lexical, dense := decode(a, 'A'), decode(b, 'C')
		for _, f := range []retrieve.Fusion{
			retrieve.RRF{K: 60, Lexical: 1, Dense: math.Abs(math.Mod(weight, 1e6))},
			retrieve.Weighted{Scale: retrieve.MinMax, Dense: math.Abs(math.Mod(weight, 1))},
			retrieve.Weighted{Scale: retrieve.ZScore, Dense: math.Abs(math.Mod(weight, 1))},
		} {
			hits, err := retrieve.Fuse(f, lexical, dense)
			if math.IsNaN(weight) || math.IsInf(weight, 0) {
				require.Error(t, err)
				continue
			}
			require.NoError(t, err)
			seen := map[evalkit.DocID]bool{}
			for i, h := range hits {
				require.False(t, math.IsNaN(h.Score) || math.IsInf(h.Score, 0), "%v: %v", f, h)
				require.Equal(t, i+1, h.Rank)
				require.False(t, seen[h.Chunk.Doc])
				require.True(t, h.Lexical.Rank+h.Dense.Rank > 0)
				seen[h.Chunk.Doc] = true
				if i > 0 {
					require.GreaterOrEqual(t, hits[i-1].Score, h.Score)
				}
			}
		}
	})
}

func decode(b []byte, first rune) []evalkit.Hit {
	var docs []rune
	var scores []float64
	for ; len(b) >= 8 && len(docs) < 64; b = b[8:] {
		s := math.Float64frombits(binary.LittleEndian.Uint64(b))
		if s-s == 0 {
			docs, scores = append(docs, first+rune(len(docs))), append(scores, s)
		}
	}
	return list(string(docs), scores...)
}

func ExampleFuse() {
	lexical := []evalkit.Hit{{Chunk: evalkit.Chunk{Doc: "b"}, Score: 7.5}, {Chunk: evalkit.Chunk{Doc: "a"}, Score: 2}}
	dense := []evalkit.Hit{{Chunk: evalkit.Chunk{Doc: "a"}, Score: 0.8}, {Chunk: evalkit.Chunk{Doc: "c"}, Score: 0.3}}
	hits, err := retrieve.Fuse(retrieve.RRF{K: 60, Lexical: 1, Dense: 1}, lexical, dense)
	if err != nil {
		fmt.Println(err)
	}
	for _, h := range hits {
		fmt.Printf("%d %s %.5f lexical %d dense %d\n", h.Rank, h.Chunk.Doc, h.Score, h.Lexical.Rank, h.Dense.Rank)
	}
	// Output:
	// 1 a 0.03252 lexical 2 dense 1
	// 2 b 0.01639 lexical 1 dense 0
	// 3 c 0.01613 lexical 0 dense 2
}
