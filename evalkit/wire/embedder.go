package wire

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/embed"
)

// An EmbedderKind opens the embedders of one name that need no data set to fit:
// models in files, vectors in files, servers. They stand in packages of their
// own, so that only a program that names them links them.
type EmbedderKind struct {
	Name string // before the settings: "onnx"
	// Open checks the settings and what they name. It is called before any
	// work starts and should leave what takes long to the first Embed. Where
	// the result is an io.Closer, Lab.Close closes it.
	Open func(settings evalkit.Expr) (evalkit.Embedder, error)
}

// openEmbedder makes the embedder that s names. l is locked.
func (l *Lab) openEmbedder(s string, ds *evalkit.Dataset, a evalkit.Analyzer) (evalkit.Embedder, error) {
	expr, err := evalkit.ParseExpr(s)
	if err != nil {
		return nil, fmt.Errorf("parse embedder %q: %w", s, err)
	}
	names := embed.Names()
	for _, kind := range l.Embedders {
		names = append(names, kind.Name)
		if kind.Name != expr.Name {
			continue
		}
		e, err := kind.Open(expr)
		if err != nil {
			return nil, fmt.Errorf("embedder %q: %w", s, err)
		}
		if c, ok := e.(io.Closer); ok {
			l.opened = append(l.opened, c)
		}
		if x, ok := e.(spender); ok {
			l.spent = append(l.spent, &account{role: "embedder", spender: x})
		}
		return e, nil
	}
	if slices.Contains(embed.Names(), expr.Name) {
		spec, err := embed.Parse(s)
		return &lateEmbedder{spec: spec, dataset: ds, analyzer: a}, err
	}
	if best, ok := evalkit.Nearest(expr.Name, names); ok {
		return nil, fmt.Errorf("parse embedder %q: unknown embedder %q: did you mean %q?", s, expr.Name, best)
	}
	return nil, fmt.Errorf("parse embedder %q: unknown embedder %q: known are %s", s, expr.Name, strings.Join(names, ", "))
}
