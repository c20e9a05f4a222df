package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSignFlipExact(t *testing.T) {
	for _, c := range []struct {
		d []float64
		p float64 // arithmetic: patterns with |sum| >= |observed| over 2^n
	}{
		{[]float64{1, 1, 1}, 2.0 / 8},
		{[]float64{1, 2, 3}, 2.0 / 8},
		{[]float64{3, -1}, 4.0 / 4}, // |3-1| = 2 is the smallest there is
		{[]float64{0.1, 0.2, -0.3}, 1},
		{[]float64{0, 0, 5, 0}, 1},
		{[]float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 2.0 / 1024},
	} {
		got := SignFlip(c.d, 10, 1)
		assert.InDelta(t, c.p, got.P, 1e-15, "%v", c.d)
		assert.True(t, got.Exact)
	}
}

func TestSignFlipNeverZero(t *testing.T) {
	d := make([]float64, 100)
	for i := range d {
		d[i] = 1
	}
	got := SignFlip(d, 10_000, 1)
	assert.Equal(t, Test{P: 1.0 / 10_001, Draws: 10_000}, got, "b = 0")
}

// TestSignFlipDrawsAgreeWithExact compares both ways on the same 16 pairs.
func TestSignFlipDrawsAgreeWithExact(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	d := make([]float64, 16)
	for i := range d {
		d[i] = r.NormFloat64() + 0.4
	}
	exact := SignFlip(d, 0, 1).P
	b, draws := 0, 200_000
	sum := 0.0
	for _, v := range d {
		sum += v
	}
	f := newFlips(d)
	for range draws {
		if math.Abs(f.draw(r)) >= math.Abs(sum)-1e-9 {
			b++
		}
	}
	// Three standard errors of a share of 200,000 draws.
	assert.InDelta(t, exact, float64(b)/float64(draws), 3*math.Sqrt(exact*(1-exact)/float64(draws)))
}

func TestSwappingNegates(t *testing.T) {
	d, minus := make([]float64, 60), make([]float64, 60)
	for i := range d {
		d[i] = math.Sin(float64(i)) + 0.1
		minus[i] = -d[i]
	}
	assert.InDelta(t, SignFlip(d, 2000, 3).P, SignFlip(minus, 2000, 3).P, 0)
	a, _ := Bootstrap(d, nil, 2000, 0.95, 3)
	b, _ := Bootstrap(minus, nil, 2000, 0.95, 3)
	assert.InDelta(t, a.Lo, -b.Hi, 1e-12)
	assert.InDelta(t, a.Hi, -b.Lo, 1e-12)
}

func TestBootstrapEdges(t *testing.T) {
	_, ok := Bootstrap([]float64{1}, nil, 100, 0.95, 1)
	assert.False(t, ok, "one value has no interval")
	_, ok = Bootstrap([]float64{1, 2, 3}, []int{0, 0, 0}, 100, 0.95, 1)
	assert.False(t, ok, "one cluster has no interval")
	i, ok := Bootstrap([]float64{2, 2, 2}, nil, 100, 0.95, 1)
	assert.True(t, ok)
	assert.Equal(t, Interval{2, 2}, i)
}

func TestHolm(t *testing.T) {
	// Arithmetic: 0.01·4, max(0.02·3, …), max(0.03·2, 0.06), 0.5·1.
	assert.InDeltaSlice(t, []float64{0.06, 0.04, 0.5, 0.06}, Holm([]float64{0.03, 0.01, 0.5, 0.02}), 1e-15)
	assert.Empty(t, Holm(nil))
}

func TestHO_ST_02_ManyComparisons(t *testing.T) {
	p := []float64{1, 1, 1, 0.02, 1, 1, 1, 1, 1, 1}
	assert.InDelta(t, 0.2, Holm(p)[3], 1e-15, "ten pairs: not significant")
	assert.Equal(t, []float64{0.02}, Holm([]float64{0.02}), "one pair: corrected equals raw")
}

// samples calls f for n independent samples.
func samples(n int, f func(r *rand.Rand) bool) float64 {
	hits := 0
	for i := range n {
		if f(rand.New(rand.NewPCG(uint64(i), 77))) {
			hits++
		}
	}
	return float64(hits) / float64(n)
}

// question returns a difference as retrieval metrics have them: most are 0,
// the others are anywhere in [-1,1].
func question(r *rand.Rand) float64 {
	if r.IntN(3) > 0 {
		return 0
	}
	return 2*r.Float64() - 1
}

