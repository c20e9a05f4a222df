package metric

import (
	"github.com/chunkeval/chunkeval/evalkit"
)

// goldSet is the gold of a query, shared by all settings.
type goldSet struct {
	byDoc map[evalkit.DocID][]evalkit.Span // unions
	all   []evalkit.Qrel                   // with a grade above 0
	total map[evalkit.Unit]int             // |G|
	docs  []evalkit.DocID                  // in order of all
}

type goldKey struct{}

func gold(j *evalkit.Judgments) *goldSet {
	return j.Once(goldKey{}, func() any {
		g := &goldSet{byDoc: j.Query.Gold(), total: map[evalkit.Unit]int{}}
		for _, r := range j.Query.Qrels {
			if r.Grade > 0 {
				g.all = append(g.all, r)
				if n := len(g.docs); n == 0 || g.docs[n-1] != r.Doc {
					g.docs = append(g.docs, r.Doc)
				}
			}
		}
		return g
	}).(*goldSet)
}

// length returns |G|.
func (g *goldSet) length(u evalkit.Unit, j *evalkit.Judgments) int {
	n, ok := g.total[u]
	if !ok {
		for doc, spans := range g.byDoc {
			n += j.Texts.Sum(u, doc, spans)
		}
		g.total[u] = n
	}
	return n
}

// overlap holds the sizes that the span family is made of.
type overlap struct {
	got    []evalkit.RetrievedChunk
	union  map[evalkit.DocID][]evalkit.Span // R
	common map[evalkit.DocID][]evalkit.Span // G∩R
	seen   map[evalkit.DocID][]evalkit.Span // R joined over white space; see merged
	size   map[evalkit.Unit][2]int          // |R|, |G∩R|
}

// overlapKey finds the overlap of the list scored last in a view: all metrics
// of one setting are scored one after the other.
type overlapKey struct{ view evalkit.View }

func overlapOf(j *evalkit.Judgments, v evalkit.View, got []evalkit.RetrievedChunk) *overlap {
	o := j.Once(overlapKey{v}, func() any { return &overlap{} }).(*overlap)
	if o.union != nil && sameList(o.got, got) {
		return o
	}
	*o = overlap{got: got, union: map[evalkit.DocID][]evalkit.Span{}, common: map[evalkit.DocID][]evalkit.Span{}, size: map[evalkit.Unit][2]int{}}
	for _, c := range got {
		o.union[c.Chunk.Doc] = append(o.union[c.Chunk.Doc], c.Chunk.Span)
	}
	g := gold(j)
	for doc, spans := range o.union {
		o.union[doc] = evalkit.Union(spans)
		if gs := g.byDoc[doc]; gs != nil {
			o.common[doc] = evalkit.IntersectAll(gs, o.union[doc])
		}
	}
	return o
}

// sameList reports whether a and b are the same slice.
func sameList(a, b []evalkit.RetrievedChunk) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// merged returns the stretches of each document that an LLM sees: white space
// between two of them belongs to no chunk and parts nothing.
func (o *overlap) merged(j *evalkit.Judgments) map[evalkit.DocID][]evalkit.Span {
	if o.seen == nil {
		o.seen = make(map[evalkit.DocID][]evalkit.Span, len(o.union))
		for doc, spans := range o.union {
			o.seen[doc] = j.Texts.Merge(doc, spans)
		}
	}
	return o.seen
}

// sizes returns |R| and |G∩R|.
func (o *overlap) sizes(u evalkit.Unit, j *evalkit.Judgments) (all, common int) {
	s, ok := o.size[u]
	if !ok {
		for doc, spans := range o.union {
			s[0] += j.Texts.Sum(u, doc, spans)
		}
		for doc, spans := range o.common {
			s[1] += j.Texts.Sum(u, doc, spans)
		}
		o.size[u] = s
	}
	return s[0], s[1]
}

func recall(p params, j *evalkit.Judgments, v evalkit.View, got []evalkit.RetrievedChunk) (float64, error) {
	_, common := overlapOf(j, v, got).sizes(p.unit, j)
	return ratio(common, gold(j).length(p.unit, j), "gold has no length in this unit")
}

func precision(p params, j *evalkit.Judgments, v evalkit.View, got []evalkit.RetrievedChunk) (float64, error) {
	all, common := overlapOf(j, v, got).sizes(p.unit, j)
	return ratio(common, all, "nothing was retrieved")
}

func iou(p params, j *evalkit.Judgments, v evalkit.View, got []evalkit.RetrievedChunk) (float64, error) {
	all, common := overlapOf(j, v, got).sizes(p.unit, j)
	return ratio(common, all+gold(j).length(p.unit, j)-common, "gold has no length in this unit")
}

func f1(p params, j *evalkit.Judgments, v evalkit.View, got []evalkit.RetrievedChunk) (float64, error) {
	all, common := overlapOf(j, v, got).sizes(p.unit, j)
	if all == 0 {
		return 0, evalkit.Undefined("nothing was retrieved")
	}
	return ratio(2*common, all+gold(j).length(p.unit, j), "gold has no length in this unit")
}

func fullEvidence(p params, j *evalkit.Judgments, v evalkit.View, got []evalkit.RetrievedChunk) (float64, error) {
	seen := overlapOf(j, v, got).merged(j)
	for _, r := range gold(j).all {
		if !covered(j, r, seen[r.Doc], p.tau) {
			return 0, nil
		}
	}
	return 1, nil
}

// covered reports whether at least tau of r's length, in code points, is in spans.
func covered(j *evalkit.Judgments, r evalkit.Qrel, spans []evalkit.Span, tau float64) bool {
	in := j.Texts.Sum(evalkit.Rune, r.Doc, evalkit.IntersectAll([]evalkit.Span{r.Span}, spans))
	return in > 0 && atLeast(tau, in, j.Texts.Len(evalkit.Rune, r.Doc, r.Span))
}

// atLeast reports whether part/whole >= tau.
//
// Note: the quotient of two counts is rounded as tau itself was read, so 55 of
// 100 meets 0.55; the product 0.55*100 is a little above 55.
func atLeast(tau float64, part, whole int) bool { return float64(part)/float64(whole) >= tau }

func redundancy(p params, j *evalkit.Judgments, v evalkit.View, got []evalkit.RetrievedChunk) (float64, error) {
	all, _ := overlapOf(j, v, got).sizes(p.unit, j)
	sum := 0
	for _, c := range got {
		sum += j.Texts.Len(p.unit, c.Chunk.Doc, c.Chunk.Span)
	}
	r, err := ratio(all, sum, "nothing was retrieved")
	return 1 - r, err
}

// density counts both in tokens of the documents, so that it is a share.
func density(_ params, j *evalkit.Judgments, v evalkit.View, got []evalkit.RetrievedChunk) (float64, error) {
	all, common := overlapOf(j, v, got).sizes(evalkit.Token, j)
	return ratio(common, all, "nothing was retrieved")
}

func contextTokens(_ params, j *evalkit.Judgments, v evalkit.View, got []evalkit.RetrievedChunk) (float64, error) {
	n := 0
	for doc, spans := range overlapOf(j, v, got).merged(j) {
		for _, s := range spans {
			n += j.Texts.Tokens(doc, s)
		}
	}
	return float64(n), nil
}

func countChunks(_ params, _ *evalkit.Judgments, _ evalkit.View, got []evalkit.RetrievedChunk) (float64, error) {
	return float64(len(got)), nil
}

func ratio(a, b int, undefined string) (float64, error) {
	if b == 0 {
		return 0, evalkit.Undefined(undefined)
	}
	return float64(a) / float64(b), nil
}
