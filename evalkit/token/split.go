package token

import (
	"unicode"
	"unicode/utf8"
)

// A class is what the pieces of cl100k are made of.
type class uint8

const (
	other   class = iota // neither of the others: punctuation, symbols, marks
	letter               // \p{L}
	number               // \p{N}
	newline              // CR and LF
	space                // other white space
)

// ascii holds the class of every byte below 128.
var ascii = func() (t [utf8.RuneSelf]class) {
	for i := range t {
		t[i] = slowClass(rune(i))
	}
	return t
}()

func slowClass(r rune) class {
	switch {
	case r == '\r' || r == '\n':
		return newline
	case unicode.IsSpace(r):
		return space
	case unicode.IsLetter(r):
		return letter
	case unicode.Is(unicode.N, r):
		return number
	}
	return other
}

// at returns the class and the size of the character at text[i:]. At the end
// of text the size is 0.
func at(text string, i int) (class, int) {
	if i >= len(text) {
		return other, 0
	}
	if c := text[i]; c < utf8.RuneSelf {
		return ascii[c], 1
	}
	r, size := utf8.DecodeRuneInString(text[i:])
	return slowClass(r), size
}

// run returns the end of the run of class c that starts at i.
func run(text string, i int, c class) int {
	for {
		k, size := at(text, i)
		if size == 0 || k != c {
			return i
		}
		i += size
	}
}

// pieceEnd returns the end of the piece that starts at i < len(text). Pieces
// are those that the pattern of cl100k finds (tiktoken, openai_public.py):
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d) | [^\r\n\p{L}\p{N}]?\p{L}+ | \p{N}{1,3} |
//	 ?[^\s\p{L}\p{N}]+[\r\n]* | \s*[\r\n]+ | \s+(?!\S) | \s+
func pieceEnd(text string, i int) int {
	c, size := at(text, i)
	switch c {
	case letter:
		return run(text, i+size, letter)
	case number:
		return upTo3Numbers(text, i+size)
	case other:
		if text[i] == '\'' {
			if n := contraction(text[i+1:]); n > 0 {
				return i + 1 + n
			}
		}
		if next, n := at(text, i+size); n > 0 && next == letter {
			return run(text, i+size+n, letter)
		}
		return run(text, run(text, i+size, other), newline)
	}
	next, n := at(text, i+size)
	if c == space && n > 0 && next == letter {
		return run(text, i+size+n, letter)
	}
	if text[i] == ' ' && n > 0 && next == other {
		return run(text, run(text, i+size+n, other), newline)
	}
	return spaceEnd(text, i)
}

// upTo3Numbers returns the end of a group of at most three numbers, of which
// one ends at i.
func upTo3Numbers(text string, i int) int {
	for range 2 {
		c, size := at(text, i)
		if size == 0 || c != number {
			break
		}
		i += size
	}
	return i
}

// spaceEnd returns the end of a piece of white space: after the last line
// break of the run; or the whole run at the end of the text; or all but the
// last character, which goes with what follows, unless it is the only one.
func spaceEnd(text string, i int) int {
	end, last, lastBreak := i, i, -1
	for {
		c, size := at(text, end)
		if size == 0 || c != space && c != newline {
			break
		}
		last = end
		end += size
		if c == newline {
			lastBreak = end
		}
	}
	switch {
	case lastBreak >= 0:
		return lastBreak
	case end == len(text) || last == i:
		return end
	}
	return last
}

// contraction returns the length of the ending after an apostrophe: s, t, re,
// ve, m, ll or d in either case. U+017F, the long s, folds to s.
func contraction(s string) int {
	if s == "" {
		return 0
	}
	switch s[0] | 0x20 {
	case 's', 't', 'm', 'd':
		return 1
	case 'r', 'v':
		if len(s) > 1 && s[1]|0x20 == 'e' {
			return 2
		}
	case 'l':
		if len(s) > 1 && s[1]|0x20 == 'l' {
			return 2
		}
	}
	if len(s) > 1 && s[:2] == "\u017f" {
		return 2
	}
	return 0
}
