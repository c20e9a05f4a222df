package chunk

import (
	"context"
	"fmt"
	"sort"

	"github.com/chunkeval/chunkeval/evalkit"
)

// FixedSize cuts windows of size tokens, each starting size − overlap after
// the one before; it ends with the window that reaches the last token. It is
// the strategy that Neighbor Expansion applies to.
type FixedSize struct {
	size, overlap int
	trim          bool
	ruler
}

func parseFixedSize(p *parser) evalkit.Strategy {
	s := FixedSize{}
	s.size, s.overlap = p.size(200, true)
	s.ruler = p.ruler("token", "rune", "word")
	s.trim = p.set.Bool("trim", true)
	return s
}

// String returns the form that Parse reads.
func (s FixedSize) String() string {
	trim := ""
	if !s.trim {
		trim = ",trim=false"
	}
	return fmt.Sprintf("fixed_size(size=%d,overlap=%d%s%s)", s.size, s.overlap, s.suffix(true), trim)
}

// Fingerprint covers the tokenizer.
func (s FixedSize) Fingerprint() string { return s.fingerprint(s.String()) }

// tokensIn returns the number of the document's tokens that lie in span at
// least in part.
func tokensIn(starts []int, span evalkit.Span) int {
	return sort.SearchInts(starts, span.End) - max(0, sort.SearchInts(starts, span.Start+1)-1)
}

// Split cuts doc. With unit=token Chunk.Tokens counts the document's tokens:
// the text of a chunk by itself may be one more or less. White space before the first word belongs to the first
// window.
func (s FixedSize) Split(ctx context.Context, doc evalkit.Document) ([]evalkit.Chunk, error) {
	starts := s.cutter.Starts(nil, doc.Text)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	edge := func(i int) int {
		switch {
		case i == 0:
			return 0
		case i >= len(starts):
			return len(doc.Text)
		}
		return cutAt(doc.Text, starts[i])
	}
	var out []draft
	for i := 0; i < len(starts); i += s.size - s.overlap {
		if span := (evalkit.Span{Start: edge(i), End: edge(i + s.size)}); !span.Empty() {
			out = append(out, draft{span: span})
		}
		if i+s.size >= len(starts) {
			break
		}
	}
	p := placing{doc: doc, limit: s.size, trim: s.trim}
	if s.unit == "token" {
		p.count = func(span evalkit.Span) int { return tokensIn(starts, span) }
	}
	return s.place(ctx, p, out)
}
