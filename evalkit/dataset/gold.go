package dataset

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit"
)

// resolve returns the judged span that g names. It returns false without an
// error where the document itself was refused.
func (b *builder) resolve(g rawGold) (evalkit.Qrel, bool, error) {
	if evalkit.Blank(g.doc) {
		return evalkit.Qrel{}, false, errors.New("doc: missing or empty")
	}
	if err := g.check(); err != nil {
		return evalkit.Qrel{}, false, err
	}
	d, ok := b.docs[g.doc]
	if !ok {
		return evalkit.Qrel{}, false, fmt.Errorf("document %q: not in the data set", g.doc)
	}
	if d.bad {
		return evalkit.Qrel{}, false, nil
	}
	span, err := b.locate(d, g)
	if err == nil {
		err = span.Check(d.text)
	}
	if err != nil {
		return evalkit.Qrel{}, false, fmt.Errorf("%w (document %q)", err, g.doc)
	}
	if got := d.text[span.Start:span.End]; g.text != nil && got != *g.text {
		return evalkit.Qrel{}, false, fmt.Errorf("span [%d:%d) of document %q holds %s, not %s", *g.start, *g.end, g.doc, short(got), short(*g.text))
	}
	return evalkit.Qrel{Doc: evalkit.DocID(g.doc), Span: span, Grade: g.grade}, true, nil
}

// check refuses mixtures of the ways to name a passage.
func (g rawGold) check() error {
	switch {
	case math.IsNaN(g.grade) || math.IsInf(g.grade, 0):
		return fmt.Errorf("grade: %v is not a finite number", g.grade)
	case g.whole:
		return nil
	case g.quote != nil && (g.start != nil || g.end != nil || g.text != nil):
		return errors.New("give either quote, or start, end and text")
	case g.quote != nil && *g.quote == "":
		return errors.New("quote: empty")
	case g.quote != nil:
		return nil
	case g.occurrence != nil:
		return errors.New("occurrence without quote")
	case g.start == nil || g.end == nil:
		return errors.New("start and end, or quote, are missing")
	}
	return nil
}

func (b *builder) locate(d *docEntry, g rawGold) (evalkit.Span, error) {
	switch {
	case g.whole:
		return evalkit.Span{Start: 0, End: len(d.text)}, nil
	case g.quote != nil:
		return findQuote(d.text, *g.quote, g.occurrence)
	}
	s := evalkit.Span{Start: *g.start, End: *g.end}
	if b.countsBOM && d.bom {
		width := 1
		if b.unit == unitByte {
			width = len(bom)
		}
		s = evalkit.Span{Start: s.Start - width, End: s.End - width}
	}
	if b.unit == unitByte {
		return s, nil
	}
	if d.runes == nil {
		d.runes = newRuneIndex(d.text)
	}
	return d.runes.span(s)
}

// findQuote returns the place of quote in text: of its only occurrence, or of
// the one that occurrence names, from 1. Occurrences may overlap.
func findQuote(text, quote string, occurrence *int) (evalkit.Span, error) {
	if occurrence != nil && *occurrence < 1 {
		return evalkit.Span{}, fmt.Errorf("occurrence %d: counts from 1", *occurrence)
	}
	n, at := 0, evalkit.Span{}
	for from := 0; ; {
		i := strings.Index(text[from:], quote)
		if i < 0 {
			break
		}
		n++
		if occurrence == nil || n == *occurrence {
			at = evalkit.Span{Start: from + i, End: from + i + len(quote)}
		}
		from += i + 1
	}
	switch {
	case n == 0:
		return evalkit.Span{}, fmt.Errorf("quote %s: does not occur", short(quote))
	case occurrence == nil && n > 1:
		return evalkit.Span{}, fmt.Errorf("quote %s: occurs %d times; say which one with occurrence", short(quote), n)
	case occurrence != nil && *occurrence > n:
		return evalkit.Span{}, fmt.Errorf("quote %s: no occurrence %d, it occurs %d times", short(quote), *occurrence, n)
	}
	return at, nil
}
