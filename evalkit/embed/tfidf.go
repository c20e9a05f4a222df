package embed

import (
	"context"
	"math"
	"slices"

	"github.com/chunkeval/chunkeval/evalkit"
)

// A weighting turns a text into weights of terms:
//
//	w(t)   = (1 + ln tf) · idf(t), then divided by the length of the text's row
//	idf(t) = 1 + ln((1 + N)/(1 + df))
//
// tf counts t in the text; N sentences were fitted on, df of them hold t.
// Terms that no sentence holds are left out. This is the sublinear tf with
// smooth idf of scikit-learn's TfidfVectorizer.
type weighting struct {
	analyzer evalkit.Analyzer
	terms    map[string]int // by rank in the sorted vocabulary
	idf      []float64
}

// A weight is one entry of a sparse row.
type weight struct {
	term  int
	value float64
}

func newWeighting(ctx context.Context, a evalkit.Analyzer, texts [][]string) (*weighting, error) {
	df := map[string]int{}
	for _, terms := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		seen := map[string]bool{}
		for _, t := range terms {
			if !seen[t] {
				seen[t] = true
				df[t]++
			}
		}
	}
	vocabulary := make([]string, 0, len(df))
	for t := range df {
		vocabulary = append(vocabulary, t)
	}
	slices.Sort(vocabulary)
	w := &weighting{a, make(map[string]int, len(df)), make([]float64, len(df))}
	for i, t := range vocabulary {
		w.terms[t] = i
		w.idf[i] = 1 + math.Log(float64(1+len(texts))/float64(1+df[t]))
	}
	return w, nil
}

// row returns the weights of a text's terms, in the order of the vocabulary;
// their squares add up to 1, unless there are none.
func (w *weighting) row(terms []string) []weight {
	var at []int
	for _, t := range terms {
		if i, ok := w.terms[t]; ok {
			at = append(at, i)
		}
	}
	slices.Sort(at)
	var row []weight
	sum := 0.0
	for i := 0; i < len(at); {
		j := i
		for j < len(at) && at[j] == at[i] {
			j++
		}
		v := (1 + math.Log(float64(j-i))) * w.idf[at[i]]
		row = append(row, weight{at[i], v})
		sum += v * v
		i = j
	}
	for i := range row {
		row[i].value /= math.Sqrt(sum)
	}
	return row
}
