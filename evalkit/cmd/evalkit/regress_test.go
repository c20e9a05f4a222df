package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
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
	for _, name := range []string{"table.txt", "watch.md", "watch.xml", "watch.json", "watch.html", "watch.txt", "watch.trend.html"} {
		assert.FileExists(t, b.path(filepath.Join("out", name)))
	}
	assert.Equal(t, 1, regress("broken.yaml", "out2"), "a planted regression")
	assert.Equal(t, 0, regress("watch.yaml", "out"), "the Experiment of this run is judged, not the newest")
	require.NoError(t, os.Remove(b.path("baselines/watch.jsonl")))
	assert.Equal(t, 2, regress("watch.yaml", "out3"), "no baseline")
	assert.Equal(t, 2, regress("nothing.yaml", "out4"), "no configuration")
}

// TestExampleWorkflow runs the steps of scripts/ci-example.yml with this program.
func TestExampleWorkflow(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the handbook")
	}
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash")
	}
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(root, "scripts", "ci-example.yml"))
	require.NoError(t, err)
	var flow struct {
		Jobs map[string]struct {
			Steps []struct {
				Name string `yaml:"name"`
				Run  string `yaml:"run"`
			} `yaml:"steps"`
		} `yaml:"jobs"`
	}
	require.NoError(t, yaml.Unmarshal(text, &flow))
	dir := t.TempDir()
	for _, name := range []string{"scripts", "reports", "datasets"} {
		require.NoError(t, os.Symlink(filepath.Join(root, name), filepath.Join(dir, name)))
	}
	self, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "bin"), 0o755))
	require.NoError(t, os.Symlink(self, filepath.Join(dir, "bin", "evalkit")))
	ran := 0
	for _, step := range flow.Jobs["gate"].Steps {
		if step.Run == "" || step.Name == "build" {
			continue
		}
		c := exec.Command("bash", "-e", "-c", step.Run)
		c.Dir = dir
		c.Env = append(os.Environ(), "XDG_CACHE_HOME="+filepath.Join(dir, "cache"), "GITHUB_STEP_SUMMARY="+filepath.Join(dir, "summary.md"))
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s\n%s", step.Run, out)
		ran++
	}
	require.Equal(t, 2, ran)
	summary, err := os.ReadFile(filepath.Join(dir, "summary.md"))
	require.NoError(t, err)
	assert.Equal(t, 2, strings.Count(string(summary), "Retrieval: pass"), "the baselines of this project hold")
}
