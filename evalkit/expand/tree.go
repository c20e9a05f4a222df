package expand

import (
	"cmp"
	"slices"

	"github.com/chunkeval/chunkeval/evalkit"
)

// Neighbors is the evalkit.Expander of this package.
type Neighbors struct{}

// Expand returns the tree, hits in rank order each with up to w.Prev chunks
// before and w.Next after it, and the flat list: every chunk of the tree once,
// documents by their best hit's rank, then by chunk_index. A chunk that is a
// hit is labelled hit wherever else it stands. Missing neighbors at the edges
// of a document are skipped. chunks holds every chunk of each document in
// chunk_index order; a document that it lacks has no neighbors.
//
// A negative knob counts as 0. The slices of the tree are never nil.
func (Neighbors) Expand(hits []evalkit.Hit, chunks map[evalkit.DocID][]evalkit.Chunk, w evalkit.Window) ([]evalkit.ExpandedHit, []evalkit.RetrievedChunk) {
	tree := make([]evalkit.ExpandedHit, 0, len(hits))
	for _, h := range hits {
		prev, next := around(h.Chunk, chunks[h.Chunk.Doc], w)
		tree = append(tree, evalkit.ExpandedHit{Hit: h, NeighborsPrev: prev, NeighborsNext: next})
	}
	slices.SortStableFunc(tree, func(a, b evalkit.ExpandedHit) int { return cmp.Compare(a.Hit.Rank, b.Hit.Rank) })
	return tree, flatten(tree)
}

// around returns the chunks of doc within w of c, found by their Index.
func around(c evalkit.Chunk, doc []evalkit.Chunk, w evalkit.Window) (prev, next []evalkit.Chunk) {
	i, found := slices.BinarySearchFunc(doc, c.Index, func(x evalkit.Chunk, index int) int { return cmp.Compare(x.Index, index) })
	prev = append([]evalkit.Chunk{}, doc[i-min(i, max(w.Prev, 0)):i]...)
	if found {
		i++
	}
	next = append([]evalkit.Chunk{}, doc[i:i+min(len(doc)-i, max(w.Next, 0))]...)
	return prev, next
}

// flatten lists every chunk of the tree once.
func flatten(tree []evalkit.ExpandedHit) []evalkit.RetrievedChunk {
	f := flattener{at: map[evalkit.ChunkID]int{}, bestRank: map[evalkit.DocID]int{}}
	for _, e := range tree { // hits first: a chunk that is a hit anywhere is a hit
		f.add(e.Hit, e.Hit.Chunk)
	}
	for _, e := range tree {
		for _, c := range e.NeighborsPrev {
			f.add(e.Hit, c)
		}
		for _, c := range e.NeighborsNext {
			f.add(e.Hit, c)
		}
	}
	slices.SortFunc(f.list, func(a, b evalkit.RetrievedChunk) int {
		return cmp.Or(
			cmp.Compare(f.bestRank[a.Chunk.Doc], f.bestRank[b.Chunk.Doc]),
			cmp.Compare(a.Chunk.Doc, b.Chunk.Doc),
			cmp.Compare(a.Chunk.Index, b.Chunk.Index),
		)
	})
	return f.list
}

type flattener struct {
	list     []evalkit.RetrievedChunk
	at       map[evalkit.ChunkID]int // place in list
	bestRank map[evalkit.DocID]int
}

// add enters c, brought in by h. Hits come in rank order, so the first that
// brings a chunk gives its rank; a later one may be nearer.
func (f *flattener) add(h evalkit.Hit, c evalkit.Chunk) {
	d := c.Index - h.Chunk.Index
	i, seen := f.at[c.ID()]
	if !seen {
		role := evalkit.RoleNeighbor
		if d == 0 {
			role = evalkit.RoleHit
		}
		if _, ok := f.bestRank[c.Doc]; !ok {
			f.bestRank[c.Doc] = h.Rank
		}
		f.at[c.ID()] = len(f.list)
		f.list = append(f.list, evalkit.RetrievedChunk{Chunk: c, Role: role, Rank: h.Rank, Score: h.Score, Distance: d})
		return
	}
	if x := &f.list[i]; x.Role == evalkit.RoleNeighbor && nearer(d, x.Distance) {
		x.Distance = d
	}
}

// nearer reports whether distance a beats b: the smaller one, then the previous side.
func nearer(a, b int) bool {
	if x, y := max(a, -a), max(b, -b); x != y {
		return x < y
	}
	return a < b
}
