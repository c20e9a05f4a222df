package chunk

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/sentences"

	"github.com/chunkeval/chunkeval/evalkit"
)

// Sentence packs whole sentences. With unit=sentence the size is a number of
// sentences, whatever their length.
type Sentence struct {
	size, overlap int
	ruler
}

func parseSentence(p *parser) evalkit.Strategy {
	s := Sentence{}
	s.size, s.overlap = p.size(200, true)
	s.ruler = p.ruler("token", "rune", "sentence")
	return s
}

// String returns the form that Parse reads.
func (s Sentence) String() string {
	return fmt.Sprintf("sentence(size=%d,overlap=%d%s)", s.size, s.overlap, s.suffix(true))
}

// Fingerprint covers the tokenizer.
func (s Sentence) Fingerprint() string { return s.fingerprint(s.String()) }

// Split packs the sentences of doc; one that is too large is cut between tokens.
func (s Sentence) Split(ctx context.Context, doc evalkit.Document) ([]evalkit.Chunk, error) {
	return s.packDoc(ctx, doc, Sentences(doc.Text), s.size, s.overlap)
}

// Sentences returns the sentences of text; together they are all of it, each
// with the white space behind it. They are those of UAX #29, but for these
// rules, which join:
//
//   - behind a title or abbreviation that is never the end: "Dr.", "Prof.", "e.g.", "vs.";
//   - behind a single capital letter with a full stop: "J. Okafor";
//   - over one line break inside running text, before a lower-case letter.
//
// Limits: the list of abbreviations is short, English and German. One of them,
// or a single capital letter, that does end a sentence ("Vitamin C. Then") joins
// it to the next. "… at 8 a.m. We left" is told apart by the rules of UAX #29
// only: by the case of the next letter.
func Sentences(text string) []evalkit.Span {
	var out []evalkit.Span
	it := sentences.FromString(text)
	for it.Next() {
		s := evalkit.Span{Start: it.Start(), End: it.End()}
		if n := len(out); n > 0 && joins(text, out[n-1], s) {
			out[n-1].End = s.End
			continue
		}
		out = append(out, s)
	}
	return out
}

// abbreviations end with a full stop and never end a sentence, as far as this
// list can know.
var abbreviations = map[string]bool{
	"dr.": true, "mr.": true, "mrs.": true, "ms.": true, "prof.": true, "st.": true, "sr.": true, "jr.": true, "gen.": true, "col.": true,
	"lt.": true, "capt.": true, "e.g.": true, "i.e.": true, "vs.": true, "cf.": true, "fig.": true, "eq.": true, "no.": true, "approx.": true,
	"z.b.": true, "d.h.": true, "bzw.": true, "ca.": true, "nr.": true, "abs.": true, "hr.": true, "fr.": true,
}

// lineBreaks makes every line break a line feed.
var lineBreaks = strings.NewReplacer("\r\n", "\n", "\r", "\n")

func joins(text string, a, b evalkit.Span) bool {
	before := text[a.Start:a.End]
	trimmed := strings.TrimRightFunc(before, evalkit.IsSpace)
	gap := before[len(trimmed):]
	next, _ := utf8.DecodeRuneInString(text[b.Start:b.End])
	breaks := strings.Count(lineBreaks.Replace(gap), "\n")
	if breaks > 0 {
		return breaks == 1 && trimmed != "" && unicode.IsLower(next) && !strings.HasSuffix(trimmed, "|")
	}
	if strings.ContainsAny(gap, "\f\u2028\u2029") {
		return false
	}
	last := trimmed[strings.LastIndexFunc(trimmed, func(r rune) bool { return unicode.IsSpace(r) || r == '(' })+1:]
	if abbreviations[strings.ToLower(last)] {
		return true
	}
	r, size := utf8.DecodeRuneInString(last)
	return last[size:] == "." && unicode.IsUpper(r)
}

// sentencesOf is the cutter at sentences.
func sentencesOf(text string, s evalkit.Span) []evalkit.Span {
	out := Sentences(text[s.Start:s.End])
	for i := range out {
		out[i].Start += s.Start
		out[i].End += s.Start
	}
	return out
}

// SentenceWindow indexes single sentences and serves each with the sentences
// around it. Windows within the one before, at the ends of a document, are one
// chunk with several units.
type SentenceWindow struct {
	window, size int
	ruler
}

func parseSentenceWindow(p *parser) evalkit.Strategy {
	s := SentenceWindow{window: p.atLeast("window", 2, 0)}
	s.size, _ = p.size(100, false)
	s.ruler = p.ruler("token", "rune")
	return s
}

// String returns the form that Parse reads.
func (s SentenceWindow) String() string {
	return fmt.Sprintf("sentence_window(window=%d,size=%d%s)", s.window, s.size, s.suffix(true))
}

// Fingerprint covers the tokenizer.
func (s SentenceWindow) Fingerprint() string { return s.fingerprint(s.String()) }

// Split makes a chunk per sentence; a sentence above size is several.
func (s SentenceWindow) Split(ctx context.Context, doc evalkit.Document) ([]evalkit.Chunk, error) {
	var units []evalkit.Span
	for _, p := range Sentences(doc.Text) {
		for _, u := range s.fit(ctx, doc.Text, p, s.size) {
			if u = trim(doc.Text, u); !u.Empty() {
				units = append(units, u)
			}
		}
	}
	var out []draft
	for i, u := range units {
		served := evalkit.Span{Start: units[max(0, i-s.window)].Start, End: units[min(len(units)-1, i+s.window)].End}
		if n := len(out); n > 0 {
			if out[n-1].span.Contains(served) {
				out[n-1].units = append(out[n-1].units, u)
				continue
			}
			if served.Contains(out[n-1].span) { // the start of the document: the wider window takes over
				out[n-1] = draft{span: served, units: append(out[n-1].units, u)}
				continue
			}
		}
		out = append(out, draft{span: served, units: []evalkit.Span{u}})
	}
	return s.finish(ctx, doc, out, s.size*(2*s.window+1))
}
