package chunk

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"

	"github.com/chunkeval/chunkeval/evalkit"
)

// Markdown packs the blocks of a section; no chunk crosses into another
// section. The Header of a chunk is its heading path, "Guide > Install"; where
// a chunk begins inside a table, the table's head stands below it. Tables are
// cut only at rows and code only at lines, other blocks at lines and sentences,
// unless one of these alone is too large. A heading stays with what follows it.
type Markdown struct {
	size int
	ruler
}

func parseMarkdown(p *parser) evalkit.Strategy {
	s := Markdown{}
	s.size, _ = p.size(200, false)
	s.ruler = p.ruler("token", "rune")
	return s
}

// String returns the form that Parse reads.
func (s Markdown) String() string { return fmt.Sprintf("markdown(size=%d%s)", s.size, s.suffix(true)) }

// Fingerprint covers the tokenizer.
func (s Markdown) Fingerprint() string { return s.fingerprint(s.String()) }

// block is a top-level block of a document; it reaches to the next one.
type block struct {
	span  evalkit.Span
	level int    // of a heading, else 0
	title string // of a heading
	lines bool   // cut only at lines: tables and code
	head  string // of a table: its first two lines
}

// Split cuts doc section by section.
func (s Markdown) Split(ctx context.Context, doc evalkit.Document) ([]evalkit.Chunk, error) {
	var out []draft
	var path headings
	section := sectionOf{ruler: s.ruler, text: doc.Text, size: s.size}
	for _, b := range blocks(doc.Text) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if b.level > 0 {
			if !section.onlyHeadings {
				out = append(out, section.chunks(path.String())...)
				section.reset()
			}
			path.enter(b.level, b.title)
		}
		section.add(ctx, b)
	}
	out = append(out, section.chunks(path.String())...)
	return s.finish(ctx, doc, joinTail(out, section.onlyHeadings), s.size)
}

// joinTail gives headings at the end of a document, with nothing below them,
// to the section before.
func joinTail(out []draft, onlyHeadings bool) []draft {
	if n := len(out); onlyHeadings && n > 1 && out[n-2].header != "" {
		out[n-2].span.End = out[n-1].span.End
		return out[:n-1]
	}
	return out
}

// headings is the path to the present section.
type headings []struct {
	level int
	title string
}

func (h *headings) enter(level int, title string) {
	for len(*h) > 0 && (*h)[len(*h)-1].level >= level {
		*h = (*h)[:len(*h)-1]
	}
	*h = append(*h, struct {
		level int
		title string
	}{level, title})
}

// String returns the titles joined by " > ".
func (h headings) String() string {
	var titles []string
	for _, x := range h {
		if x.title != "" {
			titles = append(titles, x.title)
		}
	}
	return strings.Join(titles, " > ")
}

// sectionOf gathers the pieces of one section.
type sectionOf struct {
	ruler
	text         string
	size         int
	pieces       []piece
	onlyHeadings bool // and at least one
}

// piece is a part of a block that fits the size; table is the head of the
// table that it continues.
type piece struct {
	span    evalkit.Span
	table   string
	heading bool
}

func (s *sectionOf) reset() { s.pieces, s.onlyHeadings = nil, false }

func (s *sectionOf) add(ctx context.Context, b block) {
	content := !evalkit.Blank(s.text[b.span.Start:b.span.End])
	s.onlyHeadings = b.level > 0 || s.onlyHeadings && !content
	cutters := []cutter{linesOf, sentencesOf}
	if b.lines {
		cutters = cutters[:1]
	}
	for i, p := range s.fit(ctx, s.text, b.span, s.size, cutters...) {
		x := piece{span: p, heading: b.level > 0}
		if i > 0 {
			x.table = b.head
		}
		s.pieces = append(s.pieces, x)
	}
}

