package retrieve

import "slices"

// A scored is a chunk, by its position in the corpus, with its score.
type scored struct {
	chunk int
	score float64
}

// before is the total order: score descending, then position, which is that of
// document id and chunk_index.
func (a scored) before(b scored) bool {
	return a.score > b.score || a.score == b.score && a.chunk < b.chunk
}

// A topK keeps the first k of what it is offered, in a heap whose root is the
// last of them. Scores are not NaN.
type topK struct {
	k    int
	heap []scored
}

func newTopK(k, n int) *topK { return &topK{k, make([]scored, 0, min(k, n))} }

func (t *topK) offer(s scored) {
	if len(t.heap) < t.k {
		t.heap = append(t.heap, s)
		for i := len(t.heap) - 1; i > 0; {
			up := (i - 1) / 2
			if t.heap[i].before(t.heap[up]) {
				return
			}
			t.heap[i], t.heap[up] = t.heap[up], t.heap[i]
			i = up
		}
		return
	}
	if s.before(t.heap[0]) {
		t.heap[0] = s
		t.sink()
	}
}

// sink moves the root down to its place.
func (t *topK) sink() {
	h := t.heap
	for i := 0; ; {
		last := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(h); c++ {
			if h[last].before(h[c]) {
				last = c
			}
		}
		if last == i {
			return
		}
		h[i], h[last] = h[last], h[i]
		i = last
	}
}

// sorted returns what was kept, in order; t is used up.
func (t *topK) sorted() []scored {
	slices.SortFunc(t.heap, func(a, b scored) int {
		switch {
		case a.before(b):
			return -1
		case b.before(a):
			return 1
		}
		return 0
	})
	return t.heap
}
