package chunk

import (
	"regexp"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit"
)

// Published returns where the Chroma report's code finds the texts of chunks
// in their document, instead of where they were cut: one trailing full stop is
// dropped, then the first exact occurrence counts, else the first match of the
// words joined by any or no white space, ignoring case. A chunk that is not
// found keeps an empty span. A repeated passage is placed too early, which is
// why these spans are for comparing with published numbers only.
func Published(doc evalkit.Document, chunks []evalkit.Chunk) []evalkit.Span {
	out := make([]evalkit.Span, len(chunks))
	for i, c := range chunks {
		text := strings.TrimSuffix(c.Text, ".")
		if at := strings.Index(doc.Text, text); at >= 0 {
			out[i] = evalkit.Span{Start: at, End: at + len(text)}
			continue
		}
		words := strings.Fields(text)
		for j, w := range words {
			words[j] = regexp.QuoteMeta(w)
		}
		pattern, err := regexp.Compile(`(?i)` + strings.Join(words, `[\s\p{Z}\x1c-\x1f\x85]*`))
		if err != nil { // too long for a pattern
			continue
		}
		if m := pattern.FindStringIndex(doc.Text); m != nil {
			out[i] = evalkit.Span{Start: m[0], End: m[1]}
		}
	}
	return out
}
