package compare

import (
	"math/rand/v2"

	"github.com/chunkeval/chunkeval/evalkit"
)

// placeboDraws is how many random windows stand against each real one.
const placeboDraws = 20

// A Placebo sets the neighbors beside as many random chunks of the same
// documents: does the window help because it is the neighborhood, or would any
// more text of the document have done?
type Placebo struct {
	HitOnly float64 `json:"recall_hit_only"`
	Real    float64 `json:"recall_neighbors"` // with the neighbors
	Random  float64 `json:"recall_random"`    // with random chunks in their place, mean of 20 draws
	// Delta is Real minus Random, paired by query.
	Delta *Delta `json:"delta"`
	// Tokens of the two contexts; random ones are not of quite the same length.
	RealTokens   float64 `json:"tokens_neighbors"`
	RandomTokens float64 `json:"tokens_random"`
	// Added is the number of queries to which neighbors were added.
	Added int `json:"added"`
}

// Placebo returns nil if no neighbor was added to any query.
func (l *Look) Placebo(o Options) *Placebo {
	o = o.withDefaults()
	p := &Placebo{}
	var pr pairs
	var docs []evalkit.DocID
	n := float64(len(l.queries))
	for i := range l.queries {
		x := &l.queries[i]
		hits, extra := l.newPile(x), map[evalkit.DocID]int{}
		real := l.newPile(x)
		for _, c := range x.flat {
			real.add(c.Chunk.Doc, c.Chunk.Span)
			if c.Role == evalkit.RoleHit {
				hits.add(c.Chunk.Doc, c.Chunk.Span)
			} else {
				extra[c.Chunk.Doc]++
			}
		}
		if len(extra) > 0 {
			p.Added++
		}
		recall, tokens := l.random(x, extra, rand.New(rand.NewPCG(o.Seed, uint64(i))))
		p.HitOnly += hits.recall() / n
		p.Real += real.recall() / n
		p.Random += recall / n
		p.RealTokens += float64(real.tokens) / n
		p.RandomTokens += tokens / n
		pr.diffs, docs = append(pr.diffs, real.recall()-recall), append(docs, documentOf(x.judged.Query))
	}
	if p.Added == 0 {
		return nil
	}
	pr.clusters, pr.n = number(docs)
	m := Measure{"recall", evalkit.Expanded}
	p.Delta = deltaOf(pr, m, o)
	decide([]*Delta{p.Delta}, []Measure{m}, o.Level)
	return p
}

// random replaces the neighbors by as many other chunks of each document.
func (l *Look) random(x *looked, extra map[evalkit.DocID]int, r *rand.Rand) (recall, tokens float64) {
	isHit := map[evalkit.ChunkID]bool{}
	for _, h := range x.hits {
		isHit[h.Chunk.ID()] = true
	}
	for range placeboDraws {
		p := l.newPile(x)
		seen := map[evalkit.DocID]bool{}
		for _, h := range x.hits {
			p.add(h.Chunk.Doc, h.Chunk.Span)
		}
		for _, h := range x.hits { // in rank order, so that draws do not depend on map order
			if doc := h.Chunk.Doc; !seen[doc] {
				seen[doc] = true
				for _, c := range draw(l.chunks[doc], isHit, extra[doc], r) {
					p.add(doc, c.Span)
				}
			}
		}
		recall += p.recall() / placeboDraws
		tokens += float64(p.tokens) / placeboDraws
	}
	return recall, tokens
}

// draw returns n chunks that are no hits, or all there are.
func draw(chunks []evalkit.Chunk, isHit map[evalkit.ChunkID]bool, n int, r *rand.Rand) []evalkit.Chunk {
	if n == 0 {
		return nil
	}
	var others []evalkit.Chunk
	for _, c := range chunks {
		if !isHit[c.ID()] {
			others = append(others, c)
		}
	}
	r.Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
	return others[:min(n, len(others))]
}
