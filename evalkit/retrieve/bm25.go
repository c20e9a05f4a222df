package retrieve

import (
	"context"
	"math"
	"sync"

	"github.com/chunkeval/chunkeval/evalkit"
)

// A bm25Index holds one posting list per term, with the term's whole
// contribution to a passage computed beforehand:
//
//	score(q,p) = Σ over the terms t of q, each as often as q has it:
//	             idf(t) · tf·(k1+1) / (tf + k1·(1 − b + b·len(p)/avg))
//	idf(t)     = ln(1 + (N − df + 0.5)/(df + 0.5))
//
// N is the number of passages, df of those that hold t, len the number of
// terms of a passage, avg the exact mean of len. idf is Lucene's, above 0 for
// every term; Lucene itself leaves out the constant k1+1, which changes no
// order. Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25
// and Beyond, 2009, eq. 3.15.
type bm25Index struct {
	corpus   *corpus
	analyzer evalkit.Analyzer
	postings map[string][]posting
	scratch  sync.Pool // of *accumulator, all zero between uses
}

type posting struct {
	passage int32
	weight  float64 // tf until the index is complete
}

type accumulator struct {
	passage []float64 // score of each passage
	chunk   []float64 // best of each chunk
}

func newBM25(ctx context.Context, s BM25, c *corpus) (*bm25Index, error) {
	x := &bm25Index{corpus: c, analyzer: s.Analyzer, postings: map[string][]posting{}}
	lengths := make([]float64, c.passages())
	total := 0.0
	err := c.each(func(p int, text string) error {
		terms := s.Analyzer.Terms(text)
		lengths[p] = float64(len(terms))
		total += lengths[p]
		for _, t := range terms {
			x.count(t, int32(p))
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	n := float64(len(lengths))
	for _, list := range x.postings {
		df := float64(len(list))
		idf := math.Log(1 + (n-df+0.5)/(df+0.5))
		for i, p := range list {
			norm := s.K1 * (1 - s.B + s.B*lengths[p.passage]/(total/n))
			list[i].weight = idf * p.weight * (s.K1 + 1) / (p.weight + norm)
		}
	}
	x.scratch.New = func() any {
		return &accumulator{make([]float64, c.passages()), make([]float64, len(c.chunks))}
	}
	return x, nil
}

func (x *bm25Index) count(term string, passage int32) {
	list := x.postings[term]
	if n := len(list); n > 0 && list[n-1].passage == passage {
		list[n-1].weight++
		return
	}
	x.postings[term] = append(list, posting{passage, 1})
}

// search adds up the posting lists in the order of the query's terms, so that
// a score has the same bits every time.
func (x *bm25Index) search(ctx context.Context, q evalkit.Query, k int) ([]scored, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	acc := x.scratch.Get().(*accumulator)
	defer x.scratch.Put(acc)
	var touched []int32
	for _, t := range x.analyzer.Terms(q.Text) {
		for _, p := range x.postings[t] {
			if acc.passage[p.passage] == 0 {
				touched = append(touched, p.passage)
			}
			acc.passage[p.passage] += p.weight
		}
	}
	chunks := x.collapse(acc, touched)
	top := newTopK(k, len(chunks))
	for _, c := range chunks {
		top.offer(scored{int(c), acc.chunk[c]})
		acc.chunk[c] = 0
	}
	return top.sorted(), nil
}

// collapse moves the scores of passages to their chunks, the best of each, and
// returns the chunks.
func (x *bm25Index) collapse(acc *accumulator, touched []int32) []int32 {
	if x.corpus.first == nil {
		acc.passage, acc.chunk = acc.chunk, acc.passage
		return touched
	}
	var chunks []int32
	for _, p := range touched {
		c := int32(x.corpus.owner(int(p)))
		if acc.chunk[c] == 0 {
			chunks = append(chunks, c)
		}
		acc.chunk[c] = max(acc.chunk[c], acc.passage[p])
		acc.passage[p] = 0
	}
	return chunks
}
