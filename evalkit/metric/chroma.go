package metric

import (
	"github.com/chunkeval/chunkeval/evalkit"
)

// maxMin caps k=min, as the reference does.
const maxMin = 20

// touches reports whether chunk and gold meet; zero-length contact counts.
func touches(a, b evalkit.Span) bool { return max(a.Start, b.Start) <= min(a.End, b.End) }

// touching returns the chunks of the index that touch gold.
func touching(j *evalkit.Judgments) []evalkit.Chunk {
	var out []evalkit.Chunk
	seen := map[evalkit.DocID]bool{}
	for _, doc := range gold(j).docs {
		if seen[doc] {
			continue
		}
		seen[doc] = true
		for _, c := range j.Chunks[doc] {
			for _, r := range gold(j).all {
				if r.Doc == doc && touches(c.Span, r.Span) {
					out = append(out, c)
					break
				}
			}
		}
	}
	return out
}

// chromaSizes are the lengths, in code points, that the family is made of.
type chromaSizes struct {
	num       int // union of chunk ∩ gold
	gold      int // Σ|gold|
	chunks    int // Σ|chunk|
	uncovered int // gold that no chunk covers, span by span
}

func chroma(p params, j *evalkit.Judgments, got []evalkit.RetrievedChunk) (chromaSizes, error) {
	k := p.k
	if p.minK {
		k = min(maxMin, len(touching(j)))
	}
	got = got[:min(k, len(got))]
	if len(got) == 0 {
		return chromaSizes{}, evalkit.Undefined("nothing was retrieved")
	}
	var s chromaSizes
	byDoc := map[evalkit.DocID][]evalkit.Span{}
	for _, c := range got {
		s.chunks += j.Texts.Len(evalkit.Rune, c.Chunk.Doc, c.Chunk.Span)
		byDoc[c.Chunk.Doc] = append(byDoc[c.Chunk.Doc], c.Chunk.Span)
	}
	for doc, spans := range byDoc {
		byDoc[doc] = evalkit.Union(spans)
	}
	s.num = covers(j, byDoc)
	s.gold, s.uncovered = goldSizes(j, byDoc)
	return s, nil
}

// covers returns the length of the gold that the spans, unions, hold.
func covers(j *evalkit.Judgments, byDoc map[evalkit.DocID][]evalkit.Span) int {
	n := 0
	for doc, spans := range gold(j).byDoc {
		n += j.Texts.Sum(evalkit.Rune, doc, evalkit.IntersectAll(spans, byDoc[doc]))
	}
	return n
}

func goldSizes(j *evalkit.Judgments, byDoc map[evalkit.DocID][]evalkit.Span) (all, uncovered int) {
	for _, r := range gold(j).all {
		all += j.Texts.Len(evalkit.Rune, r.Doc, r.Span)
		uncovered += j.Texts.Sum(evalkit.Rune, r.Doc, evalkit.Subtract([]evalkit.Span{r.Span}, byDoc[r.Doc]))
	}
	return all, uncovered
}

func chromaRecall(p params, j *evalkit.Judgments, _ evalkit.View, got []evalkit.RetrievedChunk) (float64, error) {
	s, err := chroma(p, j, got)
	if err != nil {
		return 0, err
	}
	return ratio(s.num, s.gold, "gold has no length")
}

func chromaPrecision(p params, j *evalkit.Judgments, _ evalkit.View, got []evalkit.RetrievedChunk) (float64, error) {
	s, err := chroma(p, j, got)
	if err != nil {
		return 0, err
	}
	return ratio(s.num, s.chunks, "nothing was retrieved")
}

func chromaIoU(p params, j *evalkit.Judgments, _ evalkit.View, got []evalkit.RetrievedChunk) (float64, error) {
	s, err := chroma(p, j, got)
	if err != nil {
		return 0, err
	}
	return ratio(s.num, s.chunks+s.uncovered, "nothing was retrieved")
}

type omegaKey struct{}

// chromaOmega does not look at what was retrieved.
func chromaOmega(_ params, j *evalkit.Judgments, _ evalkit.View, _ []evalkit.RetrievedChunk) (float64, error) {
	type result struct {
		value float64
		err   error
	}
	r := j.Once(omegaKey{}, func() any {
		byDoc := map[evalkit.DocID][]evalkit.Span{}
		for _, c := range touching(j) {
			byDoc[c.Doc] = append(byDoc[c.Doc], c.Span)
		}
		size := 0
		for _, doc := range gold(j).docs {
			byDoc[doc] = evalkit.Union(byDoc[doc])
		}
		for doc, spans := range gold(j).byDoc {
			size += j.Texts.Sum(evalkit.Rune, doc, evalkit.Union(append(append([]evalkit.Span{}, spans...), byDoc[doc]...)))
		}
		v, err := ratio(covers(j, byDoc), size, "gold has no length")
		return result{v, err}
	}).(result)
	return r.value, r.err
}
