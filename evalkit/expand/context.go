package expand

import (
	"strings"

	"github.com/chunkeval/chunkeval/evalkit"
)

// The marks between the pieces of a prompt context.
const (
	GapMark      = "\n[…]\n"   // between two pieces of one document that do not touch
	DocumentMark = "\n\n---\n" // between documents
)

// A Context is the text that the LLM sees: the flat list merged, with overlap
// removed and gaps marked.
type Context struct {
	Text   string  `json:"text"`
	Pieces []Piece `json:"pieces"` // in order; they neither overlap nor touch
	// Tokens are those of the pieces, each on its own; the marks are not
	// counted, since they belong to the prompt and not to what was retrieved.
	Tokens int `json:"tokens"`
}

// A Piece is a stretch of one document.
type Piece struct {
	Doc  evalkit.DocID `json:"doc"`
	Span evalkit.Span  `json:"span"` // bytes
}

// NewContext merges a flat list as Expand returns it. Chunks whose spans
// touch, overlap or have only white space between them become one piece.
func NewContext(flat []evalkit.RetrievedChunk, texts *evalkit.Texts) Context {
	c := Context{Pieces: []Piece{}}
	for i := 0; i < len(flat); {
		doc := flat[i].Chunk.Doc
		var spans []evalkit.Span
		for ; i < len(flat) && flat[i].Chunk.Doc == doc; i++ {
			spans = append(spans, flat[i].Chunk.Span)
		}
		for _, s := range texts.Merge(doc, spans) {
			c.Pieces = append(c.Pieces, Piece{doc, s})
		}
	}
	var b strings.Builder
	for i, p := range c.Pieces {
		if i > 0 {
			mark := GapMark
			if c.Pieces[i-1].Doc != p.Doc {
				mark = DocumentMark
			}
			b.WriteString(mark)
		}
		b.WriteString(texts.Text(p.Doc, p.Span))
		c.Tokens += texts.Tokens(p.Doc, p.Span)
	}
	c.Text = b.String()
	return c
}
