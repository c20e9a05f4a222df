package compare_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit/compare"
)

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
