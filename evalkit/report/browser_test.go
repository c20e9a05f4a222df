package report_test

import (
	"encoding/json"
	"fmt"
	stdhtml "html"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/compare"
	"github.com/chunkeval/chunkeval/evalkit/experiment"
	"github.com/chunkeval/chunkeval/evalkit/internal/browser"
	"github.com/chunkeval/chunkeval/evalkit/internal/trial"
	"github.com/chunkeval/chunkeval/evalkit/report"
)

var few = compare.Options{Bootstrap: 200, Draws: 200}

const small = "name: small\nstrategies: [fixed_size(size=100), markdown]\nretriever: bm25\nqueries: ['h00*', 'h01*', 'h24*', 'h25*']\nsweep: {window: [0/0, 1/1]}\n"

// site writes a Site into a folder and returns the address of its list.
func site(t testing.TB, all []*experiment.Result) string {
	t.Helper()
	s, err := report.NewSite(trial.Inputs(all...), []string{"results/broken: incomplete"})
	require.NoError(t, err)
	s.Options = few
	dir := t.TempDir()
	for _, name := range s.Files() {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		write(t, path, func(w io.Writer) error { return s.Write(w, name) })
	}
	return "file://" + dir + "/"
}

func write(t testing.TB, path string, f func(io.Writer) error) {
	t.Helper()
	w, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, f(w))
	require.NoError(t, w.Close())
}

// TestSiteInABrowser walks the way of a user, from files, without a network:
// list, two Experiments, Compare, a question, its expansion tree.
func TestSiteInABrowser(t *testing.T) {
	b := browser.Open(t)
	root := site(t, trial.Handbook(t, small))

	b.Go(root + "index.html")
	assert.Equal(t, 2, browser.Eval[int](b, `document.querySelectorAll('#experiments tbody tr').length`))
	assert.Contains(t, browser.Eval[string](b, `document.querySelector('.warning').textContent`), "results/broken")
	assert.Equal(t, "neighbor_prev 1, neighbor_next 1", browser.Eval[string](b, `document.querySelectorAll('.badge')[1].title`))
	b.Shot("list")
	b.Click(`#experiments tbody tr:nth-child(1) input`)
	assert.Equal(t, "true", browser.Eval[string](b, `document.getElementById('compare').getAttribute('aria-disabled')`))
	b.Click(`#experiments tbody tr:nth-child(2) input`)
	b.Click(`#compare`)

	b.Wait(`document.querySelector('table.sheet')`)
	assert.Positive(t, b.ChartsDrawn())
	assert.Equal(t, []string{"±0/0", "±1/1"}, browser.Eval[[]string](b, `[...document.querySelectorAll('table.columns .badge')].map(e => e.textContent)`))
	assert.Contains(t, browser.Eval[string](b, `document.querySelector('.warnings').innerText`), "differ in Neighbor Expansion: ±0/0 against ±1/1")
	b.Wait(`document.querySelectorAll('table.moved tbody tr').length > 0`)
	b.Shot("compare")
	b.Click(`table.moved tbody tr button`)
	b.Wait(`document.querySelectorAll('.pair ol.tree').length === 2`)
	assert.Positive(t, browser.Eval[int](b, `document.querySelectorAll('.pair ol.tree li.hit').length`))
	assert.Positive(t, browser.Eval[int](b, `document.querySelectorAll('.pair ul.branch li.prev, .pair ul.branch li.next').length`), "neighbors of ±1/1")
	assert.Positive(t, browser.Eval[int](b, `document.querySelectorAll('.pair mark').length`), "gold is marked")
	b.Shot("compare-question")

	b.Go(root + "e/small-window-1-1/index.html")
	assert.Equal(t, 3, b.ChartsDrawn())
	b.Wait(`document.querySelectorAll('table.questions tbody tr').length > 0`)
	b.Do(b.Choose(`[data-role=show]`, "neighbor"))
	b.Wait(`document.querySelector('[data-role=count]').textContent !== 'no question'`)
	b.Click(`table.questions tbody button`)
	b.Wait(`document.querySelector('[data-role=panel] ol.tree')`)
	assert.Positive(t, browser.Eval[int](b, `document.querySelectorAll('[data-role=panel] .has-gold').length`))
	for _, look := range []struct {
		name   string
		width  int64
		scheme string
	}{{"detail-dark", 1300, "dark"}, {"detail-narrow", 390, "light"}} {
		b.Look(look.width, look.scheme)
		b.ChartsDrawn()
		b.Shot(look.name)
		wide := browser.Eval[[]string](b, `[...document.querySelectorAll('main *')].filter(e => !e.closest('.scroll, .chart-scroll, .chart-rows, svg') && e.getBoundingClientRect().right > innerWidth + 1).map(e => e.tagName + '.' + e.className + ' ' + e.textContent.slice(0, 30))`)
		assert.Empty(t, wide, "nothing is wider than the window")
	}
	for _, name := range []string{"managerial.html", "technical.html"} {
		b.Look(1100, "light")
		b.Go(root + name)
		assert.Positive(t, b.ChartsDrawn())
		b.Shot(name)
	}
	assert.Empty(t, b.Problems())
	for _, r := range b.Requests() {
		assert.NotRegexp(t, "^https?:", r, "no network")
	}
}

