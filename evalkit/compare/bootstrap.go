package compare

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// An Interval is a confidence interval; Lo <= Hi.
type Interval struct {
	Lo float64 `json:"lo"`
	Hi float64 `json:"hi"`
}

// Contains reports whether v lies in the interval.
func (i Interval) Contains(v float64) bool { return i.Lo <= v && v <= i.Hi }

// Bootstrap returns the interval of the mean of x at the given level, from
// draws resamples. clusters names the cluster of every value, numbered from 0:
// whole clusters are drawn, and the mean of a draw is its sum over its number
// of values. nil means that each value is its own cluster. Fewer than two
// clusters have no interval.
//
// Note: percentiles alone are too narrow by a factor of sqrt((n-1)/n) and by
// normal instead of t quantiles; the tails are moved out by both, so that the
// coverage holds from about ten clusters on. Source: Efron 1979; Hesterberg
// 2015, "What teachers should know about the bootstrap", expanded percentiles;
// Cameron, Gelbach and Miller 2008 for whole clusters.
func Bootstrap(x []float64, clusters []int, draws int, level float64, seed uint64) (Interval, bool) {
	sums, sizes := byCluster(x, clusters)
	n := len(sums)
	if n < 2 {
		return Interval{}, false
	}
	if same(x) {
		return Interval{x[0], x[0]}, true
	}
	means := resample(sums, sizes, draws, rand.NewPCG(seed, 0xb007))
	slices.Sort(means)
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(n - 1)}.Quantile((1 - level) / 2)
	tail := distuv.UnitNormal.CDF(t * math.Sqrt(float64(n)/float64(n-1)))
	return Interval{quantile(means, tail), quantile(means, 1-tail)}, true
}

// resample returns the mean of each draw of as many clusters as there are.
//
// Note: one random word gives two places, by multiplication; that one place is
// likelier than another by 2⁻³² is far below what draws can show.
func resample(sums, sizes []float64, draws int, r *rand.PCG) []float64 {
	n := uint64(len(sums))
	means := make([]float64, draws)
	for i := range means {
		sum, size, word := 0.0, 0.0, uint64(0)
		for k := range len(sums) {
			if k%2 == 0 {
				word = r.Uint64()
			}
			j := (word & 0xffffffff) * n >> 32
			word >>= 32
			sum += sums[j]
			size += sizes[j]
		}
		means[i] = sum / size
	}
	return means
}

// byCluster returns the sum and the number of values of each cluster.
func byCluster(x []float64, clusters []int) (sums, sizes []float64) {
	if clusters == nil {
		sizes = make([]float64, len(x))
		for i := range sizes {
			sizes[i] = 1
		}
		return x, sizes
	}
	for i, c := range clusters {
		for c >= len(sums) {
			sums, sizes = append(sums, 0), append(sizes, 0)
		}
		sums[c] += x[i]
		sizes[c]++
	}
	return sums, sizes
}

func same(x []float64) bool {
	return !slices.ContainsFunc(x, func(v float64) bool { return v != x[0] })
}

// quantile interpolates in sorted values: the definition numbered 7 by Hyndman
// and Fan 1996.
func quantile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}
