package chunk

import (
	"context"
	"fmt"

	"github.com/chunkeval/chunkeval/evalkit"
)

// Parent indexes small children and serves the parent that they lie in (small
// to big). Both are cut as Recursive cuts, without overlap.
type Parent struct {
	size, child int
	ruler
}

func parseParent(p *parser) evalkit.Strategy {
	s := Parent{}
	s.size, _ = p.size(400, false)
	if s.child = p.atLeast("child", 100, 1); s.child >= s.size {
		p.fail(fmt.Errorf("child %d is not smaller than size %d", s.child, s.size))
	}
	s.ruler = p.ruler("token", "rune")
	return s
}

// String returns the form that Parse reads.
func (s Parent) String() string {
	return fmt.Sprintf("parent(size=%d,child=%d%s)", s.size, s.child, s.suffix(true))
}

// Fingerprint covers the tokenizer.
func (s Parent) Fingerprint() string { return s.fingerprint(s.String()) }

// Split cuts parents, and children as their Units.
func (s Parent) Split(ctx context.Context, doc evalkit.Document) ([]evalkit.Chunk, error) {
	cut := Recursive{size: s.size, separators: DefaultSeparators(), ruler: s.ruler}
	parents, err := cut.spans(ctx, doc.Text, whole(doc.Text))
	if err != nil {
		return nil, err
	}
	cut.size = s.child
	var out []draft
	for _, p := range parents {
		p = trim(doc.Text, p)
		if p.Empty() {
			continue
		}
		children, err := cut.spans(ctx, doc.Text, []evalkit.Span{p})
		if err != nil {
			return nil, err
		}
		d := draft{span: p}
		for _, c := range children {
			if c = trim(doc.Text, c); !c.Empty() {
				d.units = append(d.units, c)
			}
		}
		out = append(out, d)
	}
	return s.finish(ctx, doc, out, s.size)
}
