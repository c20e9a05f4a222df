// Package trial runs configurations in memory, for tests only.
package trial

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit/compare"
	"github.com/chunkeval/chunkeval/evalkit/experiment"
	"github.com/chunkeval/chunkeval/evalkit/wire"
)

// Handbook runs a configuration over datasets/handbook, which is not to name a
// data set.
func Handbook(t testing.TB, config string) []*experiment.Result {
	t.Helper()
	_, self, _, ok := runtime.Caller(0)
	require.True(t, ok)
	return Over(t, filepath.Join(filepath.Dir(self), "..", "..", "..", "datasets", "handbook"), config, 0)
}

// Over runs a configuration over the data set in dir with any number of workers;
// 0 is one per core. An Experiment's id is its name, with dashes.
func Over(t testing.TB, dir, config string, workers int) []*experiment.Result {
	t.Helper()
	lab, groups := groups(t, dir, config)
	var all []*experiment.Result
	for _, g := range groups {
		all = append(all, Run(t, g, workers)...)
	}
	require.NoError(t, lab.Close())
	return all
}

// Group builds the only group of a configuration over the data set in dir, whose
// parts a test can exchange.
func Group(t testing.TB, dir, config string) *wire.Group {
	t.Helper()
	lab, groups := groups(t, dir, config)
	t.Cleanup(func() { require.NoError(t, lab.Close()) })
	require.Len(t, groups, 1)
	return groups[0]
}

// Run runs a group as Over does.
func Run(t testing.TB, g *wire.Group, workers int) []*experiment.Result {
	t.Helper()
	var all []*experiment.Result
	for r, err := range experiment.Run(t.Context(), g.Setup, g.Settings, experiment.Options{Workers: workers}) {
		require.NoError(t, err)
		i := len(all)
		r.Record.Spec, r.Record.Components = g.Specs[i], g.Components
		r.Record.ID = strings.NewReplacer(" ", "-", "=", "-", "/", "-").Replace(g.Specs[i].Name)
		r.Record.Provenance.Started = "2026-12-01T10:00:00Z"
		all = append(all, r)
	}
	return all
}

func groups(t testing.TB, dir, config string) (*wire.Lab, []*wire.Group) {
	t.Helper()
	dir, err := filepath.Abs(dir)
	require.NoError(t, err)
	c, err := wire.ParseConfig("test", []byte("dataset: "+dir+"\n"+config), "/")
	require.NoError(t, err)
	lab := &wire.Lab{}
	groups, err := lab.Groups(c)
	require.NoError(t, err)
	return lab, groups
}

// Inputs returns Experiments as a Compare takes them.
func Inputs(all ...*experiment.Result) []compare.Input {
	var out []compare.Input
	for _, r := range all {
		out = append(out, compare.Input{ID: r.Record.ID, Source: r.Source()})
	}
	return out
}
