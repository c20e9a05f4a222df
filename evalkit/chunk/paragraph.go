package chunk

import (
	"context"
	"fmt"
	"regexp"

	"github.com/chunkeval/chunkeval/evalkit"
)

// Paragraph packs whole paragraphs, which end at blank lines. A paragraph that
// is too large is cut at sentences, then between tokens.
type Paragraph struct {
	size int
	ruler
}

func parseParagraph(p *parser) evalkit.Strategy {
	s := Paragraph{}
	s.size, _ = p.size(200, false)
	s.ruler = p.ruler("token", "rune")
	return s
}

// String returns the form that Parse reads.
func (s Paragraph) String() string {
	return fmt.Sprintf("paragraph(size=%d%s)", s.size, s.suffix(true))
}

// Fingerprint covers the tokenizer.
func (s Paragraph) Fingerprint() string { return s.fingerprint(s.String()) }

// blankLines matches the break between paragraphs; a line ends with LF, CRLF or CR.
var blankLines = regexp.MustCompile(`(?:\r\n|\n|\r)(?:[ \t]*(?:\r\n|\n|\r))+`)

// Split packs the paragraphs of doc.
func (s Paragraph) Split(ctx context.Context, doc evalkit.Document) ([]evalkit.Chunk, error) {
	return s.packDoc(ctx, doc, cutAfter(doc.Text, blankLines), s.size, 0, sentencesOf)
}

// Page makes a chunk of every page; pages end at form feeds. A page that is
// too large is packed from its sentences; no chunk crosses a page.
type Page struct {
	size int
	ruler
}

func parsePage(p *parser) evalkit.Strategy {
	s := Page{}
	s.size, _ = p.size(1000, false)
	s.ruler = p.ruler("token", "rune")
	return s
}

// String returns the form that Parse reads.
func (s Page) String() string { return fmt.Sprintf("page(size=%d%s)", s.size, s.suffix(true)) }

// Fingerprint covers the tokenizer.
func (s Page) Fingerprint() string { return s.fingerprint(s.String()) }

var formFeed = regexp.MustCompile(`\f`)

// Split cuts the pages of doc.
func (s Page) Split(ctx context.Context, doc evalkit.Document) ([]evalkit.Chunk, error) {
	var spans []evalkit.Span
	for _, page := range cutAfter(doc.Text, formFeed) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		pieces := s.fit(ctx, doc.Text, page, s.size, paragraphsOf, sentencesOf)
		spans = append(spans, pack(pieces, s.lengths(doc.Text, pieces), s.size, 0)...)
	}
	return s.finish(ctx, doc, drafts(spans), s.size)
}

// paragraphsOf is the cutter at blank lines.
func paragraphsOf(text string, s evalkit.Span) []evalkit.Span { return cutIn(text, s, blankLines) }

// cutIn is cutAfter within s.
func cutIn(text string, s evalkit.Span, at *regexp.Regexp) []evalkit.Span {
	out := cutAfter(text[s.Start:s.End], at)
	for i := range out {
		out[i].Start += s.Start
		out[i].End += s.Start
	}
	return out
}

// cutAfter cuts text behind every match.
func cutAfter(text string, at *regexp.Regexp) []evalkit.Span {
	var out []evalkit.Span
	start := 0
	for _, m := range at.FindAllStringIndex(text, -1) {
		out = append(out, evalkit.Span{Start: start, End: m[1]})
		start = m[1]
	}
	if start < len(text) {
		out = append(out, evalkit.Span{Start: start, End: len(text)})
	}
	return out
}
