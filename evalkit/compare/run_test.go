package compare_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit/compare"
	"github.com/chunkeval/chunkeval/evalkit/experiment"
	"github.com/chunkeval/chunkeval/evalkit/wire"
)

// experiments runs a configuration over datasets/handbook, in memory.
func experiments(t testing.TB, config string) []*experiment.Result {
	t.Helper()
	dataset, err := filepath.Abs("../../datasets/handbook")
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "test.yaml")
	require.NoError(t, os.WriteFile(file, []byte("dataset: "+dataset+"\n"+config), 0o644))
	c, err := wire.ReadConfig(file)
	require.NoError(t, err)
	lab := &wire.Lab{}
	groups, err := lab.Groups(c)
	require.NoError(t, err)
	var all []*experiment.Result
	for _, g := range groups {
		i := 0
		for r, err := range experiment.Run(t.Context(), g.Setup, g.Settings, experiment.Options{}) {
			require.NoError(t, err)
			r.Record.Spec, r.Record.Components, r.Record.ID = g.Specs[i], g.Components, g.Specs[i].Name
			all = append(all, r)
			i++
		}
	}
	require.NoError(t, lab.Close())
	return all
}

func inputs(all ...*experiment.Result) []compare.Input {
	var out []compare.Input
	for _, r := range all {
		out = append(out, compare.Input{ID: r.Record.ID, Source: r.Source()})
	}
	return out
}

func loaded(t testing.TB, in []compare.Input, o compare.Options) []*compare.Loaded {
	t.Helper()
	var out []*compare.Loaded
	for _, x := range in {
		l, err := compare.Load(x, o)
		require.NoError(t, err)
		out = append(out, l)
	}
	return out
}