// TestFamilyWiseErrorRate: eight comparisons without any difference, which
// share their baseline as columns of one Compare do.
func TestFamilyWiseErrorRate(t *testing.T) {
	n := 1000
	rate := samples(n, func(r *rand.Rand) bool {
		base := make([]float64, 40)
		for i := range base {
			base[i] = question(r)
		}
		var p []float64
		for range 8 {
			d := make([]float64, len(base))
			for i := range d {
				d[i] = question(r) - base[i]
			}
			p = append(p, SignFlip(d, 999, r.Uint64()).P)
		}
		for _, v := range Holm(p) {
			if v <= 0.05 {
				return true
			}
		}
		return false
	})
	assert.LessOrEqual(t, rate, 0.05+2*math.Sqrt(0.05*0.95/float64(n)), "within two standard errors of the simulation")
	assert.Positive(t, rate, "a test that never rejects would pass too")
}

func TestNullRejectsAtAlpha(t *testing.T) {
	rate := samples(2000, func(r *rand.Rand) bool {
		d := make([]float64, 50)
		for i := range d {
			d[i] = r.NormFloat64()
		}
		return SignFlip(d, 999, r.Uint64()).P <= 0.05
	})
	assert.InDelta(t, 0.05, rate, 3*math.Sqrt(0.05*0.95/2000))
}

func TestCoverage(t *testing.T) {
	for _, n := range []int{12, 40, 150} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			rate := samples(1000, func(r *rand.Rand) bool {
				d := make([]float64, n)
				for i := range d {
					d[i] = question(r) + 0.3*r.Float64() // true mean 0.15
				}
				i, _ := Bootstrap(d, nil, 1000, 0.95, r.Uint64())
				return i.Contains(0.15)
			})
			assert.InDelta(t, 0.95, rate, 0.025)
		})
	}
}

// TestClusterCoverage: 20 documents with 8 questions each that share half their
// variance. The naive interval is too narrow, the cluster interval is not.
func TestClusterCoverage(t *testing.T) {
	draw := func(r *rand.Rand) (d []float64, doc []int) {
		for c := range 20 {
			common := r.NormFloat64()
			for range 8 {
				d, doc = append(d, common+r.NormFloat64()), append(doc, c)
			}
		}
		return d, doc
	}
	covers := func(cluster bool) float64 {
		return samples(600, func(r *rand.Rand) bool {
			d, doc := draw(r)
			if !cluster {
				doc = nil
			}
			i, _ := Bootstrap(d, doc, 800, 0.95, r.Uint64())
			return i.Contains(0)
		})
	}
	assert.InDelta(t, 0.95, covers(true), 0.03)
	assert.Less(t, covers(false), 0.8)
}

// TestDetectable: a difference of the printed size is found at about 80 %.
func TestDetectable(t *testing.T) {
	const n = 60
	delta := Detectable(1, n, 0.05, 0.8)
	// (1.959964 + 0.841621)/√60, from a table of the normal distribution.
	assert.InDelta(t, 0.361683, delta, 1e-6)
	assert.Equal(t, n, Needed(1, delta-1e-12, 0.05, 0.8)-1, "the next whole number")
	assert.Zero(t, Needed(1, 0, 0.05, 0.8))
	power := samples(1000, func(r *rand.Rand) bool {
		d := make([]float64, n)
		for i := range d {
			d[i] = r.NormFloat64() + delta
		}
		return SignFlip(d, 999, r.Uint64()).P <= 0.05
	})
	assert.InDelta(t, 0.8, power, 0.04)
}

func BenchmarkSignFlip(b *testing.B) {
	d := make([]float64, 250)
	for i := range d {
		d[i] = math.Sin(float64(i))
	}
	for b.Loop() {
		SignFlip(d, 10_000, 1)
	}
}

func BenchmarkBootstrap(b *testing.B) {
	d := make([]float64, 250)
	for i := range d {
		d[i] = math.Sin(float64(i))
	}
	for b.Loop() {
		_, ok := Bootstrap(d, nil, 10_000, 0.95, 1)
		require.True(b, ok)
	}
}

// TestLargeFamiliesKeepTheirResolution: what moves every question stays visible
// among hundreds of tests, although random patterns are counted.
func TestLargeFamiliesKeepTheirResolution(t *testing.T) {
	d := make([]float64, 60)
	for i := range d {
		d[i] = 0.1 + float64(i%7)/100
	}
	for _, n := range []int{1, 50, 5000} {
		test := SignFlip(d, Options{}.withDefaults().family(n).Draws, 1)
		assert.Less(t, float64(n)*test.P, 0.05, "%d tests", n)
		assert.GreaterOrEqual(t, test.Draws, 10_000)
	}
}
