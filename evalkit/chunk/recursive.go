package chunk

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/chunkeval/chunkeval/evalkit"
)

// DefaultSeparators are those of the published tables, coarse to fine. The
// empty one cuts between characters.
func DefaultSeparators() []string { return []string{"\n\n", "\n", ".", "?", "!", " ", ""} }

// Recursive cuts at the first separator that occurs, or the last one if none
// does, and what is still too large at the later ones. A separator stays at the start of the piece behind
// it. It is LangChain's recursive splitter as the Chroma report uses it
// (brandonstarxel/chunking_evaluation d451fc4), with exact spans.
type Recursive struct {
	size, overlap int
	separators    []string
	ruler
}

func parseRecursive(p *parser) evalkit.Strategy {
	s := Recursive{}
	s.size, s.overlap = p.size(200, true)
	s.ruler = p.ruler("token", "rune")
	if s.separators = p.set.Strings("separators", DefaultSeparators()); len(s.separators) == 0 {
		p.fail(fmt.Errorf("separators: none are given"))
	}
	return s
}

// String returns the form that Parse reads.
func (s Recursive) String() string {
	sep := ""
	if !slices.Equal(s.separators, DefaultSeparators()) {
		sep = ",separators=" + evalkit.QuoteList(s.separators)
	}
	return fmt.Sprintf("recursive(size=%d,overlap=%d%s%s)", s.size, s.overlap, s.suffix(true), sep)
}

// Fingerprint covers the tokenizer.
func (s Recursive) Fingerprint() string { return s.fingerprint(s.String()) }

// Split cuts doc. A piece that no separator can cut further is Oversize.
func (s Recursive) Split(ctx context.Context, doc evalkit.Document) ([]evalkit.Chunk, error) {
	spans, err := s.spans(ctx, doc.Text, whole(doc.Text))
	if err != nil {
		return nil, err
	}
	return s.finish(ctx, doc, drafts(spans), s.size)
}

// spans returns the merged pieces of each part.
func (s Recursive) spans(ctx context.Context, text string, parts []evalkit.Span) ([]evalkit.Span, error) {
	w := &recursion{Recursive: s, text: text, chars: map[string]int{}}
	for _, p := range parts {
		if err := w.split(ctx, p, s.separators); err != nil {
			return nil, err
		}
	}
	return w.out, nil
}

// recursion is one walk over a text.
type recursion struct {
	Recursive
	text  string
	chars map[string]int // lengths of single characters
	out   []evalkit.Span
}

func (w *recursion) measure(s evalkit.Span) int {
	t := w.text[s.Start:s.End]
	if len(t) > utf8.UTFMax {
		return w.length(t)
	}
	n, ok := w.chars[t]
	if !ok {
		n = w.length(t)
		w.chars[t] = n
	}
	return n
}

// split goes as deep as there are separators, whatever the text.
func (w *recursion) split(ctx context.Context, s evalkit.Span, separators []string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	sep, later := separators[len(separators)-1], []string(nil)
	for i, x := range separators {
		if x == "" || strings.Contains(w.text[s.Start:s.End], x) {
			sep, later = x, separators[i+1:]
			break
		}
	}
	var small []evalkit.Span
	flush := func() {
		w.out = append(w.out, pack(small, w.measure, w.size, w.overlap)...)
		small = small[:0]
	}
	for _, p := range w.cut(s, sep) {
		if w.measure(p) < w.size {
			small = append(small, p)
			continue
		}
		flush()
		if len(later) == 0 {
			w.out = append(w.out, p)
		} else if err := w.split(ctx, p, later); err != nil {
			return err
		}
	}
	flush()
	return nil
}

// cut splits s before every occurrence of sep; the empty one splits before
// every character, but not between CR and LF.
func (w *recursion) cut(s evalkit.Span, sep string) []evalkit.Span {
	text := w.text[s.Start:s.End]
	var out []evalkit.Span
	at := 0
	add := func(end int) {
		if end > at {
			out = append(out, evalkit.Span{Start: s.Start + at, End: s.Start + end})
			at = end
		}
	}
	if sep == "" {
		for i := range text {
			if cutAt(text, i) == i {
				add(i)
			}
		}
		add(len(text))
		return out
	}
	for i := 0; ; {
		j := strings.Index(text[i:], sep)
		if j < 0 {
			break
		}
		if cutAt(text, i+j) == i+j {
			add(i + j)
		}
		i += j + len(sep)
	}
	add(len(text))
	return out
}
