package compare

import (
	"cmp"
	"slices"
)

// Holm returns the p values corrected for all of them being looked at: a value
// below alpha is significant with a family-wise error rate of at most alpha,
// whatever the dependence. The order is that of p, which is not modified. Of
// one value the correction is the value itself. Source: Holm 1979.
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	out := make([]float64, len(p))
	last := 0.0
	for i, at := range order {
		last = max(last, min(1, float64(len(p)-i)*p[at]))
		out[at] = last
	}
	return out
}
