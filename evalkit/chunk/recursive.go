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
	w := &recursion{Recursive: s, text: text, chars: map[string]int{}, cr: strings.Contains(text, "\r")}
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
	cr    bool           // text has line ends other than LF
	out   []evalkit.Span
}

// find returns the range of the first sep in s, or -1. A line feed in a
// separator stands for a line end of any kind: CRLF text splits like LF text.
func (w *recursion) find(s evalkit.Span, sep string) (start, end int) {
	text := w.text[s.Start:s.End]
	if w.cr && sep != "" && strings.Trim(sep, "\n") == "" {
		start, end = lineEndsIn(text, len(sep))
	} else if start = strings.Index(text, sep); start >= 0 {
		end = start + len(sep)
	}
	if start < 0 {
		return -1, -1
	}
	return s.Start + start, s.Start + end
}

// lineEndsIn returns the range of the first n line ends in a row, or -1.
func lineEndsIn(text string, n int) (start, end int) {
	for i := 0; i < len(text); i++ {
		j, found := i, 0
		for found < n && j < len(text) && (text[j] == '\n' || text[j] == '\r') {
			if text[j] == '\r' && j+1 < len(text) && text[j+1] == '\n' {
				j++
			}
			j++
			found++
		}
		if found == n {
			return i, j
		}
	}
	return -1, -1
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
		if start, _ := w.find(s, x); x == "" || start >= 0 {
			sep, later = x, separators[i+1:]
			break
		}
	}
	var small []evalkit.Span
	var lengths []int
	merge := merge{w.size, w.overlap, w.length("")}
	flush := func() {
		w.out = append(w.out, merge.pack(small, lengths)...)
		small, lengths = small[:0], lengths[:0]
	}
	for _, p := range w.cut(s, sep) {
		if n := w.measure(p); n < w.size {
			small, lengths = append(small, p), append(lengths, n)
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
	var out []evalkit.Span
	at := s.Start
	add := func(end int) {
		if end > at {
			out = append(out, evalkit.Span{Start: at, End: end})
			at = end
		}
	}
	if sep == "" {
		for i := range w.text[s.Start:s.End] {
			if i += s.Start; cutAt(w.text, i) == i {
				add(i)
			}
		}
	} else {
		for rest := s; ; {
			start, end := w.find(rest, sep)
			if start < 0 {
				break
			}
			if cutAt(w.text, start) == start {
				add(start)
			}
			rest.Start = end
		}
	}
	add(s.End)
	return out
}
