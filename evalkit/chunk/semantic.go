package chunk

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/chunkeval/chunkeval/evalkit"
)

// Semantic cuts where the meaning changes most from one sentence to the next
// (G. Kamradt, "5 levels of text splitting"). Every sentence is embedded with
// buffer sentences on either side; the distance of neighbors is 1 − cosine; a
// cut falls behind each sentence whose distance exceeds the mode's limit:
//
//	percentile     the threshold-th percentile (default 95)
//	stddev         mean + threshold · standard deviation (default 3)
//	interquartile  mean + threshold · interquartile range (default 1.5)
//	gradient       the threshold-th percentile of the distances' gradient (default 95)
//
// A group above size is packed from its sentences.
type Semantic struct {
	mode         string
	threshold    float64
	buffer, size int
	embedder     evalkit.Embedder
	ruler
}

func parseSemantic(p *parser) evalkit.Strategy {
	s := Semantic{mode: p.set.Enum("mode", "percentile", "percentile", "stddev", "interquartile", "gradient")}
	def := map[string]float64{"percentile": 95, "stddev": 3, "interquartile": 1.5, "gradient": 95}[s.mode]
	s.threshold = p.set.Float("threshold", def)
	if percent := s.mode == "percentile" || s.mode == "gradient"; s.threshold < 0 || percent && s.threshold > 100 {
		p.fail(fmt.Errorf("threshold: %v is out of range for mode=%s", s.threshold, s.mode))
	}
	s.buffer = p.atLeast("buffer", 1, 0)
	s.size, _ = p.size(1000, false)
	s.embedder = p.embedder()
	s.ruler = p.ruler()
	return s
}

// String returns the form that Parse reads.
func (s Semantic) String() string {
	return fmt.Sprintf("semantic(mode=%s,threshold=%v,buffer=%d,size=%d,embedder=%s%s)", s.mode, s.threshold, s.buffer, s.size, s.embedder, s.suffix(false))
}

// Fingerprint covers the tokenizer and the embedder.
func (s Semantic) Fingerprint() string {
	return s.fingerprint(s.String()) + " " + evalkit.Fingerprint(s.embedder)
}

// Split groups the sentences of doc.
func (s Semantic) Split(ctx context.Context, doc evalkit.Document) ([]evalkit.Chunk, error) {
	pieces := notBlank(doc.Text, Sentences(doc.Text))
	distances, err := neighborDistances(ctx, s.embedder, doc.Text, pieces, s.buffer)
	if err != nil {
		return nil, err
	}
	var spans []evalkit.Span
	for _, g := range groups(pieces, s.cuts(distances)) {
		fitted := s.fit(ctx, doc.Text, g, s.size, sentencesOf)
		spans = append(spans, pack(fitted, s.lengths(doc.Text, fitted), s.size, 0)...)
	}
	return s.finish(ctx, doc, drafts(spans), s.size)
}

// cuts reports for each distance whether a cut falls there.
func (s Semantic) cuts(distances []float64) []bool {
	out := make([]bool, len(distances))
	if len(distances) == 0 {
		return out
	}
	values, limit := distances, 0.0
	switch s.mode {
	case "percentile":
		limit = percentile(distances, s.threshold)
	case "stddev":
		limit = stat.Mean(distances, nil) + s.threshold*math.Sqrt(stat.PopVariance(distances, nil))
	case "interquartile":
		limit = stat.Mean(distances, nil) + s.threshold*(percentile(distances, 75)-percentile(distances, 25))
	case "gradient":
		values = gradient(distances)
		limit = percentile(values, s.threshold)
	}
	for i, v := range values {
		out[i] = v > limit
	}
	return out
}

// percentile interpolates linearly between closest ranks, as numpy does.
func percentile(values []float64, p float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	x := p / 100 * float64(len(sorted)-1)
	i := int(x)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (x-float64(i))*(sorted[i+1]-sorted[i])
}

// gradient is the central difference, one-sided at both ends.
func gradient(v []float64) []float64 {
	out := make([]float64, len(v))
	for i := range v {
		lo, hi := max(0, i-1), min(len(v)-1, i+1)
		if hi > lo {
			out[i] = (v[hi] - v[lo]) / float64(hi-lo)
		}
	}
	return out
}

// groups joins pieces; cuts[i] parts piece i from piece i+1.
func groups(pieces []evalkit.Span, cuts []bool) []evalkit.Span {
	var out []evalkit.Span
	for i, p := range pieces {
		if i > 0 && !cuts[i-1] {
			out[len(out)-1].End = p.End
			continue
		}
		out = append(out, p)
	}
	return out
}

// neighborDistances returns 1 − cosine between each piece and the next, both
// with buffer pieces on either side joined by a blank.
func neighborDistances(ctx context.Context, e evalkit.Embedder, text string, pieces []evalkit.Span, buffer int) ([]float64, error) {
	if len(pieces) < 2 {
		return nil, ctx.Err()
	}
	windows := make([]string, len(pieces))
	for i := range pieces {
		var parts []string
		for _, p := range pieces[max(0, i-buffer):min(len(pieces), i+buffer+1)] {
			parts = append(parts, strings.TrimFunc(text[p.Start:p.End], evalkit.IsSpace))
		}
		windows[i] = strings.Join(parts, " ")
	}
	v, err := vectors(ctx, e, windows)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(pieces)-1)
	for i := range out {
		out[i] = 1 - dot(v.Row(i), v.Row(i+1))
	}
	return out, nil
}

// vectors embeds texts, none of them blank, as passages.
func vectors(ctx context.Context, e evalkit.Embedder, texts []string) (evalkit.Vectors, error) {
	v, err := e.Embed(ctx, evalkit.Passage, texts)
	if err != nil {
		return v, fmt.Errorf("embedder %s: %w", e, err)
	}
	if v.Len() != len(texts) {
		return v, fmt.Errorf("embedder %s: %d vectors for %d texts", e, v.Len(), len(texts))
	}
	return v, nil
}

func dot(a, b []float32) float64 {
	sum := 0.0
	for i, x := range a {
		sum += float64(x) * float64(b[i])
	}
	return sum
}

func notBlank(text string, spans []evalkit.Span) []evalkit.Span {
	return slices.DeleteFunc(spans, func(s evalkit.Span) bool { return evalkit.Blank(text[s.Start:s.End]) })
}
