package retrieve

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/chunkeval/chunkeval/evalkit"
)

// A corpus is what all legs of an index share: the chunks in the order of
// document id and chunk_index, and which passages belong to which. A chunk is
// known by its position, so that the tie-break of the total order is that of
// integers, and one chunk is the same in every leg.
type corpus struct {
	groups
	chunks []evalkit.Chunk
}

func newCorpus(chunks []evalkit.Chunk) (*corpus, error) {
	if !slices.IsSortedFunc(chunks, compareChunks) {
		chunks = slices.Clone(chunks)
		slices.SortFunc(chunks, compareChunks)
	}
	units := false
	for i := range chunks {
		if i > 0 && compareChunks(chunks[i-1], chunks[i]) == 0 {
			return nil, fmt.Errorf("index: chunk %v: given twice", chunks[i].ID())
		}
		units = units || chunks[i].Units != nil
	}
	c := &corpus{groups{n: len(chunks)}, chunks}
	if !units {
		return c, nil
	}
	c.first = make([]int32, len(chunks)+1)
	for i := range chunks {
		n := 1
		if chunks[i].Units != nil {
			n = len(chunks[i].Units)
		}
		c.first[i+1] = c.first[i] + int32(n)
	}
	return c, nil
}

func compareChunks(a, b evalkit.Chunk) int {
	return cmp.Or(cmp.Compare(a.Doc, b.Doc), cmp.Compare(a.Index, b.Index))
}

// of returns the range [lo,hi) of the chunks of a document.
func (c *corpus) of(doc evalkit.DocID) (lo, hi int) {
	lo = sort.Search(len(c.chunks), func(i int) bool { return c.chunks[i].Doc >= doc })
	hi = lo + sort.Search(len(c.chunks)-lo, func(i int) bool { return c.chunks[lo+i].Doc > doc })
	return lo, hi
}

// each calls f with every passage in order, until it returns an error.
func (c *corpus) each(f func(passage int, text string) error) error {
	n := 0
	for i := range c.chunks {
		for _, text := range c.chunks[i].Passages() {
			if err := f(n, text); err != nil {
				return err
			}
			n++
		}
	}
	return nil
}

// A groups is n chunks, each with one or more passages that follow one another.
type groups struct {
	n     int
	first []int32 // first passage of each chunk, and the end; nil if each has one
}

// passages returns the number of passages.
func (g *groups) passages() int { return g.start(g.n) }

// start returns the first passage of chunk i; start(i+1) is its end.
func (g *groups) start(i int) int {
	if g.first == nil {
		return i
	}
	return int(g.first[i])
}

// owner returns the chunk of a passage.
func (g *groups) owner(passage int) int {
	if g.first == nil {
		return passage
	}
	return sort.Search(g.n, func(i int) bool { return int(g.first[i+1]) > passage })
}
