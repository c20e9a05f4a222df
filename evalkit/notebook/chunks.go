package notebook

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit"
)

// Chunks draws chunk boundaries over a document. Neighboring chunks differ in
// colour, a bar and the chunk's number stand where a chunk begins, text of two or
// more chunks is striped, text of none is plain, and gold is underlined. gold may
// be nil. Chunks of other documents are left out.
func Chunks(doc evalkit.Document, chunks []evalkit.Chunk, gold []evalkit.Span) {
	HTML(Must(chunksHTML(doc, chunks, gold)))
}

func chunksHTML(doc evalkit.Document, chunks []evalkit.Chunk, gold []evalkit.Span) (template.HTML, error) {
	d := drawing{doc: doc, gold: evalkit.Union(gold)}
	for _, c := range chunks {
		if c.Doc != doc.ID {
			continue
		}
		if err := c.Span.Check(doc.Text); err != nil {
			return "", fmt.Errorf("chunk %d of %q: %w", c.Index, doc.ID, err)
		}
		d.chunks = append(d.chunks, c)
	}
	for _, g := range d.gold {
		if err := g.Check(doc.Text); err != nil {
			return "", fmt.Errorf("gold of %q: %w", doc.ID, err)
		}
	}
	return d.html(), nil
}

// drawing is a document with its chunks and its gold.
type drawing struct {
	doc    evalkit.Document
	chunks []evalkit.Chunk
	gold   []evalkit.Span // disjoint, in order
}

func (d *drawing) html() template.HTML {
	var b strings.Builder
	tokens := 0
	for _, c := range d.chunks {
		tokens += c.Tokens
	}
	fmt.Fprintf(&b, `<p class="muted">%s · %d chunks · %d tokens in all chunks</p>`, template.HTMLEscapeString(string(d.doc.ID)), len(d.chunks), tokens)
	b.WriteString(`<div class="legend chunks"><span class="even start">a chunk</span><span class="odd start">the next</span><span class="overlap">in both</span>`)
	if len(d.gold) > 0 {
		b.WriteString(`<span class="gold">gold</span>`)
	}
	b.WriteString(`</div><div class="chunks">`)
	cuts := d.cuts()
	for i := range len(cuts) - 1 {
		d.segment(&b, evalkit.Span{Start: cuts[i], End: cuts[i+1]})
	}
	b.WriteString(`</div>`)
	return template.HTML(b.String())
}

// cuts returns the places at which the drawing changes, in order, with both ends.
func (d *drawing) cuts() []int {
	cuts := []int{0, len(d.doc.Text)}
	for _, c := range d.chunks {
		cuts = append(cuts, c.Span.Start, c.Span.End)
	}
	for _, g := range d.gold {
		cuts = append(cuts, g.Start, g.End)
	}
	slices.Sort(cuts)
	return slices.Compact(cuts)
}

// segment writes a stretch that lies in the same chunks throughout.
func (d *drawing) segment(b *strings.Builder, s evalkit.Span) {
	var in []evalkit.Chunk
	for _, c := range d.chunks {
		if c.Span.Contains(s) {
			in = append(in, c)
		}
	}
	var classes, names, begins []string
	switch {
	case len(in) > 1:
		classes = append(classes, "overlap")
	case len(in) == 1:
		classes = append(classes, [2]string{"even", "odd"}[in[0].Index%2])
	}
	for _, c := range in {
		names = append(names, fmt.Sprintf("#%d %v, %d tokens", c.Index, c.Span, c.Tokens))
		if c.Span.Start == s.Start {
			begins = append(begins, fmt.Sprintf("<sup>#%d</sup>", c.Index))
		}
	}
	if begins != nil {
		classes = append(classes, "start")
	}
	if slices.ContainsFunc(d.gold, func(g evalkit.Span) bool { return g.Contains(s) }) {
		classes = append(classes, "gold")
	}
	fmt.Fprintf(b, `<span class="%s" title="%s">%s%s</span>`, strings.Join(classes, " "), strings.Join(names, "; "), strings.Join(begins, ""),
		template.HTMLEscapeString(d.doc.Text[s.Start:s.End]))
}
