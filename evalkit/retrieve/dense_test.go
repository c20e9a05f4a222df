package retrieve_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/retrieve"
)

// random returns n unit rows; every tenth equals the one before it.
func random(n, dim int, seed uint64) evalkit.Vectors {
	rng := rand.New(rand.NewPCG(seed, 0))
	v := evalkit.Vectors{Dim: dim, Data: make([]float32, n*dim)}
	for i := range n {
		row := v.Row(i)
		if i%10 == 9 {
			copy(row, v.Row(i-1))
			continue
		}
		sum := 0.0
		for j := range row {
			row[j] = float32(rng.NormFloat64())
			sum += float64(row[j]) * float64(row[j])
		}
		for j := range row {
			row[j] /= float32(math.Sqrt(sum))
		}
	}
	return v
}

func TestSearchIsExact(t *testing.T) {
	for _, dim := range []int{1, 7, 8, 9, 31, 32, 33, 100, 384} {
		rows, queries := random(501, dim, 1), random(5, dim, 2)
		clear(rows.Row(17))
		clear(queries.Row(3))
		got, err := retrieve.Search(t.Context(), rows, queries, 40)
		require.NoError(t, err)
		require.Len(t, got, 5)
		assert.Empty(t, got[3], "a zero query finds nothing")
		for q, list := range got {
			if q == 3 {
				continue
			}
			require.Len(t, list, 40)
			exact := make([]float64, rows.Len())
			for i := range exact {
				for j, x := range rows.Row(i) {
					exact[i] += float64(x) * float64(queries.Row(q)[j])
				}
			}
			for i, n := range list {
				require.NotEqual(t, 17, n.Row, "a zero row ranks nowhere")
				require.InDelta(t, exact[n.Row], n.Score, 1e-6)
				if i > 0 {
					require.Negative(t, cmp.Or(cmp.Compare(n.Score, list[i-1].Score), cmp.Compare(list[i-1].Row, n.Row)), "total order")
				}
			}
			exact[17] = -2
			slices.Sort(exact)
			slices.Reverse(exact)
			for i, n := range list {
				require.InDelta(t, exact[i], n.Score, 1e-6, "nothing better is left out")
			}
		}
	}
}

func TestSearchHasTheSameBitsForAnyNumberOfProcessors(t *testing.T) {
	rows, queries := random(30_000, 100, 1), random(3, 100, 2)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var want [][]retrieve.Neighbor
	for _, procs := range []int{1, 2, 7} {
		runtime.GOMAXPROCS(procs)
		got, err := retrieve.Search(t.Context(), rows, queries, 50)
		require.NoError(t, err)
		if want == nil {
			want = got
		}
		assert.Equal(t, want, got, "%d processors", procs)
		for q := range want { // alone or with others
			one := evalkit.Vectors{Dim: 100, Data: queries.Row(q)}
			alone, err := retrieve.Search(t.Context(), rows, one, 50)
			require.NoError(t, err)
			assert.Equal(t, want[q], alone[0])
		}
	}
}

func TestSearchErrors(t *testing.T) {
	rows := random(3, 8, 1)
	for want, f := range map[string]func() error{
		"search: k is 0: want at least 1": func() error { _, err := retrieve.Search(t.Context(), rows, rows, 0); return err },
		"search: queries have 4 dimensions, rows have 8": func() error {
			_, err := retrieve.Search(t.Context(), rows, random(1, 4, 1), 1)
			return err
		},
		"search: row 2: the vector holds NaN": func() error {
			bad := random(3, 8, 1)
			bad.Row(2)[5] = float32(math.NaN())
			_, err := retrieve.Search(t.Context(), bad, rows, 1)
			return err
		},
		"search: query 1: the vector holds +Inf": func() error {
			bad := random(3, 8, 1)
			bad.Row(1)[5] = float32(math.Inf(1))
			_, err := retrieve.Search(t.Context(), rows, bad, 1)
			return err
		},
		"context canceled": func() error {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_, err := retrieve.Search(ctx, rows, rows, 1)
			return err
		},
	} {
		assert.EqualError(t, f(), want)
	}
	none, err := retrieve.Search(t.Context(), evalkit.Vectors{}, rows, 5)
	require.NoError(t, err)
	assert.Equal(t, [][]retrieve.Neighbor{{}, {}, {}}, none)
}

