// Package chunktest checks that a strategy keeps the rules of
// evalkit.Strategy, so that those who write one can check their own: in a test
// with Run, in a notebook with Check. It does not judge how well a strategy
// cuts.
package chunktest

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/chunkeval/chunkeval/evalkit"
)

// Run fails t if s breaks a rule on one of Documents.
func Run(t *testing.T, s evalkit.Strategy) {
	t.Helper()
	if err := Check(t.Context(), s); err != nil {
		t.Error(err)
	}
}

// Check returns the first rule that s breaks on one of docs, or on Documents
// if there are none: text equal to the document's over the span, rune
// boundaries, Doc and Index, order, nothing inside the chunk before, nothing
// blank, every character that is not white space in a chunk, units inside the
// span, and the same chunks from several goroutines at once.
func Check(ctx context.Context, s evalkit.Strategy, docs ...evalkit.Document) error {
	if len(docs) == 0 {
		docs = Documents()
	}
	for _, doc := range docs {
		if err := check(ctx, s, doc); err != nil {
			return fmt.Errorf("strategy %s: document %q: %w", s, doc.ID, err)
		}
	}
	return nil
}

func check(ctx context.Context, s evalkit.Strategy, doc evalkit.Document) error {
	chunks, err := s.Split(ctx, doc)
	if err != nil {
		return err
	}
	if evalkit.Blank(doc.Text) && len(chunks) > 0 {
		return fmt.Errorf("is blank but has %d chunks", len(chunks))
	}
	covered := 0
	for i, c := range chunks {
		if err := checkChunk(doc, chunks, i); err != nil {
			return fmt.Errorf("chunk %d: %w", i, err)
		}
		if gap := (evalkit.Span{Start: covered, End: c.Span.Start}); !gap.Empty() && !evalkit.Blank(doc.Text[gap.Start:gap.End]) {
			return fmt.Errorf("%q at %v is in no chunk", doc.Text[gap.Start:gap.End], gap)
		}
		covered = max(covered, c.Span.End)
	}
	if rest := doc.Text[covered:]; !evalkit.Blank(rest) {
		return fmt.Errorf("the end %.80q is in no chunk", rest)
	}
	return checkAgain(ctx, s, doc, chunks)
}

func checkChunk(doc evalkit.Document, chunks []evalkit.Chunk, i int) error {
	c := chunks[i]
	if err := c.Span.Check(doc.Text); err != nil {
		return err
	}
	switch {
	case c.Doc != doc.ID || c.Index != i:
		return fmt.Errorf("names itself %v", c.ID())
	case c.Text != doc.Text[c.Span.Start:c.Span.End]:
		return fmt.Errorf("text %.80q is not the document's over %v", c.Text, c.Span)
	case !utf8.ValidString(c.Text):
		return fmt.Errorf("text %.80q is not valid UTF-8", c.Text)
	case evalkit.Blank(c.Text):
		return fmt.Errorf("%v is blank", c.Span)
	case i > 0 && evalkit.CompareSpans(chunks[i-1].Span, c.Span) >= 0:
		return fmt.Errorf("%v does not come after %v", c.Span, chunks[i-1].Span)
	case i > 0 && chunks[i-1].Span.Contains(c.Span):
		return fmt.Errorf("%v only repeats %v", c.Span, chunks[i-1].Span)
	case cutsLineEnd(doc.Text, c.Span.Start) || cutsLineEnd(doc.Text, c.Span.End):
		return fmt.Errorf("%v cuts between CR and LF", c.Span)
	}
	for _, u := range c.Units {
		if err := u.Check(doc.Text); err != nil || !c.Span.Contains(u) || evalkit.Blank(doc.Text[u.Start:u.End]) {
			return fmt.Errorf("unit %v is not a part of %v with text", u, c.Span)
		}
	}
	return nil
}

func cutsLineEnd(text string, i int) bool {
	return i > 0 && i < len(text) && text[i-1] == '\r' && text[i] == '\n'
}

// checkAgain splits doc from several goroutines and compares.
func checkAgain(ctx context.Context, s evalkit.Strategy, doc evalkit.Document, want []evalkit.Chunk) error {
	errs := make([]error, 3)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			got, err := s.Split(ctx, doc)
			if err == nil && len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
				err = fmt.Errorf("gives other chunks when it is split again")
			}
			errs[i] = err
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Documents returns short texts that have broken splitters.
func Documents() []evalkit.Document {
	texts := []struct{ id, text string }{
		{"empty", ""},
		{"blank", "  \n\t \n"},
		{"one line", "One line."},
		{"gaps", "Red. Blue,  green;\n\n\tfour\u00a0five"},
		{"one huge word", strings.Repeat("q", 4200) + " fin"},
		{"one letter", strings.Repeat("z", 24)},
		{"lf", "First para.\n\nSecond para.\n\nThird para."},
		{"crlf", "First para.\r\n\r\nSecond para.\r\n\r\nThird para.\r\n"},
		{"cr", "First para.\r\rSecond para.\r\rThird para."},
		{"bom", "\ufeff# Alpha\ntext\n## Beta\nmore"},
		{"front matter", "\ufeff---\ntitle: T\n---\n# Alpha\nBody of it.\n"},
		{"fence", "# Setup\nBefore the code.\n```sh\n# fetch the parts\nmake\n```\nAfter the code.\n## Next\nTail.\n"},
		{"open fence", "text\n```\nno end\n# not a heading"},
		{"table", "| port | use |\n|---|---|\n" + strings.Repeat("| 80 | web |\n", 12) + "\nAfter."},
		{"headings", "# Guide\n## Install\nRun it.\n\n\n\n\n\n# Second part\nOther.\n# Empty end\n"},
		{"abbreviations", `Dr. Okafor logged 36.6 degrees at 8 a.m. on Monday. The value fell, e.g. to 35.9 by noon! "Is it safe?" asked Prof. Lind.`},
		{"japanese", "猫は眠る。犬は走る！鳥は飛ぶか？第一です．第二です．" + strings.Repeat("字", 400)},
		{"mixed scripts", "Größe: 5 m² — naïve “quotes” 🙂 終わり。 العربية لغة. हिन्दी में लिखा। ภาษาไทย 한국어"},
		{"emoji", strings.Repeat("ä🙂", 40) + " 👨‍👩‍👧‍👦 🇩🇪🇳🇴 e\u0301\u0302"},
		{"repeats", strings.Repeat("ping pong ", 40) + "\n\n## A\nSame words here.\n\n## B\nSame words here.\n"},
		{"pages", "Page one.\fPage two.\f\f  \fLast page."},
		{"lists", "1. one\n2. two\n   - inner\n\n     more\n> quote\n> > deeper\n\n    code\n\n***\n[a]: b\n<div>\nhtml\n</div>\n"},
		{"control", "a\x00b\x7fc\u2028d\u2029e\u0085f\vg"},
		{"punctuation", "?!?!"},
		{"breaks", "\n\n\n\n.\n\n\n\n.\n"},
	}
	docs := make([]evalkit.Document, len(texts))
	for i, t := range texts {
		docs[i] = evalkit.Document{ID: evalkit.DocID(t.id), Text: t.text}
	}
	return docs
}
