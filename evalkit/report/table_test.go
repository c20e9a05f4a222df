package report_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/chunkeval/chunkeval/evalkit/internal/browser"
	"github.com/chunkeval/chunkeval/evalkit/internal/trial"
)

// TestTablesShowCostAndNames: what a setting costs stands beside what it brings,
// strategies are shown without their defaults, and a table that goes on outside
// the window says so.
func TestTablesShowCostAndNames(t *testing.T) {
	b := browser.Open(t)
	root := site(t, trial.Handbook(t, small))
	heads := func(table string) []string {
		return browser.Eval[[]string](b, `[...document.querySelector('`+table+`').tHead.rows[0].cells].map(c => c.textContent)`)
	}
	b.Look(1280, "light")
	for page, table := range map[string]string{"index.html": "#experiments", "e/small-window-1-1/index.html": "table.sortable"} {
		b.Go(root + page)
		got := heads(table)
		assert.Subset(t, got, []string{"recall", "recall+", "context_tokens+", "full_evidence+"}, page)
		at := browser.Eval[[]int](b, `['recall', 'recall+', 'context_tokens+'].map(n => [...document.querySelector('`+table+`').tHead.rows[0].cells].findIndex(c => c.textContent === n))`)
		assert.Equal(t, []int{at[0], at[0] + 1, at[0] + 2}, at, page)
		inside := browser.Eval[bool](b, `(() => { const t = document.querySelector('`+table+`'), c = t.tHead.rows[0].cells[`+"["+`...t.tHead.rows[0].cells].findIndex(c => c.textContent === 'context_tokens+')]; return c.getBoundingClientRect().right <= innerWidth; })()`)
		assert.True(t, inside, "%s: the cost is in the window", page)
		assert.Equal(t, "fixed_size(size=100,overlap=0,unit=token)", browser.Eval[string](b, `document.querySelector('`+table+` code[title^=fixed_size]').title`))
		assert.Equal(t, "fixed_size(size=100)", browser.Eval[string](b, `document.querySelector('`+table+` code[title^=fixed_size]').textContent`))
	}
	b.Look(390, "light")
	b.Go(root + "index.html")
	assert.True(t, browser.Eval[bool](b, `(e => e.scrollWidth > e.clientWidth)(document.querySelector('.scroll'))`))
	assert.Equal(t, "local, local, scroll, scroll", browser.Eval[string](b, `getComputedStyle(document.querySelector('.scroll')).backgroundAttachment`), "covers move with the table, the shadows at the edges do not")
	for _, page := range []string{"index.html", "compare/small-window-0-0.html", "managerial.html", "technical.html"} {
		b.Go(root + page)
		b.ChartsDrawn()
		b.Shot("narrow-" + strings.ReplaceAll(page, "/", "-"))
		wide := browser.Eval[[]string](b, `[...document.querySelectorAll('main *')].filter(e => !e.closest('.scroll, .chart-scroll, .chart-rows, svg') && e.getBoundingClientRect().right > innerWidth + 1).map(e => e.tagName + '.' + e.className + ' ' + e.textContent.slice(0, 30))`)
		assert.Empty(t, wide, "%s: nothing is wider than the window", page)
	}
	b.Go(root + "technical.html")
	assert.NotContains(t, browser.Eval[string](b, `document.body.innerText`), "overlap=0", "provenance has retrievers, tables the short form")
	assert.Empty(t, b.Problems())
}
