package synth

import (
	"strings"
	"unicode/utf8"

	"github.com/chunkeval/chunkeval/evalkit"
)

// locate returns the place of quote in text: exactly, or with any white space
// where the quote has some. n is the number of places, of which it is the first.
func locate(text, quote string) (at evalkit.Span, n int) {
	quote = strings.TrimFunc(quote, evalkit.IsSpace)
	if quote == "" {
		return at, 0
	}
	for from := 0; ; from = skipRune(text, from) {
		i := strings.Index(text[from:], quote)
		if i < 0 {
			break
		}
		if from += i; n == 0 {
			at = evalkit.Span{Start: from, End: from + len(quote)}
		}
		n++
	}
	if n > 0 {
		return at, n
	}
	for from := 0; from < len(text); from = skipRune(text, from) {
		if end, ok := matchLoose(text, from, quote); ok {
			if n == 0 {
				at = evalkit.Span{Start: from, End: end}
			}
			n++
		}
	}
	return at, n
}

func skipRune(text string, i int) int {
	_, size := utf8.DecodeRuneInString(text[i:])
	return i + max(1, size)
}

// matchLoose reports whether quote stands at text[from:], where a run of white
// space matches any other, and where it ends.
func matchLoose(text string, from int, quote string) (end int, ok bool) {
	i := from
	for q := 0; q < len(quote); {
		r, size := utf8.DecodeRuneInString(quote[q:])
		if evalkit.IsSpace(r) {
			rest := strings.TrimLeftFunc(quote[q:], evalkit.IsSpace)
			q = len(quote) - len(rest)
			after := strings.TrimLeftFunc(text[i:], evalkit.IsSpace)
			if len(after) == len(text)-i {
				return 0, false
			}
			i = len(text) - len(after)
			continue
		}
		if !strings.HasPrefix(text[i:], quote[q:q+size]) {
			return 0, false
		}
		q, i = q+size, i+size
	}
	return i, true
}
