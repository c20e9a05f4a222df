package dataset

import (
	"fmt"
	"unicode/utf8"

	"github.com/chunkeval/chunkeval/evalkit"
)

// Units of offsets in files.
const (
	unitByte = "byte"
	unitRune = "rune"
)

// stride is the distance of the marks of a runeIndex, in code points.
const stride = 256

// A runeIndex converts code-point offsets of one text to bytes. Making it
// costs one pass over the text; a look-up walks over fewer than stride code
// points, whatever the text's length.
type runeIndex struct {
	text  string
	marks []int // marks[i] is the byte offset of code point i*stride
	runes int   // length of text in code points
}

func newRuneIndex(text string) *runeIndex {
	x := &runeIndex{text: text, marks: make([]int, 0, len(text)/stride+1)}
	for i := range text {
		if x.runes%stride == 0 {
			x.marks = append(x.marks, i)
		}
		x.runes++
	}
	return x
}

// offset returns the byte offset of code point n, 0 <= n <= x.runes.
func (x *runeIndex) offset(n int) int {
	if n == x.runes {
		return len(x.text)
	}
	at := x.marks[n/stride]
	for range n % stride {
		_, size := utf8.DecodeRuneInString(x.text[at:])
		at += size
	}
	return at
}

// span converts a range of code points to bytes.
func (x *runeIndex) span(s evalkit.Span) (evalkit.Span, error) {
	switch {
	case s.Start < 0:
		return evalkit.Span{}, fmt.Errorf("span %v: start before the text", s)
	case s.End < s.Start:
		return evalkit.Span{}, fmt.Errorf("span %v: end before start", s)
	case s.End > x.runes:
		return evalkit.Span{}, fmt.Errorf("span %v: end after the text of %d code points", s, x.runes)
	}
	return evalkit.Span{Start: x.offset(s.Start), End: x.offset(s.End)}, nil
}
