package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit/dataset"
)

// TestRegressScript runs scripts/regress.sh as a CI job would: it passes on an
// unchanged state, fails on a planted regression, and leaves its files.
func TestRegressScript(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash")
	}
	b := newBench(t, dataset.GenerateOptions{Seed: 3, Documents: 20, Questions: 80, Bytes: 100_000})
	script, err := filepath.Abs("../../../scripts/regress.sh")
	require.NoError(t, err)
	b.write("watch.yaml", "name: watch\ndataset: set\nstrategies: [fixed_size(size=100)]\nretriever: bm25\n")
	b.write("broken.yaml", "name: watch\ndataset: set\nstrategies: [fixed_size(size=100)]\nretriever: bm25\ntop_k: 1\n")
	b.run("run", "watch.yaml", "--quiet")
	require.NoError(t, os.Mkdir(b.path("baselines"), 0o755))
	b.run("baseline", "save", "watch", "baselines/watch.jsonl", "--reason", "a test")
	regress := func(config, out string) int {
		c := exec.Command("bash", script, config, "baselines", out)
		c.Dir = b.dir
		c.Env = append(os.Environ(), "EVALKIT="+b.path("evalkit"), "XDG_CACHE_HOME="+b.path("user-cache"))
		err := c.Run()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return exit.ExitCode()
		}
		require.NoError(t, err)
		return 0
	}
	assert.Equal(t, 0, regress("watch.yaml", "out"))
	for _, name := range []string{"table.txt", "watch.md", "watch.xml", "watch.json", "watch.html", "trend.html"} {
		assert.FileExists(t, b.path(filepath.Join("out", name)))
	}
	assert.Equal(t, 1, regress("broken.yaml", "out2"), "a planted regression")
	require.NoError(t, os.Remove(b.path("baselines/watch.jsonl")))
	assert.Equal(t, 2, regress("watch.yaml", "out3"), "no baseline")
}
