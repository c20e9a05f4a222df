package report_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit/experiment"
	"github.com/chunkeval/chunkeval/evalkit/internal/browser"
	"github.com/chunkeval/chunkeval/evalkit/internal/trial"
	"github.com/chunkeval/chunkeval/evalkit/report"
)

// renamed gives Experiments another data set and other ids.
func renamed(all []*experiment.Result, name, id string) []*experiment.Result {
	for _, r := range all {
		ds := *r.Dataset
		ds.Name = name
		r.Dataset = &ds
		r.Record.Spec.Dataset, r.Record.Dataset.Name = name, name
		r.Record.ID = id + r.Record.ID
	}
	return all
}

// TestReportsOfEveryDataset: every data set has its reports, and they name each
// other.
func TestReportsOfEveryDataset(t *testing.T) {
	one := "name: one\nstrategies: [markdown]\nretriever: bm25\nqueries: ['h00*']\n"
	all := renamed(trial.Handbook(t, one), "My data", "m-")
	all = append(all, renamed(trial.Handbook(t, one), "my/data", "n-")...)
	all = append(all, trial.Handbook(t, small)...)
	s, err := report.NewSite(trial.Inputs(all...), nil)
	require.NoError(t, err)
	s.Options = few
	for _, name := range []string{"managerial.html", "technical.html", "managerial-my-data.html", "technical-my-data.html", "managerial-my-data-2.html"} {
		assert.Contains(t, s.Files(), name)
	}
	for _, name := range []string{"managerial-other.html", "managerialx.html", "technical-.html", "technical", "managerial-my-data"} {
		assert.ErrorIs(t, s.Write(&strings.Builder{}, name), fs.ErrNotExist, name)
	}

	b := browser.Open(t)
	root := site(t, all)
	b.Go(root + "managerial.html")
	heading := `document.querySelector('h1').textContent`
	assert.Equal(t, "How should handbook be cut and searched?", browser.Eval[string](b, heading), "most Experiments are of it")
	assert.Equal(t, "Data set: handbook · My data · my/data", browser.Eval[string](b, `document.querySelector('nav.datasets').innerText`))
	assert.Equal(t, "handbook", browser.Eval[string](b, `document.querySelector('nav.datasets [aria-current]').textContent`))
	b.Click(`nav.datasets a`)
	b.Wait(heading + ` === 'How should My data be cut and searched?'`)
	b.Click(`nav.site a:nth-child(4)`)
	b.Wait(heading + ` === 'Technical report: one' && document.querySelector('nav.datasets [aria-current]').textContent === 'My data'`)
	b.Go(root + "e/n-one/index.html")
	b.Click(`nav.site a:nth-child(3)`)
	b.Wait(heading + ` === 'How should my/data be cut and searched?'`)
	assert.Empty(t, b.Problems())

	b.Go(site(t, trial.Handbook(t, small)) + "technical.html")
	assert.Zero(t, browser.Eval[int](b, `document.querySelectorAll('nav.datasets').length`), "nothing to choose")
}