// TestAnOpenedQuestionIsSeen: the panel stands below the row that was clicked,
// inside the window, the first time as well and by keyboard too.
func TestAnOpenedQuestionIsSeen(t *testing.T) {
	b := browser.Open(t)
	root := site(t, trial.Handbook(t, small))
	row := func(table string, i int) string {
		return fmt.Sprintf(`table.%s tbody tr:not(.detail):nth-child(%d) button`, table, i)
	}
	seen := `(() => { const p = document.querySelector('tr.detail .panel'), h = p && p.querySelector('.q-text'), s = document.querySelector('tr[aria-selected]');
		if (!h || p.textContent.includes('loading')) return false;
		const r = h.getBoundingClientRect(), q = s.getBoundingClientRect();
		return p.closest('tr').previousSibling === s && q.top >= -1 && r.top >= q.bottom - 1 && r.bottom <= innerHeight && r.left >= 0 && r.left < innerWidth; })()`
	for _, page := range []struct {
		url, table string
		trees      int
	}{{"compare/small-window-0-0.html#small-window-1-1", "moved", 2}, {"e/small-window-1-1/index.html", "questions", 1}} {
		for _, width := range []int64{1280, 390} {
			b.Look(width, "light")
			b.Go("about:blank")
			b.Go(root + page.url)
			b.ChartsDrawn()
			b.Wait(fmt.Sprintf(`document.querySelectorAll('table.%s tbody tr').length > 4`, page.table))
			if page.table == "moved" {
				b.Do(b.Choose(`[data-moved] [data-role=show]`, "all"))
			}
			b.Click(row(page.table, 5))
			b.Wait(seen)
			assert.Equal(t, page.trees, browser.Eval[int](b, `document.querySelectorAll('.panel ol.tree').length`))
			b.Shot(fmt.Sprintf("opened-%s-%d", page.table, width))

			b.Click(row(page.table, 2))
			b.Wait(`document.querySelectorAll('tr.detail').length === 1 && document.querySelectorAll('tr[aria-selected]').length === 1`)
			b.Wait(seen)
			b.Do(b.Run(`document.querySelector('tr.detail .q-text').focus(); document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape', bubbles: true}))`))
			assert.Equal(t, "false", browser.Eval[string](b, `document.activeElement.getAttribute('aria-expanded')`), "the focus is back on the question")
			assert.Zero(t, browser.Eval[int](b, `document.querySelectorAll('tr.detail').length`))

			b.Do(chromedp.KeyEvent("\r"))
			b.Wait(seen)
			assert.Equal(t, "true", browser.Eval[string](b, `document.activeElement.getAttribute('aria-expanded')`))
		}
	}
	assert.Empty(t, b.Problems())
}

