package notebook

import (
	"html/template"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/chart"
	"github.com/chunkeval/chunkeval/evalkit/internal/browser"
	"github.com/chunkeval/chunkeval/evalkit/internal/trial"
)

// notebookPage writes outputs into a page as an exported notebook holds them: the
// body tells the theme, rules of the host colour tables, and a module loader is
// there already.
func notebookPage(t *testing.T, light string, outputs ...string) string {
	t.Helper()
	html := `<!doctype html><meta charset="utf-8"><style>.host td { text-align: right; } .host tbody tr:nth-child(odd) { background: red; }</style>
<script>window.define = function () { throw new Error('the library asked the module loader'); }; window.define.amd = {};</script>
<body class="host" data-jp-theme-light="` + light + `"><h1 id="host">Notebook</h1><table id="foreign"><tbody><tr><td>x</td></tr></tbody></table><div>` +
		strings.Join(outputs, "</div><div>") + "</div></body>"
	file := filepath.Join(t.TempDir(), "page.html")
	require.NoError(t, os.WriteFile(file, []byte(html), 0o644))
	return "file://" + file
}

func library(t *testing.T) string {
	t.Helper()
	lib := chart.Inline()
	if lib == "" {
		t.Skip("no chart library; make setup fetches it")
	}
	return "<script>" + lib + themeScript + "</script>"
}

func TestPiecesInABrowser(t *testing.T) {
	lib := library(t)
	b := browser.Open(t)
	all := trial.Handbook(t, "name: small\nstrategies: [fixed_size(size=100), markdown]\nretriever: bm25\nqueries: ['h00*', 'h01*', 'h24*']\nsweep: {window: [0/0, 1/1]}\n")
	var pieces []string
	for _, f := range []func() (template.HTML, error){
		func() (template.HTML, error) { return experimentHTML(all[1]) },
		func() (template.HTML, error) { return compareHTML([]any{all}) },
		func() (template.HTML, error) { return questionHTML(all[1], "fixed_size", "h001") },
		func() (template.HTML, error) {
			return windowsHTML(all[0], "fixed_size", []int{300, 600}, []evalkit.Window{{}, {Prev: 1, Next: 1}})
		},
	} {
		html, err := f()
		require.NoError(t, err)
		pieces = append(pieces, piece(html))
	}
	colour := map[string]string{}
	for theme, light := range map[string]string{"light": "true", "dark": "false"} {
		for place, outputs := range map[string][]string{"first": append([]string{lib}, pieces...), "last": append(append([]string{}, pieces...), lib)} {
			b.Go(notebookPage(t, light, outputs...))
			b.Look(1200, "dark") // the reader's preference is not the notebook's theme
			assert.Equal(t, 6, b.ChartsDrawn(), "%s, library %s", theme, place)
			colour[theme] = browser.Eval[string](b, `getComputedStyle(document.querySelector('.evalkit')).color`)
			assert.Equal(t, "left", browser.Eval[string](b, `getComputedStyle(document.querySelector('.evalkit td')).textAlign`))
			assert.Equal(t, "rgb(255, 0, 0)", browser.Eval[string](b, `getComputedStyle(document.querySelector('#foreign tr')).backgroundColor`), "the host's own tables are left alone")
			assert.NotEqual(t, "none", browser.Eval[string](b, `getComputedStyle(document.querySelector('#host')).display`))
			b.Shot("notebook-" + theme)
		}
	}
	assert.NotEqual(t, colour["light"], colour["dark"])
	assert.Empty(t, b.Problems())
	for _, url := range b.Requests() {
		assert.NotContains(t, url, "http", "nothing is loaded")
	}
}

func TestChartsSayThatThereIsNoLibrary(t *testing.T) {
	b := browser.Open(t)
	all := trial.Handbook(t, "name: small\nstrategies: [markdown]\nretriever: bm25\nqueries: ['h00*']\n")
	html, err := experimentHTML(all[0])
	require.NoError(t, err)
	b.Go(notebookPage(t, "true", piece(html)))
	b.Wait(`[...document.querySelectorAll('[data-chart]')].every(f => f.dataset.chartState === 'failed' && f.querySelector('.chart-data').open)`)
}

func TestMarkInABrowser(t *testing.T) {
	b := browser.Open(t)
	html, err := markHTML(evalkit.Document{ID: "a.md", Text: "Café <b>one</b>. Two \"quoted\".\n\nCafé again."})
	require.NoError(t, err)
	b.Go(notebookPage(t, "true", piece(html)))
	entry := func(start, end int) string {
		browser.Eval[bool](b, `(() => { const n = document.querySelector('.mark [data-doc]').firstChild, r = document.createRange(), s = getSelection();
			s.removeAllRanges(); r.setStart(n, `+strconv.Itoa(start)+`); r.setEnd(n, `+strconv.Itoa(end)+`); s.addRange(r); return true; })()`)
		b.Wait(`document.querySelector('.mark textarea').value`)
		text := browser.Eval[string](b, `document.querySelector('.mark textarea').value`)
		browser.Eval[bool](b, `(document.querySelector('.mark textarea').value = '', true)`)
		return text
	}
	assert.JSONEq(t, `{"doc":"a.md","quote":"<b>one</b>. Two \"quoted\"."}`, entry(5, 30))
	assert.JSONEq(t, `{"doc":"a.md","quote":"Café","occurrence":2}`, entry(32, 36))
	assert.Empty(t, b.Problems())
}
