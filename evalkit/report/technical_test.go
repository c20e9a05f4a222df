package report_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit/compare"
	"github.com/chunkeval/chunkeval/evalkit/internal/browser"
	"github.com/chunkeval/chunkeval/evalkit/internal/trial"
	"github.com/chunkeval/chunkeval/evalkit/report"
)

// TestTechnicalIsShort: what Experiments have in common is said once, and what
// helps to decide comes first.
func TestTechnicalIsShort(t *testing.T) {
	all := trial.Handbook(t, "name: s\nstrategies: [fixed_size(size=100), markdown]\nqueries: ['h00*', 'h01*']\nsweep: {window: [0/0, 1/1], retriever: [bm25, hybrid]}\n")
	s, err := report.NewStudy(trial.Inputs(all...), compare.Margin, few)
	require.NoError(t, err)
	var b strings.Builder
	require.NoError(t, s.Technical(&b, 0))
	page, _, _ := strings.Cut(b.String(), "<script>")
	var order []string
	for _, m := range regexp.MustCompile(`<h2 id="(\w+)"`).FindAllStringSubmatch(page, -1) {
		order = append(order, m[1])
	}
	assert.Equal(t, []string{"decide", "budgets", "setup", "compare", "charts", "lost", "metrics", "questions"}, order)
	assert.Equal(t, 1, strings.Count(page, "<dt>tokenizer</dt>"), "the same in all")
	assert.Equal(t, 1, strings.Count(page, "Experiments differ in "), "not once for each")
	assert.Contains(t, page, "Neighbor Expansion: ±0/0 against ±1/1. Where two of them differ in more than one of these")
	setup := regexp.MustCompile(`(?s)<table class="sortable setup">.*?</table>`).FindString(page)
	assert.Contains(t, setup, "<th>retriever</th>")
	assert.NotContains(t, setup, "tokenizer")
	assert.Equal(t, len(all)+1, strings.Count(setup, "<tr>"))
	_, budgets, _ := strings.Cut(page, `<h2 id="budgets">`)
	budgets, _, _ = strings.Cut(budgets, "</table>")
	assert.Equal(t, 1+2*3, strings.Count(budgets, "<tr>"), "a row per strategy, window and retriever")
}

// TestMeanings: the pages with tables explain their columns.
func TestMeanings(t *testing.T) {
	b := browser.Open(t)
	root := site(t, trial.Handbook(t, small))
	for _, page := range []string{"e/small-window-1-1/index.html", "compare/small-window-0-0.html", "technical.html"} {
		b.Go(root + page)
		b.Click(`details.meanings summary`)
		b.Wait(`document.querySelector('details.meanings[open]')`)
		names := browser.Eval[[]string](b, `[...document.querySelectorAll('details.meanings dt')].map(e => e.textContent)`)
		assert.Subset(t, names, []string{"recall", "context_tokens", "evid.nDCG@10", "n", "±P/N", "+", "p", "could detect"}, page)
		for i, name := range names {
			assert.NotContains(t, names[:i], name, "%s: once", page)
		}
	}
	assert.Empty(t, b.Problems())
}

// TestChartsOfManyCurves: a readable part is drawn, the legend has the rest, and
// hollow symbols have the ground of the page.
func TestChartsOfManyCurves(t *testing.T) {
	b := browser.Open(t)
	root := site(t, trial.Handbook(t, "name: s\nstrategies: [fixed_size(size=100), fixed_size(size=200), markdown]\nqueries: ['h00*', 'h01*', 'h02*']\nsweep: {window: [0/0, 1/1], retriever: [bm25, hybrid]}\n"))
	b.Look(1280, "dark")
	b.Go(root + "technical.html")
	b.ChartsDrawn()
	find := `[...document.querySelectorAll('[data-chart]')].find(f => f.querySelector('.chart-title').textContent === 'Recall against context tokens')`
	selected := `(o => o.series.map(s => o.legend[0].selected[s.name] !== false))(echarts.getInstanceByDom((` + find + `).querySelector('.chart-plot')).getOption())`
	shown := browser.Eval[[]bool](b, selected)
	assert.Len(t, shown, 10)
	n := 0
	for _, on := range shown {
		if on {
			n++
		}
	}
	assert.Equal(t, 5, n, "one retriever")
	assert.Contains(t, browser.Eval[string](b, `(`+find+`).querySelector('.chart-note').textContent`), "The legend switches 5 more lines on.")
	white := browser.Eval[[]string](b, `[...document.querySelectorAll('.chart-plot svg path')].map(p => p.getAttribute('fill')).filter(f => /^(#fff|#ffffff|white|rgb\(255, ?255, ?255\))$/i.test(f || ''))`)
	assert.Empty(t, white, "nothing is white on dark")
	b.Go(root + "managerial.html")
	b.ChartsDrawn()
	assert.Positive(t, browser.Eval[int](b, `document.querySelectorAll('.chart-key li').length`))
	b.Shot("managerial-dark")
	b.Do(b.Run(`HTMLAnchorElement.prototype.click = () => {}; URL.createObjectURL = blob => { blob.text().then(t => { window.saved = t; }); return 'data:,'; }; document.querySelector('[data-chart-save=svg]').click()`))
	b.Wait(`window.saved`)
	assert.Contains(t, browser.Eval[string](b, `window.saved`), "1  fixed_size(size=100)", "a picture holds its key")
	b.Look(390, "light")
	b.ChartsDrawn()
	b.Shot("managerial-narrow")
	assert.Empty(t, b.Problems())
}
