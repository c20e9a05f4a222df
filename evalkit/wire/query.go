package wire

import (
	"context"
	"fmt"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/expand"
)

// An Asker answers questions over the chunks of one strategy. It is safe for
// concurrent use.
type Asker struct {
	strategy  evalkit.Strategy
	retriever evalkit.Retriever
	chunks    map[evalkit.DocID][]evalkit.Chunk
	texts     *evalkit.Texts
}

// Asker chunks and indexes the data set with strategy i of the group.
func (g *Group) Asker(ctx context.Context, i int) (*Asker, error) {
	s := g.Setup.Strategies[i]
	a := &Asker{strategy: s, chunks: map[evalkit.DocID][]evalkit.Chunk{}, texts: evalkit.NewTexts(g.Setup.Dataset.Docs, g.Setup.Tokenizer)}
	var all []evalkit.Chunk
	for _, d := range g.Setup.Dataset.Docs {
		chunks, err := s.Split(ctx, d)
		if err != nil {
			return nil, fmt.Errorf("strategy %s: document %q: %w", s, d.ID, err)
		}
		a.chunks[d.ID] = chunks
		all = append(all, chunks...)
	}
	var err error
	a.retriever, err = g.Setup.Indexer.Index(ctx, all)
	return a, err
}

// Ask retrieves the top k chunks for q and expands them. Where the strategy
// does not expand, the window is 0/0 and a warning says so.
func (a *Asker) Ask(ctx context.Context, q evalkit.Query, k int, w evalkit.Window) (*expand.Response, error) {
	hits, err := a.retriever.Retrieve(ctx, q, k)
	if err != nil {
		return nil, err
	}
	r := expand.Request{Query: q.Text, Strategy: a.strategy.String(), TopK: k, Window: w}
	ignored := w != (evalkit.Window{}) && !evalkit.Expands(a.strategy)
	if ignored {
		r.Window = evalkit.Window{}
	}
	tree, flat := expand.Neighbors{}.Expand(hits, a.chunks, r.Window)
	out := expand.NewResponse(r, tree, flat, a.texts)
	if ignored {
		out.Warnings = append(out.Warnings, fmt.Sprintf("neighbor_prev=%d and neighbor_next=%d were ignored: they apply to fixed_size only", w.Prev, w.Next))
	}
	return out, nil
}
