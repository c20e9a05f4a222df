package compare

import "github.com/chunkeval/chunkeval/evalkit"

// A Waterfall says where recall is lost on the way from the text to the hits.
// Each level is at most the one before.
type Waterfall struct {
	// Segmentation is the recall of the best chunks of the whole index, as many
	// as there are candidates: what the chunking allows.
	Segmentation float64 `json:"segmentation_ceiling"`
	// Candidates is the recall of all candidates together: what the retriever found.
	Candidates float64 `json:"candidate_ceiling"`
	// Oracle is the recall of the best top_k of the candidates: what a perfect
	// order of them would send.
	Oracle float64 `json:"oracle_order"`
	// Actual is the recall of the hits.
	Actual float64 `json:"actual"`
	// Expanded is the recall with the neighbors of the hits; it may be above Oracle.
	Expanded float64 `json:"expanded"`
	Depth    int     `json:"candidates"` // most candidates of a query
	TopK     int     `json:"top_k"`
}

// Waterfall averages over queries.
func (l *Look) Waterfall() Waterfall {
	w := Waterfall{TopK: l.TopK}
	n := float64(len(l.queries))
	for i := range l.queries {
		x := &l.queries[i]
		candidates := x.candidates()
		w.Depth = max(w.Depth, len(candidates))
		actual, all, expanded := l.pileOf(x, x.hits), l.pileOf(x, candidates), l.newPile(x)
		for _, c := range x.flat {
			expanded.add(c.Chunk.Doc, c.Chunk.Span)
		}
		// Choosing greedily is exact for chunks that do not overlap, and for
		// others never worse than what was sent.
		oracle := max(l.best(x, chunksOf(candidates), l.TopK), actual.recall())
		ceiling := max(l.best(x, l.touching(x), len(candidates)), all.recall())
		w.Segmentation += ceiling / n
		w.Candidates += all.recall() / n
		w.Oracle += oracle / n
		w.Actual += actual.recall() / n
		w.Expanded += expanded.recall() / n
	}
	return w
}

func (l *Look) pileOf(x *looked, hits []evalkit.Hit) *pile {
	p := l.newPile(x)
	for _, h := range hits {
		p.add(h.Chunk.Doc, h.Chunk.Span)
	}
	return p
}

func chunksOf(hits []evalkit.Hit) []evalkit.Chunk {
	var out []evalkit.Chunk
	for _, h := range hits {
		out = append(out, h.Chunk)
	}
	return out
}

// touching returns the chunks of the index that hold gold of x.
func (l *Look) touching(x *looked) []evalkit.Chunk {
	var out []evalkit.Chunk
	seen := map[evalkit.DocID]bool{}
	for _, q := range x.judged.Query.Qrels {
		if seen[q.Doc] {
			continue
		}
		seen[q.Doc] = true
		for _, c := range l.chunks[q.Doc] {
			if len(evalkit.IntersectAll(x.gold[q.Doc], []evalkit.Span{c.Span})) > 0 {
				out = append(out, c)
			}
		}
	}
	return out
}

// best returns the recall of k chunks, each the one that adds most gold.
func (l *Look) best(x *looked, chunks []evalkit.Chunk, k int) float64 {
	p := l.newPile(x)
	for range k {
		at, most := -1, 0
		for i, c := range chunks {
			if g := p.gain(c.Doc, []evalkit.Span{c.Span}); g > most {
				at, most = i, g
			}
		}
		if at < 0 {
			break
		}
		p.add(chunks[at].Doc, chunks[at].Span)
	}
	return p.recall()
}
