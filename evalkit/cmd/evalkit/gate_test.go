package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit/dataset"
	"github.com/chunkeval/chunkeval/evalkit/gate"
)

// TestHO_RUN_02_EightGatesAtOnce saves one baseline and writes one verdict from
// eight processes: one saves, and every file is whole.
func TestHO_RUN_02_EightGatesAtOnce(t *testing.T) {
	b := newBench(t, dataset.GenerateOptions{Seed: 5, Documents: 10, Questions: 40, Bytes: 40_000})
	b.write("run.yaml", "dataset: set\nstrategies: [fixed_size(size=60)]\nretriever: bm25\n")
	b.run("run", "run.yaml", "--quiet")
	eight := func(args ...string) (succeeded int, out string) {
		var wg sync.WaitGroup
		var mu sync.Mutex
		outs := make([]bytes.Buffer, 8)
		for i := range outs {
			c := b.start(&outs[i], args...)
			wg.Go(func() {
				if c.Wait() == nil {
					mu.Lock()
					succeeded++
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		for i := range outs {
			out += outs[i].String()
		}
		return succeeded, out
	}
	n, out := eight("baseline", "save", "run", "base.jsonl", "--reason", "first")
	assert.Equal(t, 1, n, out)
	assert.Equal(t, 7, strings.Count(out, "exists"), out)
	_, err := gate.ReadBaseline(b.path("base.jsonl"))
	require.NoError(t, err)

	n, out = eight("baseline", "update", "run", "base.jsonl", "--reason", "second")
	assert.Equal(t, 8, n, out)
	n, out = eight("gate", "--baseline", "base.jsonl", "--candidate", "run", "--markdown", "v.md", "--json", "v.json", "--junit", "v.xml")
	assert.Equal(t, 8, n, out)
	for name, end := range map[string]string{"v.md": "intervals 95 %.\n", "v.json": "}\n", "v.xml": "</testsuite>\n"} {
		text, err := os.ReadFile(b.path(name))
		require.NoError(t, err)
		assert.True(t, strings.HasSuffix(string(text), end), "%s ends with %q", name, text[max(0, len(text)-40):])
	}
	rest, err := filepath.Glob(b.path(".writing-*"))
	require.NoError(t, err)
	more, err := filepath.Glob(b.path("base.jsonl.*"))
	require.NoError(t, err)
	assert.Empty(t, append(rest, more...))
}