func TestHO_RP_03_NumbersSortAsNumbers(t *testing.T) {
	b := browser.Open(t)
	b.Go(site(t, trial.Handbook(t, small)) + "index.html")
	// The table of the page with other numbers in one column.
	b.Do(b.Run(`[...document.querySelectorAll('#experiments tbody tr')].forEach(r => r.remove());
		['9.5', '100', 'n/a', '10.2', '0.002'].forEach(v => { const r = document.querySelector('#experiments tbody').insertRow(); r.insertCell(); const c = r.insertCell(); c.textContent = v; if (v !== 'n/a') c.dataset.v = v; });`))
	column := `[...document.querySelectorAll('#experiments tbody tr')].map(r => r.cells[1].textContent)`
	b.Click(`#experiments thead th:nth-child(2) button`)
	assert.Equal(t, []string{"0.002", "9.5", "10.2", "100", "n/a"}, browser.Eval[[]string](b, column))
	assert.Equal(t, "ascending", browser.Eval[string](b, `document.querySelector('#experiments thead th:nth-child(2)').getAttribute('aria-sort')`))
	b.Click(`#experiments thead th:nth-child(2) button`)
	assert.Equal(t, []string{"100", "10.2", "9.5", "0.002", "n/a"}, browser.Eval[[]string](b, column), "what does not exist stays last")
}

// evil is a text that would take over a page that does not escape it.
const evil = `Price </script><script>document.title='pwned'</script> & <b>bold</b>`

// planted is an Experiment whose every text is the given one.
func planted(t testing.TB, text string) []*experiment.Result {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "documents"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "documents", "a.md"), []byte("One. "+text+" Two.\n\nThree and more."), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "dataset.yaml"), []byte("name: toy\nlanguage: en\nlicence: CC0-1.0\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "queries.jsonl"), []byte(`{"id":"q","question":"one","gold":[{"doc":"a.md","quote":"One."}]}`+"\n"), 0o644))
	all := trial.Over(t, dir, "name: x\nstrategies: [fixed_size(size=4), page]\nretriever: bm25\ntop_k: 2\nsweep: {window: [0/0, 1/1]}\n", 0)
	ds := *all[0].Dataset
	ds.Name = text
	ds.Queries = append([]evalkit.Query{}, ds.Queries...)
	ds.Queries[0].Text, ds.Queries[0].Answer, ds.Queries[0].ID = text, text, evalkit.QueryID(text)
	for i, r := range all {
		r.Dataset = &ds
		r.Record.Spec.Name, r.Record.Spec.Dataset, r.Record.Dataset.Name = text, text, text
		r.Record.ID = []string{"a", "b"}[i]
		r.Record.Warnings = []string{text}
		s := &r.Strategies[1]
		s.Strategy, r.Record.Effective[1].Strategy, r.Record.Spec.Strategies = text, text, []string{r.Strategies[0].Strategy, text}
		for j := range r.Strategies {
			r.Strategies[j].Queries[0].Query = ds.Queries[0].ID
		}
	}
	return all
}

func TestHO_RP_01_ScriptEndInTexts(t *testing.T) {
	b := browser.Open(t)
	good, bad := site(t, planted(t, "harmless")), site(t, planted(t, evil))
	for _, page := range []string{"index.html", "e/a/index.html", "compare/a.html#b", "managerial.html", "technical.html"} {
		b.Go(good + page)
		scripts := browser.Eval[int](b, `document.scripts.length`)
		b.Go(bad + page)
		b.ChartsDrawn()
		assert.Equal(t, scripts, browser.Eval[int](b, `document.scripts.length`), page)
		assert.NotEqual(t, "pwned", browser.Eval[string](b, `document.title`), page)
		assert.Contains(t, browser.Eval[string](b, `document.body.innerText`), "</script>", "%s shows the text as it is", page)
		assert.Zero(t, browser.Eval[int](b, `[...document.querySelectorAll('b')].filter(e => e.textContent === 'bold').length`), page)
	}
	b.Go(bad + "e/a/index.html")
	b.Wait(`document.querySelectorAll('table.questions tbody tr').length === 1`)
	b.Click(`table.questions tbody button`)
	b.Wait(`document.querySelector('[data-role=panel] ol.tree')`)
	assert.Contains(t, browser.Eval[string](b, `document.querySelector('[data-role=panel]').textContent`), evil)
	b.Go(bad + "index.html")
	b.Click(`#experiments thead th:nth-child(2) button`)
	b.Do(b.Type(`input[data-filter]`, "nothing like this"))
	b.Wait(`document.getElementById('shown').textContent === '0 of 2'`)
	assert.Empty(t, b.Problems())
}

