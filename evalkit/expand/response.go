package expand

import (
	"github.com/chunkeval/chunkeval/evalkit"
)

// A Response is the answer to one query in both shapes. It is what the command
// prints and the HTTP interface sends.
type Response struct {
	Query           string           `json:"query"`
	Strategy        string           `json:"strategy"`
	TopK            int              `json:"top_k"`
	NeighborPrev    int              `json:"neighbor_prev"` // in force: 0 where the strategy does not expand
	NeighborNext    int              `json:"neighbor_next"`
	RetrievedChunks []RetrievedEntry `json:"retrieved_chunks"`
	ExpansionTree   []TreeEntry      `json:"expansion_tree"`
	Context         Context          `json:"context"`
	Warnings        []string         `json:"warnings"`
}

// A ChunkEntry is a chunk in a Response.
type ChunkEntry struct {
	Doc        evalkit.DocID `json:"doc"`
	ChunkIndex int           `json:"chunk_index"`
	Start      int           `json:"start"` // bytes
	End        int           `json:"end"`
	Header     string        `json:"header,omitempty"`
	Text       string        `json:"text"`
}

// A RetrievedEntry is an entry of the flat list.
type RetrievedEntry struct {
	ChunkEntry
	Label    evalkit.Role `json:"label"`
	Rank     int          `json:"rank"`
	Score    float64      `json:"score"`
	Distance int          `json:"distance"`
}

// A TreeEntry is a branch of the tree.
type TreeEntry struct {
	Hit           HitEntry        `json:"hit"`
	NeighborsPrev []NeighborEntry `json:"neighbors_prev"`
	NeighborsNext []NeighborEntry `json:"neighbors_next"`
}

// A HitEntry is a hit with its places in both legs; a leg that did not return
// it is null.
type HitEntry struct {
	ChunkEntry
	Rank    int                `json:"rank"`
	Score   float64            `json:"score"`
	Lexical *evalkit.Component `json:"lexical"`
	Dense   *evalkit.Component `json:"dense"`
}

// A NeighborEntry is a chunk that a hit brought in.
type NeighborEntry struct {
	ChunkEntry
	Shared bool `json:"shared"` // stands elsewhere in the tree too
}

// A Request is what a Response answers.
type Request struct {
	Query    string
	Strategy string
	TopK     int
	Window   evalkit.Window // in force
}

// NewResponse builds the Response from the two shapes that Expand returned.
func NewResponse(r Request, tree []evalkit.ExpandedHit, flat []evalkit.RetrievedChunk, texts *evalkit.Texts) *Response {
	out := &Response{
		Query: r.Query, Strategy: r.Strategy, TopK: r.TopK, NeighborPrev: r.Window.Prev, NeighborNext: r.Window.Next,
		RetrievedChunks: make([]RetrievedEntry, 0, len(flat)), ExpansionTree: make([]TreeEntry, 0, len(tree)),
		Context: NewContext(flat, texts), Warnings: []string{},
	}
	for _, c := range flat {
		out.RetrievedChunks = append(out.RetrievedChunks, RetrievedEntry{chunkEntry(c.Chunk), c.Role, c.Rank, c.Score, c.Distance})
	}
	places := map[evalkit.ChunkID]int{}
	for _, e := range tree {
		places[e.Hit.Chunk.ID()]++
		for _, c := range append(append([]evalkit.Chunk{}, e.NeighborsPrev...), e.NeighborsNext...) {
			places[c.ID()]++
		}
	}
	for _, e := range tree {
		h := e.Hit
		out.ExpansionTree = append(out.ExpansionTree, TreeEntry{
			Hit:           HitEntry{chunkEntry(h.Chunk), h.Rank, h.Score, component(h.Lexical), component(h.Dense)},
			NeighborsPrev: neighborEntries(e.NeighborsPrev, places), NeighborsNext: neighborEntries(e.NeighborsNext, places),
		})
	}
	return out
}

func chunkEntry(c evalkit.Chunk) ChunkEntry {
	return ChunkEntry{c.Doc, c.Index, c.Span.Start, c.Span.End, c.Header, c.Text}
}

func neighborEntries(chunks []evalkit.Chunk, places map[evalkit.ChunkID]int) []NeighborEntry {
	out := make([]NeighborEntry, 0, len(chunks))
	for _, c := range chunks {
		out = append(out, NeighborEntry{chunkEntry(c), places[c.ID()] > 1})
	}
	return out
}

func component(c evalkit.Component) *evalkit.Component {
	if c.Rank == 0 {
		return nil
	}
	return &c
}
