package metric

import (
	"cmp"
	"maps"
	"slices"

	"github.com/chunkeval/chunkeval/evalkit"
)

// Attribution says what of the gold each part of the context covers: the
// length in unit u by Distance, that of the hits at 0. A gold character that a
// hit covers belongs to the hits; else to the neighbor nearest to its hit, the
// previous side first. The lengths add up to what the whole context covers.
func Attribution(u evalkit.Unit, j *evalkit.Judgments, got []evalkit.RetrievedChunk) map[int]int {
	a := map[int]int{}
	order := slices.Clone(got)
	slices.SortStableFunc(order, func(x, y evalkit.RetrievedChunk) int {
		return cmp.Or(cmp.Compare(away(x), away(y)), cmp.Compare(x.Distance, y.Distance))
	})
	rest := map[evalkit.DocID][]evalkit.Span{}
	maps.Copy(rest, gold(j).byDoc)
	for _, c := range order {
		doc, span := c.Chunk.Doc, []evalkit.Span{c.Chunk.Span}
		if fresh := evalkit.IntersectAll(rest[doc], span); len(fresh) > 0 {
			rest[doc] = evalkit.Subtract(rest[doc], span)
			a[c.Distance] += j.Texts.Sum(u, doc, fresh)
		}
	}
	return a
}

// away is the distance to the hit, 0 for a hit.
func away(c evalkit.RetrievedChunk) int { return max(c.Distance, -c.Distance) }

// attributed makes a scorer of a part of the attribution.
func attributed(part func(a map[int]int, p params) int) scorer {
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
	parts map[int]int // nil: none yet
}

func attributionOf(u evalkit.Unit, j *evalkit.Judgments, got []evalkit.RetrievedChunk) map[int]int {
	k := j.Once(attrKey{u}, func() any { return &kept{} }).(*kept)
	if k.parts == nil || !sameList(k.got, got) {
		*k = kept{got, Attribution(u, j, got)}
	}
	return k.parts
}

func partHits(a map[int]int, _ params) int { return a[0] }

func partNeighbors(a map[int]int, p params) int { return partPrev(a, p) + partNext(a, p) }

func partPrev(a map[int]int, _ params) int {
	n := 0
	for distance, length := range a {
		if distance < 0 {
			n += length
		}
	}
	return n
}

func partNext(a map[int]int, _ params) int {
	n := 0
	for distance, length := range a {
		if distance > 0 {
			n += length
		}
	}
	return n
}

func partDistance(a map[int]int, p params) int { return a[p.k] + a[-p.k] }

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