func TestHO_RP_02_StandalonePagesNeedNoNetwork(t *testing.T) {
	b := browser.Open(t)
	all := trial.Handbook(t, small)
	s, err := report.NewStudy(trial.Inputs(all...), compare.Margin, few)
	require.NoError(t, err)
	dir := t.TempDir()
	pages := map[string]func(io.Writer) error{
		"managerial": s.Managerial, "compare": s.Compare,
		"technical": func(w io.Writer) error { return s.Technical(w, 2) },
	}
	for name, f := range pages {
		path := filepath.Join(dir, name+".html")
		write(t, path, f)
		b.Go("file://" + path)
		assert.Positive(t, b.ChartsDrawn(), name)
		assert.Positive(t, browser.Eval[int](b, `document.querySelectorAll('table tbody tr').length`), name)
		remote := browser.Eval[[]string](b, `[...document.querySelectorAll('[src], link[href], a[href]')].map(e => e.getAttribute('src') || e.getAttribute('href')).filter(u => !u.startsWith('#') && !u.startsWith('data:'))`)
		assert.Empty(t, remote, "%s: everything is inside", name)
		b.Shot("alone-" + name)
	}
	b.Go("file://" + filepath.Join(dir, "compare.html"))
	b.Wait(`document.querySelectorAll('table.moved tbody tr').length > 0`)
	b.Click(`table.moved tbody tr button`)
	b.Wait(`document.querySelectorAll('.pair ol.tree').length === 2`)
	assert.Empty(t, b.Problems())
	for _, r := range b.Requests() {
		assert.Regexp(t, "^(file|data|blob):", r)
	}
}

func TestHO_RP_06_LargeResultSets(t *testing.T) {
	all := trial.Handbook(t, "name: many\nstrategies: [fixed_size(size=400), markdown]\nretriever: bm25\ntop_k: 10\n")
	s, err := report.NewSite(trial.Inputs(all...), nil)
	require.NoError(t, err)
	s.Options, s.Limit = few, 300
	files := map[string]int{}
	for _, name := range s.Files() {
		var n counter
		require.NoError(t, s.Write(&n, name))
		files[name] = int(n)
	}
	assert.Less(t, files["e/many/index.html"], 200_000, "the page itself does not grow with the questions")
	assert.Contains(t, files, "e/many/q/1/10.js", "251 questions in pages of 25")
	for name, size := range files {
		assert.Less(t, size, 2_000_000, name)
	}

	b := browser.Open(t)
	b.Go(site(t, all) + "e/many/index.html")
	b.Wait(`document.querySelectorAll('table.questions tbody tr').length === 50`)
	assert.Equal(t, "1–50 of 251", browser.Eval[string](b, `document.querySelector('[data-role=count]').textContent`))
	q, err := report.QuestionOf(all[0].Source(), 0, 0)
	require.NoError(t, err)
	q.Limit = 300
	html, err := q.Fragment()
	require.NoError(t, err)
	assert.Regexp(t, `… cut: \d+ more characters`, string(html), "what is left out is said with its count")
}

// counter counts bytes.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