func TestHO_EM_04_ZeroAndNonFiniteVectors(t *testing.T) {
	both := map[evalkit.TextKind]int{evalkit.Passage: 2, evalkit.Question: 2}
	chunks := []evalkit.Chunk{chunk("a", "against"), chunk("b", "blank"), chunk("c", "close")}
	model := table{"m", map[string][]float32{"against": {-1, 0}, "close": {0.6, 0.8}, "q": {1, 0}, "odd": {float32(math.NaN()), 0}, "long": {3, 4}}, both}
	for _, spec := range []string{"dense", "hybrid"} {
		e := retrieve.Env{Analyzer: english(t), Embedder: model}
		r := index(t, spec, e, chunks)
		assert.Equal(t, 1, r.Invalid())
		hits, err := r.Retrieve(t.Context(), query("q"), 10)
		require.NoError(t, err)
		assert.Equal(t, []string{"c#0", "a#0"}, ids(hits), "a zero vector does not rank, not even last")
		assert.InDelta(t, -1, hits[1].Dense.Score, 1e-7)

		_, err = r.Retrieve(t.Context(), query("nothing known"), 10)
		require.ErrorIs(t, err, evalkit.ErrNoVector)
		assert.ErrorContains(t, err, `retrieve query "q": dense: embedder "m": the embedder has no vector`)
		_, err = r.Retrieve(t.Context(), query("odd"), 10)
		assert.ErrorContains(t, err, `dense: query: embedder "m": the vector holds NaN`)
		_, err = r.Retrieve(t.Context(), query("long"), 10)
		assert.ErrorContains(t, err, "the vector has length 5: want 1")

		x, err := retrieve.Parse(spec, e)
		require.NoError(t, err)
		_, err = x.Index(t.Context(), append(chunks, chunk("d", "odd")))
		assert.ErrorContains(t, err, `dense: chunk d#0: embedder "m": the vector holds NaN`)
		_, err = x.Index(t.Context(), append(chunks, chunk("d", "long")))
		assert.ErrorContains(t, err, `dense: chunk d#0: embedder "m": the vector has length 5: want 1`)
	}
}

func TestHO_EM_05_VectorsOfAnotherSize(t *testing.T) {
	model := table{"m", map[string][]float32{"x": {1}}, map[evalkit.TextKind]int{evalkit.Passage: 8, evalkit.Question: 4}}
	r := index(t, "dense", retrieve.Env{Embedder: model}, []evalkit.Chunk{chunk("a", "x")})
	_, err := r.Retrieve(t.Context(), query("x"), 10)
	assert.ErrorContains(t, err, `the vectors of the query have 4 dimensions (embedder "m"), those of the index have 8 (embedder "m")`)
}

// wrongCount loses the last row of every answer.
type wrongCount struct{ words }

func (w wrongCount) Embed(ctx context.Context, kind evalkit.TextKind, texts []string) (evalkit.Vectors, error) {
	v, err := w.words.Embed(ctx, kind, texts)
	v.Data = v.Data[:len(v.Data)-v.Dim]
	return v, err
}

func TestWrongNumberOfVectors(t *testing.T) {
	x, err := retrieve.Parse("dense", retrieve.Env{Embedder: wrongCount{words{8}}})
	require.NoError(t, err)
	_, err = x.Index(t.Context(), library())
	assert.ErrorContains(t, err, `index dense: dense: embedder "words(dim=8)": 120 numbers for 16 passages of 8 dimensions`)
}

