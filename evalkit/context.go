package evalkit

import (
	"context"
	"strings"
)

// A ContextEmbedder is an Embedder that embeds a passage as a part of its
// document. Dense retrieval gives it documents in place of passages.
type ContextEmbedder interface {
	Embedder
	// EmbedParts returns one row per part, text after text.
	EmbedParts(ctx context.Context, texts []Parted) (Vectors, error)
}

// Parted is a text with the parts of it that are wanted. They may overlap and
// come in any order; none is empty.
type Parted struct {
	Text  string
	Parts []Span
}

// Rejoin returns the text that chunks, all those of one document in order, were
// cut from, with one part per passage. Between and before them only white space
// can be missing: blanks stand for it, so that offsets are those of the
// document. What is missing after the last chunk is left out, and so are
// Headers.
func Rejoin(chunks []Chunk) Parted {
	var b strings.Builder
	var parts []Span
	for _, c := range chunks {
		if gap := c.Span.Start - b.Len(); gap > 0 {
			b.WriteString(strings.Repeat(" ", gap))
		}
		if c.Span.End > b.Len() {
			b.WriteString(c.Text[b.Len()-c.Span.Start:])
		}
		parts = append(parts, c.units()...)
	}
	return Parted{b.String(), parts}
}
