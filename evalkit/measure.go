package evalkit

import (
	"fmt"
	"sort"
	"sync"
	"unicode/utf8"
)

// A Unit is what a length is counted in.
type Unit string

// The units of length.
const (
	Rune  Unit = "rune" // Unicode code point
	Token Unit = "token"
)

// Texts measures spans of a corpus. It is safe for concurrent use.
type Texts struct {
	docs map[DocID]Document
	tok  Tokenizer

	mu     sync.Mutex
	starts map[DocID][]int
	counts map[countKey]int
}

type countKey struct {
	doc  DocID
	span Span
}

// NewTexts returns a Texts over docs. tok may be nil if no length in tokens
// is asked for.
func NewTexts(docs []Document, tok Tokenizer) *Texts {
	t := &Texts{docs: make(map[DocID]Document, len(docs)), tok: tok, starts: map[DocID][]int{}, counts: map[countKey]int{}}
	for _, d := range docs {
		t.docs[d.ID] = d
	}
	return t
}

// Text returns the text of doc over s. It panics if there is none: gold and
// chunks were checked when they were made.
func (t *Texts) Text(doc DocID, s Span) string {
	d, ok := t.docs[doc]
	if !ok {
		panic(fmt.Sprintf("evalkit: no document %q", doc))
	}
	return d.Text[s.Start:s.End]
}

// Len returns the length of s in unit u. Lengths add up: the parts of a span
// are together as long as the span. In tokens it is the number of tokens of
// the whole document that start in s.
func (t *Texts) Len(u Unit, doc DocID, s Span) int {
	if s.Empty() {
		return 0
	}
	if u == Rune {
		return utf8.RuneCountInString(t.Text(doc, s))
	}
	starts := t.tokenStarts(doc)
	return sort.SearchInts(starts, s.End) - sort.SearchInts(starts, s.Start)
}

// Sum returns the length of all spans, each counted on its own.
func (t *Texts) Sum(u Unit, doc DocID, spans []Span) int {
	n := 0
	for _, s := range spans {
		n += t.Len(u, doc, s)
	}
	return n
}

// Merge returns the stretches of doc that an LLM sees of spans: their union,
// joined over gaps that hold nothing but white space.
func (t *Texts) Merge(doc DocID, spans []Span) []Span {
	union := Union(spans)
	out := union[:0]
	for _, s := range union {
		if n := len(out); n > 0 && Blank(t.Text(doc, Span{out[n-1].End, s.Start})) {
			out[n-1].End = s.End
			continue
		}
		out = append(out, s)
	}
	return out
}

// Tokens returns the number of tokens of the text over s when it is tokenized
// on its own, as the LLM sees it. The count is kept.
func (t *Texts) Tokens(doc DocID, s Span) int {
	key := countKey{doc, s}
	t.mu.Lock()
	n, ok := t.counts[key]
	t.mu.Unlock()
	if !ok {
		n = t.tok.Count(t.Text(doc, s))
		t.mu.Lock()
		t.counts[key] = n
		t.mu.Unlock()
	}
	return n
}

func (t *Texts) tokenStarts(doc DocID) []int {
	t.mu.Lock()
	defer t.mu.Unlock()
	starts, ok := t.starts[doc]
	if !ok {
		starts = t.tok.Starts(nil, t.docs[doc].Text)
		t.starts[doc] = starts
	}
	return starts
}
