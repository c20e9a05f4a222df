package retrieve

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"strconv"
	"sync"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/blevesearch/bleve/v2/search/searcher"
	index "github.com/blevesearch/bleve_index_api"

	"github.com/chunkeval/chunkeval/evalkit"
)

const field = "text"

// A bleveIndex is a scorch index in memory, one document per passage.
//
// Note: identifiers are padded with zeros, so that bleve's own order by
// identifier, asked for in the request, is the order of passages.
type bleveIndex struct {
	corpus *corpus
	index  bleve.Index
	close  func() error
}

// addInOrder makes bleve add up the clauses of a query in their order. From
// eleven clauses on it would do so in the order of a heap, whose history
// depends on the random order in which a batch is stored: the same chunks
// indexed again would score otherwise in the last bits, and break ties by
// chance.
//
// Note: the setting is bleve's, of the whole process, and offers itself to
// applications; it changes nothing but the order of sums, and speed.
var addInOrder = sync.OnceFunc(func() { searcher.DisjunctionHeapTakeover = math.MaxInt })

func newBleve(ctx context.Context, s Bleve, c *corpus) (*bleveIndex, error) {
	addInOrder()
	idx, err := bleve.NewUsing("", bleveMapping(s.Analyzer.String()), scorch.Name, scorch.Name, nil)
	if err != nil {
		return nil, err
	}
	batch := idx.NewBatch()
	err = c.each(func(p int, text string) error {
		if err := batch.Index(fmt.Sprintf("%010d", p), map[string]any{field: text}); err != nil {
			return err
		}
		return ctx.Err()
	})
	if err == nil {
		err = idx.Batch(batch)
	}
	if err != nil {
		_ = idx.Close() // the first error is the cause
		return nil, err
	}
	x := &bleveIndex{c, idx, sync.OnceValue(idx.Close)}
	runtime.AddCleanup(x, func(closeIndex func() error) { _ = closeIndex() }, x.close)
	return x, nil
}

func bleveMapping(analyzer string) mapping.IndexMapping {
	text := bleve.NewTextFieldMapping()
	text.Analyzer = analyzer
	text.Store = false
	text.IncludeInAll = false
	text.IncludeTermVectors = false
	text.DocValues = false
	doc := bleve.NewDocumentStaticMapping()
	doc.AddFieldMappingsAt(field, text)
	m := bleve.NewIndexMapping()
	m.DefaultMapping = doc
	m.DefaultAnalyzer = analyzer
	m.ScoringModel = index.BM25Scoring
	return m
}

// Close ends the goroutines of the index.
func (x *bleveIndex) Close() error { return x.close() }

// search asks for more passages until they name k chunks: the passages of a
// chunk stand together in no particular place.
func (x *bleveIndex) search(ctx context.Context, q evalkit.Query, k int) ([]scored, error) {
	defer runtime.KeepAlive(x) // or the cleanup might close the index
	total := x.corpus.passages()
	for size := min(k, total); ; size = min(2*size, total) {
		list, err := x.passages(ctx, q, size)
		if err != nil {
			return nil, err
		}
		seen := map[int]bool{}
		var out []scored
		for _, p := range list {
			c := x.corpus.owner(p.chunk)
			if !seen[c] && len(out) < k {
				seen[c] = true
				out = append(out, scored{c, p.score})
			}
		}
		if len(out) == k || len(list) < size || size == total {
			return out, nil
		}
	}
}

func (x *bleveIndex) passages(ctx context.Context, q evalkit.Query, size int) ([]scored, error) {
	match := bleve.NewMatchQuery(q.Text)
	match.SetField(field)
	req := bleve.NewSearchRequestOptions(match, size, 0, false)
	req.SortBy([]string{"-_score", "_id"})
	res, err := x.index.SearchInContext(ctx, req)
	if err != nil {
		return nil, err
	}
	list := make([]scored, len(res.Hits))
	for i, h := range res.Hits {
		p, err := strconv.Atoi(h.ID)
		if err != nil {
			return nil, err
		}
		list[i] = scored{p, h.Score}
	}
	return list, nil
}
