package embed_test

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/embed"
)

// fields is an analyzer: lower-cased words.
type fields struct{}

func (fields) String() string { return "fields" }

func (fields) Terms(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return strings.ContainsRune(" .,;:!?\n\t()\"", r) })
}

func sentences() []string {
	return []string{
		"The river floods in spring", "In spring the old bridge is closed", "A ferry crosses the river",
		"The ferry crosses twice a day", "Rust eats the old bridge", "Paint keeps rust away", "Paint the bridge in spring",
		"", "the the the the river", "Rust and paint and rust",
	}
}

func fit(t testing.TB, dim int, texts []string) *embed.LSAModel {
	t.Helper()
	m, err := embed.FitLSA(t.Context(), embed.LSA{Dim: dim, Seed: 1}, fields{}, texts)
	require.NoError(t, err)
	return m
}

func rows(t testing.TB, e evalkit.Embedder, texts ...string) evalkit.Vectors {
	t.Helper()
	v, err := e.Embed(t.Context(), evalkit.Passage, texts)
	require.NoError(t, err)
	require.Equal(t, len(texts), v.Len())
	return v
}

func cosine(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// tfidf is the weighting written down directly, as a dense matrix.
func tfidf(texts []string) (*mat.Dense, []string) {
	var vocabulary []string
	for _, s := range texts {
		vocabulary = append(vocabulary, fields{}.Terms(s)...)
	}
	slices.Sort(vocabulary)
	vocabulary = slices.Compact(vocabulary)
	count := func(s, term string) (n float64) {
		for _, f := range (fields{}).Terms(s) {
			if f == term {
				n++
			}
		}
		return n
	}
	a := mat.NewDense(len(texts), len(vocabulary), nil)
	for j, term := range vocabulary {
		df := 0.0
		for _, s := range texts {
			df += min(1, count(s, term))
		}
		for i, s := range texts {
			if tf := count(s, term); tf > 0 {
				a.Set(i, j, (1+math.Log(tf))*(1+math.Log((1+float64(len(texts)))/(1+df))))
			}
		}
	}
	for i := range texts {
		row := a.RowView(i)
		if n := mat.Norm(row, 2); n > 0 {
			for j := range vocabulary {
				a.Set(i, j, a.At(i, j)/n)
			}
		}
	}
	return a, vocabulary
}

// The cosines of the model are those of A·V from a full decomposition.
func TestLSAAgreesWithFullSVD(t *testing.T) {
	texts := sentences()
	a, _ := tfidf(texts)
	var svd mat.SVD
	require.True(t, svd.Factorize(a, mat.SVDThin))
	var v, want mat.Dense
	svd.VTo(&v)
	for _, dim := range []int{1, 2, 4, 6} {
		want.Reset()
		want.Mul(a, v.Slice(0, len(v.RawMatrix().Data)/v.RawMatrix().Stride, 0, dim))
		got := rows(t, fit(t, dim, texts), texts...)
		require.Equal(t, dim, got.Dim)
		for i := range texts {
			for j := range texts {
				x, y := want.RowView(i), want.RowView(j)
				if texts[i] == "" || texts[j] == "" {
					assert.Zero(t, cosine(got.Row(i), got.Row(j)))
					continue
				}
				assert.InDelta(t, mat.Dot(x, y)/mat.Norm(x, 2)/mat.Norm(y, 2), cosine(got.Row(i), got.Row(j)), 1e-5)
			}
		}
	}
}

// With every dimension that there is, cosines are those of tf-idf itself.
func TestLSAOfFullRank(t *testing.T) {
	texts := sentences()
	a, _ := tfidf(texts)
	m := fit(t, 256, texts)
	assert.Equal(t, 9, m.Dim(), "nine sentences have terms")
	got := rows(t, m, texts...)
	for i := range texts {
		for j := range texts {
			assert.InDelta(t, mat.Dot(a.RowView(i), a.RowView(j)), cosine(got.Row(i), got.Row(j)), 1e-6)
		}
	}
}

func TestLSARowsAreUnitOrZero(t *testing.T) {
	v := rows(t, fit(t, 3, sentences()), "river", "RIVER river", "unknown words", "", "river unknown", "bridge rust")
	for i, want := range []float64{1, 1, 0, 0, 1, 1} {
		assert.InDelta(t, want, cosine(v.Row(i), v.Row(i)), 1e-6)
	}
	assert.InDelta(t, 1, cosine(v.Row(0), v.Row(1)), 1e-6, "one term more often is the same direction")
	assert.Equal(t, v.Row(0), v.Row(4))
}

func TestLSAHasTheSameBitsForAnyNumberOfProcessors(t *testing.T) {
	texts := synthetic(1500, 900)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var models []*embed.LSAModel
	var vectors []evalkit.Vectors
	for _, procs := range []int{1, 8, 3} {
		runtime.GOMAXPROCS(procs)
		models = append(models, fit(t, 100, texts))
		vectors = append(vectors, rows(t, models[len(models)-1], texts...))
	}
	for i := range models {
		assert.Equal(t, models[0].Fingerprint(), models[i].Fingerprint())
		assert.Equal(t, vectors[0], vectors[i])
	}
}

// synthetic returns n sentences over a vocabulary with a long tail.
func synthetic(n, vocabulary int) []string {
	texts := make([]string, n)
	state := uint64(1)
	next := func() float64 {
		state = state*6364136223846793005 + 1442695040888963407
		return float64(state>>33) / (1 << 31)
	}
	for i := range texts {
		var b strings.Builder
		for range 20 {
			u := next()
			fmt.Fprintf(&b, "w%d ", int(float64(vocabulary)*u*u*u))
		}
		texts[i] = b.String()
	}
	return texts
}

func TestLSAFingerprint(t *testing.T) {
	base := fit(t, 3, sentences()).Fingerprint()
	assert.Len(t, base, 64)
	assert.Equal(t, base, fit(t, 3, sentences()).Fingerprint())
	assert.NotEqual(t, base, fit(t, 4, sentences()).Fingerprint())
	assert.NotEqual(t, base, fit(t, 3, sentences()[1:]).Fingerprint())
	other, err := embed.FitLSA(t.Context(), embed.LSA{Dim: 3, Seed: 2}, fields{}, sentences())
	require.NoError(t, err)
	assert.NotEqual(t, base, other.Fingerprint())
	assert.Equal(t, "lsa(dim=3,seed=1)", fit(t, 3, sentences()).String())
}

func TestFitLSAErrors(t *testing.T) {
	_, err := embed.FitLSA(t.Context(), embed.LSA{Dim: 3}, fields{}, []string{"", " . "})
	assert.EqualError(t, err, `fit lsa(dim=3,seed=0): analyzer "fields" finds no term in 2 sentences`)
	_, err = embed.FitLSA(t.Context(), embed.LSA{}, fields{}, sentences())
	assert.EqualError(t, err, "fit lsa(dim=0,seed=0): dim is below 1")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = embed.FitLSA(ctx, embed.LSA{Dim: 3}, fields{}, sentences())
	assert.ErrorIs(t, err, context.Canceled)
	_, err = embed.LSA{Dim: 3}.Fit(t.Context(), embed.Env{})
	assert.ErrorContains(t, err, "needs an analyzer and the data set's sentences")
}

func ExampleFitLSA() {
	m, err := embed.FitLSA(context.Background(), embed.LSA{Dim: 2, Seed: 1}, fields{}, []string{
		"rivers flood in spring", "a flood in spring", "paint the bridge", "the bridge needs paint",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	v, err := m.Embed(context.Background(), evalkit.Passage, []string{"rivers", "spring", "paint"})
	if err != nil {
		fmt.Println(err)
	}
	fmt.Printf("%.2f %.2f\n", cosine(v.Row(0), v.Row(1)), math.Abs(cosine(v.Row(0), v.Row(2))))
	// Output: 1.00 0.00
}

// 15,000 sentences, about 30,000 terms, 256 dimensions.
func BenchmarkFitLSA(b *testing.B) {
	texts := synthetic(15000, 60000)
	for b.Loop() {
		fit(b, 256, texts)
	}
}
