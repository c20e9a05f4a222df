package chunktest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/chunk/chunktest"
)

// lines is a strategy as someone would write it: a chunk per line.
type lines struct {
	fault func(evalkit.Document, []evalkit.Chunk) []evalkit.Chunk
}

func (lines) String() string { return "lines" }

func (l lines) Split(_ context.Context, doc evalkit.Document) ([]evalkit.Chunk, error) {
	var out []evalkit.Chunk
	at := 0
	for line := range strings.Lines(doc.Text) {
		text := strings.TrimFunc(line, evalkit.IsSpace)
		start := at + strings.Index(line, text)
		at += len(line)
		if text != "" {
			s := evalkit.Span{Start: start, End: start + len(text)}
			out = append(out, evalkit.Chunk{Doc: doc.ID, Index: len(out), Span: s, Text: text})
		}
	}
	if l.fault != nil {
		out = l.fault(doc, out)
	}
	return out, nil
}

func TestCheckFindsEveryFault(t *testing.T) {
	chunktest.Run(t, lines{})
	doc := evalkit.Document{ID: "d", Text: "one äx\ntwo\nthree\r\nfour"}
	for want, fault := range map[string]func([]evalkit.Chunk) []evalkit.Chunk{
		"is in no chunk":          func(c []evalkit.Chunk) []evalkit.Chunk { c[0].Span.Start, c[0].Text = 4, "äx"; return c },
		"the end":                 func(c []evalkit.Chunk) []evalkit.Chunk { return c[:3] },
		"cuts a character in two": func(c []evalkit.Chunk) []evalkit.Chunk { c[0].Span.End = 5; return c },
		"is not the document's":   func(c []evalkit.Chunk) []evalkit.Chunk { c[1].Text = "zwo"; return c },
		"names itself":            func(c []evalkit.Chunk) []evalkit.Chunk { c[2].Index = 7; return c },
		"does not come after":     func(c []evalkit.Chunk) []evalkit.Chunk { c[2].Span, c[2].Text = c[1].Span, c[1].Text; return c },
		"only repeats": func(c []evalkit.Chunk) []evalkit.Chunk {
			c[2].Span, c[2].Text = evalkit.Span{Start: 9, End: 10}, doc.Text[9:10]
			return c
		},
		"cuts between CR and LF": func(c []evalkit.Chunk) []evalkit.Chunk {
			c[2].Span.End++
			c[2].Text = doc.Text[c[2].Span.Start:c[2].Span.End]
			return c
		},
		"unit": func(c []evalkit.Chunk) []evalkit.Chunk {
			c[1].Units = []evalkit.Span{{Start: 0, End: 2}}
			return c
		},
	} {
		s := lines{func(_ evalkit.Document, c []evalkit.Chunk) []evalkit.Chunk { return fault(c) }}
		err := chunktest.Check(t.Context(), s, doc)
		require.Error(t, err, want)
		assert.Contains(t, err.Error(), want)
		assert.Contains(t, err.Error(), `strategy lines: document "d"`)
	}
}

func TestCheckFindsChangingChunks(t *testing.T) {
	first := true
	s := lines{func(_ evalkit.Document, c []evalkit.Chunk) []evalkit.Chunk {
		if first {
			first = false
			return c
		}
		c[0].Tokens = 3
		return c
	}}
	assert.ErrorContains(t, chunktest.Check(t.Context(), s, evalkit.Document{ID: "d", Text: "one"}), "when it is split again")
}

func ExampleCheck() {
	fmt.Println(chunktest.Check(context.Background(), lines{}))
	// Output: <nil>
}
