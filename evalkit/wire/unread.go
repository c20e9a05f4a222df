package wire

import (
	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/embed"
)

// reader is an embedder that knows which passages its model reads in part only.
type reader interface {
	Unread(passages []string) string // a warning, or nothing
}

// unread returns what warns of chunks that e's model does not read whole; nil
// if e does not know.
func unread(e evalkit.Embedder) func([]evalkit.Chunk) []string {
	if c, ok := e.(*embed.Cache); ok {
		e = c.Inner()
	}
	r, ok := e.(reader)
	if !ok {
		return nil
	}
	return func(chunks []evalkit.Chunk) []string {
		var passages []string
		for _, c := range chunks {
			passages = append(passages, c.Passages()...)
		}
		if w := r.Unread(passages); w != "" {
			return []string{w}
		}
		return nil
	}
}
