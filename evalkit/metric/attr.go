package metric

import (
	"cmp"
	"maps"
	"slices"

	"github.com/chunkeval/chunkeval/evalkit"
)

// attribution says what of the gold each part of the context covers. A gold
// character that a hit covers belongs to the hits; else to the neighbor
// nearest to its hit, the previous side first.
type attribution struct {
	hits, prev, next int
	distance         map[int]int // by |Distance|
}

func attribute(u evalkit.Unit, j *evalkit.Judgments, got []evalkit.RetrievedChunk) attribution {
	a := attribution{distance: map[int]int{}}
	order := slices.Clone(got)
	slices.SortStableFunc(order, func(x, y evalkit.RetrievedChunk) int {
		return cmp.Or(cmp.Compare(away(x), away(y)), cmp.Compare(x.Distance, y.Distance))
	})
	rest := map[evalkit.DocID][]evalkit.Span{}
	maps.Copy(rest, gold(j).byDoc)
	for _, c := range order {
		doc, span := c.Chunk.Doc, []evalkit.Span{c.Chunk.Span}
		fresh := evalkit.IntersectAll(rest[doc], span)
		if len(fresh) == 0 {
			continue
		}
		rest[doc] = evalkit.Subtract(rest[doc], span)
		n := j.Texts.Sum(u, doc, fresh)
		switch {
		case c.Distance == 0:
			a.hits += n
			continue
		case c.Distance < 0:
			a.prev += n
		default:
			a.next += n
		}
		a.distance[away(c)] += n
	}
	return a
}

// away is the distance to the hit, 0 for a hit.
func away(c evalkit.RetrievedChunk) int { return max(c.Distance, -c.Distance) }

// attributed makes a scorer of a part of the attribution.
func attributed(part func(a attribution, p params) int) scorer {
	return func(p params, j *evalkit.Judgments, v evalkit.View, got []evalkit.RetrievedChunk) (float64, error) {
		if v != evalkit.Expanded {
			return 0, evalkit.Undefined("defined on the expanded view only")
		}
		return ratio(part(attributionOf(p.unit, j, got), p), gold(j).length(p.unit, j), "gold has no length in this unit")
	}
}

type attrKey struct{ unit evalkit.Unit }

// kept is the attribution of the list scored last.
type kept struct {
	got   []evalkit.RetrievedChunk
	known bool
	attribution
}

func attributionOf(u evalkit.Unit, j *evalkit.Judgments, got []evalkit.RetrievedChunk) attribution {
	k := j.Once(attrKey{u}, func() any { return &kept{} }).(*kept)
	if !k.known || !sameList(k.got, got) {
		*k = kept{got, true, attribute(u, j, got)}
	}
	return k.attribution
}

func partHits(a attribution, _ params) int      { return a.hits }
func partNeighbors(a attribution, _ params) int { return a.prev + a.next }
func partPrev(a attribution, _ params) int      { return a.prev }
func partNext(a attribution, _ params) int      { return a.next }
func partDistance(a attribution, p params) int  { return a.distance[p.k] }

// attrRescue is 1 for a query whose hits find no gold span while hits and
// neighbors together find one.
func attrRescue(p params, j *evalkit.Judgments, v evalkit.View, got []evalkit.RetrievedChunk) (float64, error) {
	if v != evalkit.Expanded {
		return 0, evalkit.Undefined("defined on the expanded view only")
	}
	all := overlapOf(j, v, got).union
	hits := map[evalkit.DocID][]evalkit.Span{}
	for _, c := range got {
		if c.Role == evalkit.RoleHit {
			hits[c.Chunk.Doc] = append(hits[c.Chunk.Doc], c.Chunk.Span)
		}
	}
	rescued := 0.0
	for _, r := range gold(j).all {
		if covered(j, r, evalkit.Union(hits[r.Doc]), p.tau) {
			return 0, nil
		}
		if covered(j, r, all[r.Doc], p.tau) {
			rescued = 1
		}
	}
	return rescued, nil
}