func ExampleSearch() {
	rows := evalkit.Vectors{Dim: 2, Data: []float32{1, 0, 0, 1, 0.6, 0.8}}
	queries := evalkit.Vectors{Dim: 2, Data: []float32{0, 1}}
	lists, err := retrieve.Search(context.Background(), rows, queries, 2)
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(lists[0])
	// Output: [{1 1} {2 0.8}]
}

// constant gives every text the same vector, of a batch made anew.
type constant int

func (c constant) String() string { return "constant" }

func (c constant) Embed(_ context.Context, _ evalkit.TextKind, texts []string) (evalkit.Vectors, error) {
	v := evalkit.Vectors{Dim: int(c), Data: make([]float32, len(texts)*int(c))}
	for i := range texts {
		v.Row(i)[0] = 1
	}
	return v, nil
}

// The process must not need more than 1.3 times the vectors of a large index,
// garbage included. CHUNKEVAL_LARGE=1 asks for it: it takes a gigabyte.
func TestDenseMemory(t *testing.T) {
	if os.Getenv("CHUNKEVAL_LARGE") == "" {
		t.Skip("set CHUNKEVAL_LARGE=1 to index 1,000,000 vectors of 256")
	}
	const n, dim = 1_000_000, 256
	chunks := make([]evalkit.Chunk, n)
	for i := range chunks {
		chunks[i] = evalkit.Chunk{Doc: "d", Index: i, Span: evalkit.Span{End: 1}, Text: "x"}
	}
	held := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapSys - m.HeapReleased
	}
	runtime.GC()
	before := held()
	r := index(t, "dense", retrieve.Env{Embedder: constant(dim)}, chunks)
	ratio := float64(held()-before) / (n * dim * 4)
	t.Logf("%.3f bytes held per byte of vectors", ratio)
	assert.Less(t, ratio, 1.3)
	_, err := r.Retrieve(t.Context(), query("x"), 5)
	require.NoError(t, err)
}

func BenchmarkSearch(b *testing.B) {
	rows := random(100_000, 384, 1)
	for _, n := range []int{1, 64} {
		b.Run(fmt.Sprintf("queries=%d", n), func(b *testing.B) {
			queries := random(n, 384, 2)
			for b.Loop() {
				_, err := retrieve.Search(b.Context(), rows, queries, 50)
				require.NoError(b, err)
			}
			flop := 2 * float64(len(rows.Data)) * float64(n) * float64(b.N)
			b.ReportMetric(flop/1e9/b.Elapsed().Seconds()/float64(runtime.GOMAXPROCS(0)), "GFLOP/s/core")
		})
	}
}

// stored is an embedder of rows that were made before; a text is a row's number.
type stored struct{ evalkit.Vectors }

func (stored) String() string { return "stored" }

func (s stored) Embed(_ context.Context, _ evalkit.TextKind, texts []string) (evalkit.Vectors, error) {
	v := evalkit.Vectors{Dim: s.Dim}
	for _, text := range texts {
		i, err := strconv.Atoi(text)
		if err != nil {
			return v, err
		}
		v.Data = append(v.Data, s.Row(i)...)
	}
	return v, nil
}

// One query at a time, as an experiment asks: bound by the memory's speed.
func BenchmarkDenseRetrieve(b *testing.B) {
	rows := random(100_000, 384, 1)
	chunks := make([]evalkit.Chunk, rows.Len())
	for i := range chunks {
		text := strconv.Itoa(i)
		chunks[i] = evalkit.Chunk{Doc: "d", Index: i, Span: evalkit.Span{End: len(text)}, Text: text}
	}
	r := index(b, "dense", retrieve.Env{Embedder: stored{rows}}, chunks)
	for b.Loop() {
		_, err := r.Retrieve(b.Context(), query("17"), 50)
		require.NoError(b, err)
	}
	b.ReportMetric(2*float64(len(rows.Data))*float64(b.N)/1e9/b.Elapsed().Seconds()/float64(runtime.GOMAXPROCS(0)), "GFLOP/s/core")
}