// chunks packs the pieces. The headings at the front go with the piece behind
// them, even where both together are larger than the size.
func (s *sectionOf) chunks(path string) []draft {
	var spans []evalkit.Span
	var tables []string
	for i, p := range s.pieces {
		if i > 0 && s.pieces[i-1].heading {
			spans[len(spans)-1].End = p.span.End
			continue
		}
		spans, tables = append(spans, p.span), append(tables, p.table)
	}
	at := map[int]string{} // start -> head of the table
	for i, p := range spans {
		at[p.Start] = tables[i]
	}
	var out []draft
	for _, p := range pack(spans, s.lengths(s.text, spans), s.size, 0) {
		header := path
		if table := at[p.Start]; table != "" {
			header = strings.TrimPrefix(path+"\n"+table, "\n")
		}
		out = append(out, draft{span: p, header: header})
	}
	return out
}

var lineEnds = regexp.MustCompile(`\r\n|\n|\r`)

// linesOf is the cutter at lines.
func linesOf(text string, s evalkit.Span) []evalkit.Span { return cutIn(text, s, lineEnds) }

// frontMatter matches a block between lines of three dashes at the start.
var frontMatter = regexp.MustCompile(`\A(?:\x{feff})?---[ \t]*(?:\r\n|\n|\r)(?s:.*?)(?:\r\n|\n|\r)---[ \t]*(?:\r\n|\n|\r|\z)`)

// blocks returns the top-level blocks of a document; together they are all of
// it. Front matter is a block without a heading.
func blocks(source string) []block {
	src := []byte(source)
	skip := len(frontMatter.FindString(source))
	for i := range src { // the parser sees a text of the same length
		switch {
		case i < skip && src[i] != '\n' && src[i] != '\r':
			src[i] = ' '
		case src[i] == '\r' && (i+1 == len(src) || src[i+1] != '\n'):
			src[i] = '\n'
		}
	}
	flattenQuotes(src)
	if strings.HasPrefix(source, "\ufeff") {
		copy(src, "\n\n\n") // blanks would make an indented block of what follows
	}
	root := goldmark.New(goldmark.WithExtensions(extension.Table)).Parser().Parse(text.NewReader(src))
	out := []block{{span: evalkit.Span{End: skip}}}
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		start := n.Pos()
		if start < 0 {
			continue
		}
		start = strings.LastIndexAny(source[:start], "\r\n") + 1
		if start < out[len(out)-1].span.Start {
			continue
		}
		b := block{span: evalkit.Span{Start: start}}
		switch n := n.(type) {
		case *ast.Heading:
			b.level, b.title = n.Level, title(n, src)
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			b.lines = true
		case *extast.Table:
			b.lines, b.head = true, firstLines(source[start:], 2)
		}
		out = append(out, b)
	}
	for i := range out {
		if i+1 < len(out) {
			out[i].span.End = out[i+1].span.Start
		} else {
			out[i].span.End = len(source)
		}
	}
	return out
}

// maxQuotes is the depth of block quotes that is parsed; the parser's time
// grows with the square of it.
const maxQuotes = 32

// flattenQuotes blanks the markers of block quotes beyond maxQuotes.
func flattenQuotes(src []byte) {
	depth := 0
	for i, c := range src {
		switch {
		case c == '\n':
			depth = 0
		case c == '>' && depth >= 0:
			if depth++; depth > maxQuotes {
				src[i] = ' '
			}
		case c != ' ' && c != '\t':
			depth = -1 // text began: no marker until the next line
		}
	}
}

// title returns the text of a heading without markup.
func title(n ast.Node, src []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // no visit fails
		if entering {
			switch n := n.(type) {
			case *ast.Text:
				b.Write(n.Segment.Value(src))
				if n.SoftLineBreak() {
					b.WriteByte(' ')
				}
			case *ast.String:
				b.Write(n.Value)
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.TrimSpace(b.String())
}

func firstLines(s string, n int) string {
	lines := cutAfter(s, lineEnds)
	return strings.TrimSpace(s[:lines[min(n, len(lines))-1].End])
}