func TestHO_RP_04_WhatDoesNotExist(t *testing.T) {
	all := trial.Handbook(t, small)
	s := &all[0].Strategies[1]
	for i := range s.Summary {
		if s.Summary[i].Metric == "recall" {
			s.Summary[i].Mean, s.Summary[i].SD = nil, nil
		}
	}
	for i := range s.Queries {
		for j := range s.Queries[i].Scores {
			if x := &s.Queries[i].Scores[j]; x.Metric == "recall" {
				x.Value, x.Reason = 0, "not defined here"
			}
		}
	}
	all[0].Record.Provenance.Seconds = math.Inf(1)
	b := browser.Open(t)
	root := site(t, all)
	for _, page := range []string{"index.html", "e/small-window-0-0/index.html", "compare/small-window-0-0.html", "managerial.html", "technical.html"} {
		b.Go(root + page)
		b.ChartsDrawn()
		assert.NotContains(t, browser.Eval[string](b, `document.body.innerText`), "NaN", page)
	}
	b.Go(root + "e/small-window-0-0/index.html")
	b.Wait(`document.querySelectorAll('table.questions tbody tr').length > 0`)
	b.Do(b.Choose(`[data-role=strategy]`, "1"))
	b.Wait(`document.querySelector('table.questions tbody .na')`)
	assert.Equal(t, "n/a", browser.Eval[string](b, `document.querySelector('table.questions tbody .na').textContent`))
	assert.Empty(t, b.Problems())
	_, err := json.Marshal(compared(t, all...))
	require.NoError(t, err)
}

func compared(t testing.TB, all ...*experiment.Result) *compare.Comparison {
	t.Helper()
	s, err := report.NewStudy(trial.Inputs(all...), compare.Margin, few)
	require.NoError(t, err)
	return s.Comparison
}

func TestHO_RP_05_MissingColumnsOnThePage(t *testing.T) {
	all := trial.Handbook(t, "name: one\nstrategies: [markdown]\nretriever: bm25\nqueries: ['h00*']\nmetrics: [recall, context_tokens]\n")
	all = append(all, trial.Handbook(t, "name: two\nstrategies: [fixed_size(size=100)]\nretriever: bm25\nqueries: ['h00*']\nneighbor_next: 1\nmetrics: [IoU, evid.nDCG@10]\n")...)
	in := append(trial.Inputs(all...), compare.Input{ID: "gone", Gap: "it was deleted"})
	s, err := report.NewStudy(in, compare.Margin, few)
	require.NoError(t, err)
	html, err := s.Fragment()
	require.NoError(t, err)
	text := stdhtml.UnescapeString(string(html))
	for _, want := range []string{"recall", "IoU+", "evid.nDCG@10", "not measured", "it was deleted"} {
		assert.Contains(t, text, want)
	}
}

// TestHO_RUN_02_EqualNames: runs of one second and one name stay apart in every
// page.
func TestHO_RUN_02_EqualNames(t *testing.T) {
	all := trial.Handbook(t, "name: same\nstrategies: [markdown]\nretriever: bm25\nqueries: ['h00*']\n")
	all = append(all, trial.Handbook(t, "name: same\nstrategies: [markdown]\nretriever: bm25\nqueries: ['h00*']\n")...)
	all[0].Record.ID, all[1].Record.ID = "same-1", "same-2"
	c := compared(t, all...)
	assert.Equal(t, []string{"same · same-1", "same · same-2"}, []string{c.Columns[0].Name, c.Columns[1].Name})
	b := browser.Open(t)
	b.Go(site(t, all) + "technical.html")
	assert.Positive(t, b.ChartsDrawn())
	assert.Empty(t, b.Problems())
}

// TestNothingToScore: a data set whose only question has no answer still has all
// its pages, and they say so.
func TestNothingToScore(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"dataset.yaml":   "name: toy\nlanguage: en\nlicence: CC0-1.0\n",
		"documents/a.md": "One sentence.\n",
		"queries.jsonl":  `{"id":"q#1 %2f/../x","question":"two?","gold":[],"unanswerable":true}` + "\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	all := trial.Over(t, dir, "name: x\nstrategies: [page, fixed_size(size=4)]\nretriever: bm25\n", 0)
	s, err := report.NewSite(trial.Inputs(all...), nil)
	require.NoError(t, err)
	for _, name := range s.Files() {
		var first, second strings.Builder
		require.NoError(t, s.Write(&first, name), name)
		require.NoError(t, s.Write(&second, name), name)
		assert.Equal(t, first.String(), second.String(), "%s: same bytes", name)
		assert.NotContains(t, first.String(), "NaN<", name)
	}
	var b strings.Builder
	require.NoError(t, s.Write(&b, "managerial.html"))
	assert.Contains(t, b.String(), "No recommendation")
}
