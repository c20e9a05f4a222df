package evalkit

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A DocID names a Document. It is data: any non-empty valid UTF-8 string.
type DocID string

// A Document is a source text.
type Document struct {
	ID   DocID
	Text string // valid UTF-8, without a leading byte-order mark
}

// A Span is the half-open byte range [Start,End) of a document's stored text.
// Both ends lie on rune boundaries. Spans that only touch do not overlap.
type Span struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// Len returns the length of s in bytes.
func (s Span) Len() int { return s.End - s.Start }

// Empty reports whether s holds no byte.
func (s Span) Empty() bool { return s.End <= s.Start }

// Intersect returns the bytes that s and t share; it is empty if there are none.
func (s Span) Intersect(t Span) Span {
	return Span{max(s.Start, t.Start), max(min(s.End, t.End), max(s.Start, t.Start))}
}

// Overlaps reports whether s and t share at least one byte.
func (s Span) Overlaps(t Span) bool { return max(s.Start, t.Start) < min(s.End, t.End) }

// Contains reports whether every byte of t lies in s.
func (s Span) Contains(t Span) bool { return s.Start <= t.Start && t.End <= s.End }

// String returns "[start:end)".
func (s Span) String() string { return fmt.Sprintf("[%d:%d)", s.Start, s.End) }

// Check returns an error unless s is a non-empty range of text with both ends
// on rune boundaries.
func (s Span) Check(text string) error {
	switch {
	case s.Start < 0:
		return fmt.Errorf("span %v: start before the text", s)
	case s.End < s.Start:
		return fmt.Errorf("span %v: end before start", s)
	case s.End > len(text):
		return fmt.Errorf("span %v: end after the text of %d bytes", s, len(text))
	case s.Empty():
		return fmt.Errorf("span %v: empty", s)
	case !onRune(text, s.Start) || !onRune(text, s.End):
		return fmt.Errorf("span %v: cuts a character in two", s)
	}
	return nil
}

func onRune(text string, i int) bool { return i == len(text) || utf8.RuneStart(text[i]) }

// Union returns the bytes covered by spans as sorted, disjoint, non-empty
// spans; spans that touch are joined. The argument is not modified.
func Union(spans []Span) []Span {
	sorted := make([]Span, 0, len(spans))
	for _, s := range spans {
		if !s.Empty() {
			sorted = append(sorted, s)
		}
	}
	slices.SortFunc(sorted, CompareSpans)
	out := sorted[:0]
	for _, s := range sorted {
		if n := len(out); n > 0 && s.Start <= out[n-1].End {
			out[n-1].End = max(out[n-1].End, s.End)
			continue
		}
		out = append(out, s)
	}
	return out
}

// IntersectAll returns the bytes that a and b share. Both must be as Union
// returns them; so is the result.
func IntersectAll(a, b []Span) []Span {
	var out []Span
	for i, j := 0, 0; i < len(a) && j < len(b); {
		if x := a[i].Intersect(b[j]); !x.Empty() {
			out = append(out, x)
		}
		if a[i].End < b[j].End {
			i++
		} else {
			j++
		}
	}
	return out
}

// Subtract returns the bytes of a that are not in b. Both must be as Union
// returns them; so is the result.
func Subtract(a, b []Span) []Span {
	var out []Span
	j := 0
	for _, s := range a {
		for j < len(b) && b[j].End <= s.Start {
			j++
		}
		for i := j; i < len(b) && b[i].Start < s.End; i++ {
			if b[i].Start > s.Start {
				out = append(out, Span{s.Start, b[i].Start})
			}
			s.Start = b[i].End
		}
		if !s.Empty() {
			out = append(out, s)
		}
	}
	return out
}

// CompareSpans orders by Start, then End.
func CompareSpans(a, b Span) int {
	if a.Start != b.Start {
		return a.Start - b.Start
	}
	return a.End - b.End
}

// A Chunk is a contiguous piece of one document.
type Chunk struct {
	Doc    DocID
	Index  int    // chunk_index: position among the document's chunks, from 0
	Span   Span   // bytes of the document
	Text   string // the document's text over Span, always
	Header string // added for index and embedder (a heading path), never scored; may be empty
	Tokens int    // tokens of Text by the strategy's tokenizer; 0 if it has none

	// Units are the spans that are indexed and embedded in the chunk's place
	// (the sentences of a sentence window, the children of a parent). Each
	// lies in Span. Nil means the chunk itself. A chunk scores as its best unit.
	Units []Span
	// Oversize marks a chunk that its strategy could not cut to its size.
	Oversize bool
}

// A ChunkID identifies a chunk within one strategy's chunks of a data set.
type ChunkID struct {
	Doc   DocID
	Index int
}

// String returns "doc#index".
func (id ChunkID) String() string { return fmt.Sprintf("%s#%d", id.Doc, id.Index) }

// ID returns the identity by which chunks are deduplicated.
func (c Chunk) ID() ChunkID { return ChunkID{c.Doc, c.Index} }

// Passages returns the texts to index and embed for c, one per unit, each
// after the Header and a line feed if there is one. It is never empty.
func (c Chunk) Passages() []string {
	units := c.units()
	out := make([]string, len(units))
	for i, u := range units {
		out[i] = c.Text[u.Start-c.Span.Start : u.End-c.Span.Start]
		if c.Header != "" {
			out[i] = c.Header + "\n" + out[i]
		}
	}
	return out
}

func (c Chunk) units() []Span {
	if c.Units == nil {
		return []Span{c.Span}
	}
	return c.Units
}

// A QueryID names a Query.
type QueryID string

// A Query is one question with its judgments.
type Query struct {
	ID           QueryID
	Text         string
	Qrels        []Qrel
	Answer       string // reference answer; may be empty
	Unanswerable bool   // marked so by the data set: it has no qrels and is scored apart
}

// A Qrel is one judged span of evidence.
type Qrel struct {
	Doc   DocID
	Span  Span
	Grade float64 // 1 for plain relevance; 0 or less is judged not relevant
}

// Gold returns the spans with a grade above 0 of each document, as Union
// returns them.
func (q Query) Gold() map[DocID][]Span {
	gold := map[DocID][]Span{}
	for _, r := range q.Qrels {
		if r.Grade > 0 {
			gold[r.Doc] = append(gold[r.Doc], r.Span)
		}
	}
	for doc, spans := range gold {
		gold[doc] = Union(spans)
	}
	return gold
}

// A Dataset is a corpus with its questions.
type Dataset struct {
	Name        string
	Language    string // BCP 47, "en"
	Licence     string
	Analyzer    string // analyzer hint, "en"; empty means the one for Language
	Docs        []Document
	Queries     []Query
	Fingerprint string  // hex digest of documents and queries, whatever the files' layout
	Warnings    []error // what is doubtful but does not stop a run
}

// DocMap returns the documents by id.
func (d *Dataset) DocMap() map[DocID]Document {
	m := make(map[DocID]Document, len(d.Docs))
	for _, doc := range d.Docs {
		m[doc.ID] = doc
	}
	return m
}

// Blank reports whether text holds nothing but white space and byte-order marks.
func Blank(text string) bool { return strings.TrimFunc(text, IsSpace) == "" }
