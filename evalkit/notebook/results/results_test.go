package results

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit/experiment"
	"github.com/chunkeval/chunkeval/evalkit/internal/trial"
	"github.com/chunkeval/chunkeval/evalkit/store"
)

const config = "name: small\nstrategies: [fixed_size(size=100)]\nretriever: bm25\nqueries: ['h00*']\n"

func TestSaveKeepsTheIDOfAnEqualExperiment(t *testing.T) {
	root := t.TempDir()
	first, err := save(root, small(t))
	require.NoError(t, err)
	again, err := save(root, small(t))
	require.NoError(t, err)
	assert.Equal(t, first, again)

	other := small(t)
	*other.Strategies[0].Summary[0].Mean /= 2 // the library computes something else now
	id, err := save(root, other)
	require.NoError(t, err)
	assert.NotEqual(t, first, id)

	renamed := small(t)
	renamed.Record.Spec.Name = "renamed"
	id, err = save(root, renamed)
	require.NoError(t, err)
	assert.Contains(t, id, "renamed")
	entries, err := os.ReadDir(root)
	require.NoError(t, err)
	assert.Len(t, entries, 3)
	x, err := store.Open(root, first)
	require.NoError(t, err)
	assert.Equal(t, "small", x.Record.Spec.Name)
}

func small(t *testing.T) *experiment.Result {
	r := trial.Handbook(t, config)[0]
	r.Record.Fingerprint = "0123456789abcdef"
	return r
}

func TestDir(t *testing.T) {
	assert.Equal(t, "../results", Dir())
	t.Setenv("EVALKIT_RESULTS", "elsewhere")
	assert.Equal(t, "elsewhere", Dir())
}
