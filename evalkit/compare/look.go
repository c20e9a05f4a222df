package compare

import (
	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/experiment"
	"github.com/chunkeval/chunkeval/evalkit/token"
)

// A Look is one strategy of one Experiment, opened for what needs chunks, gold
// and candidates together. Lengths of gold are code points, as those of the
// metric recall; context is counted as the metric context_tokens does. It is for
// one goroutine.
type Look struct {
	Strategy string
	TopK     int
	Window   evalkit.Window // in force
	texts    *evalkit.Texts
	queries  []looked
	chunks   map[evalkit.DocID][]evalkit.Chunk
}

// looked is one answerable query with gold that did not fail.
type looked struct {
	judged evalkit.Judgments
	gold   map[evalkit.DocID][]evalkit.Span
	size   int // of gold
	hits   []evalkit.Hit
	below  []evalkit.Hit
	flat   []evalkit.RetrievedChunk
}

// NewLook opens s. Queries that failed, and those without gold, are left out.
func NewLook(rec experiment.Record, s *experiment.StrategyResult, ds *evalkit.Dataset) (*Look, error) {
	tok, err := token.Parse(rec.Spec.Tokenizer)
	if err != nil {
		return nil, err
	}
	l := &Look{Strategy: s.Strategy, TopK: rec.Spec.TopK, Window: s.Window, texts: evalkit.NewTexts(ds.Docs, tok), chunks: map[evalkit.DocID][]evalkit.Chunk{}}
	for _, c := range s.Chunks {
		l.chunks[c.Doc] = append(l.chunks[c.Doc], c)
	}
	for i, q := range ds.Queries {
		r := s.Queries[i]
		gold := q.Gold()
		if len(gold) == 0 || r.Failed != "" {
			continue
		}
		x := looked{judged: evalkit.Judgments{Query: q, Texts: l.texts, Chunks: l.chunks}, gold: gold, below: r.Below, flat: r.Flat}
		for _, e := range r.Tree {
			x.hits = append(x.hits, e.Hit)
		}
		for doc, spans := range gold { // a sum of whole numbers: any order
			x.size += l.texts.Sum(evalkit.Rune, doc, spans)
		}
		l.queries = append(l.queries, x)
	}
	return l, nil
}

// N returns the number of questions that are looked at.
func (l *Look) N() int { return len(l.queries) }

// candidates returns all ranked chunks, hits first.
func (x *looked) candidates() []evalkit.Hit {
	return append(x.hits[:len(x.hits):len(x.hits)], x.below...)
}

// pile is a growing context.
type pile struct {
	l      *Look
	x      *looked
	spans  map[evalkit.DocID][]evalkit.Span // as Union returns them
	found  int                              // gold covered, in runes
	in     map[evalkit.DocID]int            // tokens of the merged text of each document
	tokens int                              // of all of them
}

func (l *Look) newPile(x *looked) *pile {
	return &pile{l: l, x: x, spans: map[evalkit.DocID][]evalkit.Span{}, in: map[evalkit.DocID]int{}}
}

// add puts more spans of a document on the pile.
func (p *pile) add(doc evalkit.DocID, spans ...evalkit.Span) {
	fresh := evalkit.Subtract(evalkit.Union(spans), p.spans[doc])
	if len(fresh) == 0 {
		return
	}
	p.found += p.gain(doc, fresh)
	p.spans[doc] = evalkit.Union(append(fresh, p.spans[doc]...))
	n := 0
	for _, s := range p.l.texts.Merge(doc, p.spans[doc]) {
		n += p.l.texts.Tokens(doc, s)
	}
	p.tokens += n - p.in[doc]
	p.in[doc] = n
}

// gain returns how much gold spans hold that is not on the pile.
func (p *pile) gain(doc evalkit.DocID, spans []evalkit.Span) int {
	gold := p.x.gold[doc]
	if gold == nil {
		return 0
	}
	fresh := evalkit.Subtract(evalkit.Union(spans), p.spans[doc])
	return p.l.texts.Sum(evalkit.Rune, doc, evalkit.IntersectAll(gold, fresh))
}

// recall returns the share of the gold that the pile covers.
func (p *pile) recall() float64 { return float64(p.found) / float64(p.x.size) }

// unit returns the spans of a hit with its neighbors, clipped at the edges of
// the document.
func (l *Look) unit(h evalkit.Hit, w evalkit.Window) []evalkit.Span {
	chunks := l.chunks[h.Chunk.Doc]
	var out []evalkit.Span
	for i := max(0, h.Chunk.Index-w.Prev); i <= min(len(chunks)-1, h.Chunk.Index+w.Next); i++ {
		out = append(out, chunks[i].Span)
	}
	return out
}
