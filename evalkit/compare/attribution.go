package compare

import (
	"maps"
	"slices"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/metric"
)

// A Share is what the chunks at one distance from their hit bring: 0 are the
// hits, negative are previous and positive next neighbors.
type Share struct {
	Distance int     `json:"distance"`
	Recall   float64 `json:"recall"` // mean over queries
}

// Attribution parts the expanded recall by where it comes from: hits first,
// then by distance, the previous side before the next. The shares add up to
// the mean recall of the expanded view.
func (l *Look) Attribution() []Share {
	total := map[int]float64{0: 0}
	for d := -l.Window.Prev; d <= l.Window.Next; d++ {
		total[d] = 0
	}
	for i := range l.queries {
		x := &l.queries[i]
		for distance, length := range metric.Attribution(evalkit.Rune, &x.judged, x.flat) {
			total[distance] += float64(length) / float64(x.size) / float64(len(l.queries))
		}
	}
	var out []Share
	for _, d := range slices.SortedFunc(maps.Keys(total), nearer) {
		out = append(out, Share{d, total[d]})
	}
	return out
}

// nearer orders distances: 0, -1, 1, -2, 2, …
func nearer(a, b int) int {
	away := func(d int) int { return 2*max(d, -d) + min(1, max(0, d)) }
	return away(a) - away(b)
}
