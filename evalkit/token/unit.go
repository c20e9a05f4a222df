package token

import (
	"unicode"
	"unicode/utf8"
)

// Runes counts Unicode code points.
type Runes struct{}

// String returns "rune".
func (Runes) String() string { return "rune" }

// Count returns the number of code points of text.
func (Runes) Count(text string) int { return utf8.RuneCountInString(text) }

// Starts appends the offset of every code point.
func (Runes) Starts(dst []int, text string) []int {
	for i := range text {
		dst = append(dst, i)
	}
	return dst
}

// Words counts maximal runs of characters that are not white space. White
// space belongs to the word before it; what precedes the first word belongs to
// none, so the first start may be above 0.
type Words struct{}

// String returns "word".
func (Words) String() string { return "word" }

// Count returns the number of words of text.
func (w Words) Count(text string) int {
	n, in := 0, false
	for _, r := range text {
		space := unicode.IsSpace(r)
		if !space && !in {
			n++
		}
		in = !space
	}
	return n
}

// Starts appends the offset of the first character of every word.
func (Words) Starts(dst []int, text string) []int {
	in := false
	for i, r := range text {
		space := unicode.IsSpace(r)
		if !space && !in {
			dst = append(dst, i)
		}
		in = !space
	}
	return dst
}
