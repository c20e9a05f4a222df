package wire

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/chunk"
	"github.com/chunkeval/chunkeval/evalkit/embed"
)

// lateEmbedder is fitted when it is first asked for a vector: a run that finds
// everything in its caches fits nothing.
type lateEmbedder struct {
	spec     embed.Spec
	dataset  *evalkit.Dataset
	analyzer evalkit.Analyzer

	mu     sync.Mutex
	fitted evalkit.Embedder
}

func (e *lateEmbedder) String() string { return e.spec.String() }

// Fingerprint covers all that the fit sees.
func (e *lateEmbedder) Fingerprint() string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n", e.spec, e.analyzer)
	for _, d := range e.dataset.Docs {
		fmt.Fprintf(h, "%d %s", len(d.Text), d.Text)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func (e *lateEmbedder) Embed(ctx context.Context, kind evalkit.TextKind, texts []string) (evalkit.Vectors, error) {
	model, err := e.fit(ctx)
	if err != nil {
		return evalkit.Vectors{}, err
	}
	return model.Embed(ctx, kind, texts)
}

func (e *lateEmbedder) fit(ctx context.Context) (evalkit.Embedder, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.fitted == nil {
		model, err := e.spec.Fit(ctx, embed.Env{Analyzer: e.analyzer, Sentences: func() []string { return sentences(e.dataset) }})
		if err != nil {
			return nil, err
		}
		e.fitted = model
	}
	return e.fitted, nil
}

// sentences returns the sentences of all documents, in order. Models are
// fitted on them and never on chunks: that would favour a strategy.
func sentences(ds *evalkit.Dataset) []string {
	var out []string
	for _, d := range ds.Docs {
		for _, s := range chunk.Sentences(d.Text) {
			out = append(out, d.Text[s.Start:s.End])
		}
	}
	return out
}
