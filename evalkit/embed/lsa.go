package embed

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/chunkeval/chunkeval/evalkit"
)

// An LSAModel is a fitted LSA. It is safe for concurrent use.
type LSAModel struct {
	spec        LSA
	weighting   *weighting
	dim         int
	vectors     []float32 // one row of dim per term of the vocabulary
	fingerprint string
}

// FitLSA fits latent semantic analysis (Deerwester et al. 1990) on sentences.
// The rows of the sentence × term matrix are tf-idf weights:
//
//	w(t)   = (1 + ln tf) · idf(t), then divided by the length of the row
//	idf(t) = 1 + ln((1 + N)/(1 + df)), over N sentences
//
// and the model keeps its first right singular vectors, spec.Dim of them; fewer,
// and Dim is lower, if the rank of the matrix is lower. Sentences without a
// term count in N and nowhere else. If no sentence has a term, that is an error.
func FitLSA(ctx context.Context, spec LSA, a evalkit.Analyzer, sentences []string) (*LSAModel, error) {
	m, err := fitLSA(ctx, spec, a, sentences)
	if err != nil {
		return nil, fmt.Errorf("fit %s: %w", spec, err)
	}
	return m, nil
}

func fitLSA(ctx context.Context, spec LSA, a evalkit.Analyzer, sentences []string) (*LSAModel, error) {
	if spec.Dim < 1 {
		return nil, errors.New("dim is below 1")
	}
	texts := make([][]string, len(sentences))
	if err := parallel(ctx, len(sentences), func(i int) { texts[i] = a.Terms(sentences[i]) }); err != nil {
		return nil, err
	}
	w, err := newWeighting(ctx, a, texts)
	if err != nil {
		return nil, err
	}
	if len(w.terms) == 0 {
		return nil, fmt.Errorf("analyzer %q finds no term in %d sentences", a, len(sentences))
	}
	matrix := sparse{cols: len(w.terms)}
	for _, terms := range texts {
		if row := w.row(terms); len(row) > 0 {
			matrix.rows = append(matrix.rows, row)
		}
	}
	v, err := rightVectors(ctx, matrix, spec.Dim, spec.Seed)
	if err != nil {
		return nil, err
	}
	m := &LSAModel{spec: spec, weighting: w, dim: v.Cols, vectors: make([]float32, len(v.Data))}
	for i, x := range v.Data {
		m.vectors[i] = float32(x)
	}
	m.fingerprint = m.digest()
	return m, nil
}

// String returns the Spec, "lsa(dim=256,seed=1)". What it was fitted on is in
// the Fingerprint.
func (m *LSAModel) String() string { return m.spec.String() }

// Fingerprint returns a digest of the Spec, the analyzer and the fitted data.
func (m *LSAModel) Fingerprint() string { return m.fingerprint }

// Dim returns the number of dimensions: that of the Spec, or the rank of the
// fitted matrix if that is lower.
func (m *LSAModel) Dim() int { return m.dim }

// Embed returns one row per text: its weighted sum of term vectors, divided by
// its length. The row is all zero for a text without a term that was fitted, and
// for one whose terms lie outside of the dimensions that were kept (length
// below 1e-6). The two kinds of text are alike.
func (m *LSAModel) Embed(ctx context.Context, _ evalkit.TextKind, texts []string) (evalkit.Vectors, error) {
	v := evalkit.Vectors{Dim: m.dim, Data: make([]float32, len(texts)*m.dim)}
	err := parallel(ctx, len(texts), func(i int) {
		sum := make([]float64, m.dim)
		for _, w := range m.weighting.row(m.weighting.analyzer.Terms(texts[i])) {
			for d, x := range m.vectors[w.term*m.dim : (w.term+1)*m.dim] {
				sum[d] += float64(w.value * float64(x))
			}
		}
		unit(v.Row(i), sum)
	})
	if err != nil {
		return evalkit.Vectors{}, err
	}
	return v, nil
}

func (m *LSAModel) digest() string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %d\n", m.spec, evalkit.Fingerprint(m.weighting.analyzer), m.dim)
	for _, t := range slices.Sorted(maps.Keys(m.weighting.terms)) {
		fmt.Fprintf(h, "%q\n", t)
	}
	var buf []byte
	for _, x := range m.weighting.idf {
		buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits(x))
	}
	h.Write(buf) // never an error
	for term := range len(m.weighting.idf) {
		h.Write(appendFloats(buf[:0], m.vectors[term*m.dim:(term+1)*m.dim]))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// appendFloats appends the bits of row, little endian.
func appendFloats(buf []byte, row []float32) []byte {
	for _, x := range row {
		buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(x))
	}
	return buf
}
