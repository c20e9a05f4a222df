package token

import (
	"container/heap"
	"math"
	"slices"
	"sync"
	"unicode/utf8"

	loader "github.com/pkoukk/tiktoken-go-loader"
)

// CL100K is the encoding cl100k_base of tiktoken, over any UTF-8. Text that
// looks like a special token is ordinary text. It is safe for concurrent use.
//
// Note: own code, because the kept libraries have no offsets, or wrong ids, or
// are quadratic on long runs; the rank table is a library's.
type CL100K struct{ ranks map[string]int32 }

var cl100k = sync.OnceValues(func() (*CL100K, error) {
	table, err := loader.NewOfflineLoader().LoadTiktokenBpe("cl100k_base.tiktoken")
	if err != nil {
		return nil, err
	}
	t := &CL100K{make(map[string]int32, len(table))}
	for token, rank := range table {
		t.ranks[token] = int32(rank)
	}
	return t, nil
})

// NewCL100K returns the encoding. The table of 100,256 ranks is read once.
func NewCL100K() (*CL100K, error) { return cl100k() }

// String returns "cl100k".
func (t *CL100K) String() string { return "cl100k" }

// Count returns the number of tokens of text.
func (t *CL100K) Count(text string) int {
	n := 0
	var m merger
	for i := 0; i < len(text); {
		end := pieceEnd(text, i)
		if _, ok := t.ranks[text[i:end]]; ok {
			n++
		} else {
			n += len(m.split(t.ranks, text[i:end]))
		}
		i = end
	}
	return n
}

// Starts appends the byte offset of every token.
func (t *CL100K) Starts(dst []int, text string) []int {
	dst = slices.Grow(dst, len(text)/4) // about what prose has
	var m merger
	for i := 0; i < len(text); {
		end := pieceEnd(text, i)
		dst = append(dst, i)
		if _, ok := t.ranks[text[i:end]]; !ok {
			ends := m.split(t.ranks, text[i:end])
			for _, e := range ends[:len(ends)-1] {
				start := i + e
				for start > dst[len(dst)-1] && !utf8.RuneStart(text[start]) {
					start--
				}
				dst = append(dst, start)
			}
		}
		i = end
	}
	return dst
}

// Encode returns the token ids of text; joined, their bytes are text.
func (t *CL100K) Encode(text string) []int {
	var ids []int
	t.each(text, func(start, end int) { ids = append(ids, int(t.ranks[text[start:end]])) })
	return ids
}

// each calls f for the byte range of every token.
func (t *CL100K) each(text string, f func(start, end int)) {
	var m merger
	for i := 0; i < len(text); {
		end := pieceEnd(text, i)
		if _, ok := t.ranks[text[i:end]]; ok {
			f(i, end)
		} else {
			start := i
			for _, e := range m.split(t.ranks, text[i:end]) {
				f(start, i+e)
				start = i + e
			}
		}
		i = end
	}
}

// noRank is above every rank.
const noRank = math.MaxInt32

// heapFrom is the piece length in bytes above which merging uses a heap. Below
// it a scan over all pairs is quicker; without the heap long runs would take
// quadratic time.
const heapFrom = 96

// A merger splits pieces into tokens; its slices are used again.
type merger struct {
	ends  []int   // of the parts
	ranks []int32 // of a part joined with the next one
	links []link
	queue pairs
}

// split returns the ends of the tokens of piece: from single bytes, the pair
// of parts with the lowest rank, the leftmost of equals, is joined until no
// pair has a rank.
func (m *merger) split(ranks map[string]int32, piece string) []int {
	if len(piece) > heapFrom {
		return m.splitLong(ranks, piece)
	}
	n := len(piece)
	m.ends, m.ranks = m.ends[:0], m.ranks[:0]
	pair := func(start, end int) int32 {
		if r, ok := ranks[piece[start:end]]; ok {
			return r
		}
		return noRank
	}
	for i := range n {
		m.ends = append(m.ends, i+1)
		if i+2 <= n {
			m.ranks = append(m.ranks, pair(i, i+2))
		}
	}
	start := func(i int) int {
		if i == 0 {
			return 0
		}
		return m.ends[i-1]
	}
	for {
		best, at := int32(noRank), -1
		for i, r := range m.ranks {
			if r < best {
				best, at = r, i
			}
		}
		if at < 0 {
			return m.ends
		}
		m.ends = append(m.ends[:at], m.ends[at+1:]...)
		m.ranks = append(m.ranks[:at], m.ranks[at+1:]...)
		if at < len(m.ranks) {
			m.ranks[at] = pair(start(at), m.ends[at+1])
		}
		if at > 0 {
			m.ranks[at-1] = pair(start(at-1), m.ends[at])
		}
	}
}

// link is a part in a doubly linked list; its start is its place in the slice.
type link struct{ end, prev, next int }

// splitLong is split in O(n log n).
func (m *merger) splitLong(ranks map[string]int32, piece string) []int {
	n := len(piece)
	m.links, m.queue = m.links[:0], m.queue[:0]
	for i := range n {
		m.links = append(m.links, link{i + 1, i - 1, i + 1})
	}
	push := func(i int) {
		if i < 0 || m.links[i].next >= n {
			return
		}
		end := m.links[m.links[i].next].end
		if r, ok := ranks[piece[i:end]]; ok {
			heap.Push(&m.queue, pairAt{r, i, end})
		}
	}
	for i := range n {
		push(i)
	}
	for len(m.queue) > 0 {
		p := heap.Pop(&m.queue).(pairAt)
		a := &m.links[p.start]
		if a.end < 0 || a.next >= n || m.links[a.next].end != p.end {
			continue // one of the two was joined with another part since
		}
		b := &m.links[a.next]
		a.end, a.next, b.end = b.end, b.next, -1
		if a.next < n {
			m.links[a.next].prev = p.start
		}
		push(p.start)
		push(a.prev)
	}
	m.ends = m.ends[:0]
	for i := 0; i < n; i = m.links[i].next {
		m.ends = append(m.ends, m.links[i].end)
	}
	return m.ends
}

// pairAt is two parts that can be joined.
type pairAt struct {
	rank       int32
	start, end int
}

// pairs is a heap: the lowest rank first, then the leftmost.
type pairs []pairAt

func (p pairs) Len() int { return len(p) }
func (p pairs) Less(i, j int) bool {
	if p[i].rank != p[j].rank {
		return p[i].rank < p[j].rank
	}
	return p[i].start < p[j].start
}
func (p pairs) Swap(i, j int) { p[i], p[j] = p[j], p[i] }
func (p *pairs) Push(x any)   { *p = append(*p, x.(pairAt)) }
func (p *pairs) Pop() any {
	last := (*p)[len(*p)-1]
	*p = (*p)[:len(*p)-1]
	return last
}
