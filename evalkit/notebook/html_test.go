package notebook

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/compare"
	"github.com/chunkeval/chunkeval/evalkit/internal/trial"
)

func TestChunksAreDrawnOverTheWholeDocument(t *testing.T) {
	doc := evalkit.Document{ID: "d", Text: "aa <b>bb</b> cc dd"}
	chunk := func(i, start, end int) evalkit.Chunk {
		return evalkit.Chunk{Doc: "d", Index: i, Span: evalkit.Span{Start: start, End: end}, Text: doc.Text[start:end], Tokens: 2}
	}
	html, err := chunksHTML(doc, []evalkit.Chunk{chunk(0, 0, 8), chunk(1, 5, 15), {Doc: "other"}}, []evalkit.Span{{Start: 6, End: 8}})
	require.NoError(t, err)
	text := string(html)
	assert.NotContains(t, text, "<b>", "texts are escaped")
	assert.Contains(t, text, "2 chunks · 4 tokens")
	for _, class := range []string{`class="even start"`, `class="overlap start"`, `class="overlap gold"`, `class="odd"`} {
		assert.Contains(t, text, class)
	}
	_, err = chunksHTML(doc, []evalkit.Chunk{chunk(0, 0, 8)}, []evalkit.Span{{Start: 6, End: 99}})
	require.ErrorContains(t, err, `gold of "d"`)
}

func TestPiecesOfPages(t *testing.T) {
	all := trial.Handbook(t, "name: small\nstrategies: [fixed_size(size=100), markdown]\nretriever: bm25\nqueries: ['h00*', 'h01*', 'h24*']\nsweep: {window: [0/0, 1/1]}\n")
	both := []any{all[0], all[1]}
	for name, f := range map[string]func() (string, error){
		"experiment": func() (string, error) { h, err := experimentHTML(all[1]); return string(h), err },
		"compare":    func() (string, error) { h, err := compareHTML(both); return string(h), err },
		"recommend":  func() (string, error) { h, err := recommendHTML(both); return string(h), err },
		"report":     func() (string, error) { h, err := reportHTML(both); return string(h), err },
		"question":   func() (string, error) { h, err := questionHTML(all[1], "fixed_size", "h001"); return string(h), err },
		"placebo":    func() (string, error) { h, err := placeboHTML(all[1], "fixed_size"); return string(h), err },
	} {
		text, err := f()
		require.NoError(t, err, name)
		assert.Greater(t, len(text), 500, name)
		if name != "report" { // a whole page, chart library included
			assert.False(t, strings.Contains(text, "NaN"), name)
		}
	}
	question, err := questionHTML(all[1], "fixed_size", "h001")
	require.NoError(t, err)
	assert.Contains(t, string(question), `<ol class="tree">`)
	_, err = questionHTML(all[1], "fixed_size", "h999")
	require.ErrorContains(t, err, "h999")
	_, err = questionHTML(all[1], "nothing", "h001")
	require.Error(t, err)
	_, err = experimentHTML("a string")
	require.Error(t, err, "what is no Experiment is refused")
	m := compare.Measure{Metric: "recall", View: evalkit.Expanded}
	low, err := lowest(all[0], "markdown", m, 3)
	require.NoError(t, err)
	assert.Len(t, low.ids(), 3)
}

func TestQuoteMakesGold(t *testing.T) {
	doc := evalkit.Document{ID: "a.md", Text: "One two. One two."}
	line, span, err := Quote(doc, "One two.", 2)
	require.NoError(t, err)
	assert.Equal(t, evalkit.Span{Start: 9, End: 17}, span)
	assert.Contains(t, line, `"a.md"`)
	_, _, err = Quote(doc, "three", 1)
	require.Error(t, err)
	_, _, err = Quote(doc, "One two.", 3)
	require.Error(t, err)
}

func TestStyleStaysInside(t *testing.T) {
	depth := 0
	for line := range strings.SplitSeq(style(), "\n") {
		if depth == 0 && strings.Contains(line, "{") {
			assert.Contains(t, line, ".evalkit", "a rule would change the notebook's own page")
		}
		depth += strings.Count(line, "{") - strings.Count(line, "}")
	}
	assert.Zero(t, depth, "all braces are closed")
	assert.Contains(t, piece(`<figure data-chart></figure>`), "<script>")
	assert.NotContains(t, piece(`<p>text</p>`), "<script>")
}
