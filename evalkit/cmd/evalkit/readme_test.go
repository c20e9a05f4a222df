package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// readmeBlocks returns the indented blocks of README.md without their indent.
func readmeBlocks(t *testing.T) []string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "README.md"))
	require.NoError(t, err)
	var out []string
	for _, block := range regexp.MustCompile(`(?m)(?:^    .*\n|^\n)+`).FindAllString(string(b), -1) {
		if block = strings.Trim(regexp.MustCompile(`(?m)^    `).ReplaceAllString(block, ""), "\n"); block != "" {
			out = append(out, block)
		}
	}
	return out
}

// words splits a command as a shell does, for what the README uses of it.
func words(line string) []string {
	var out []string
	for _, w := range regexp.MustCompile(`'[^']*'|\S+`).FindAllString(line, -1) {
		out = append(out, strings.Trim(w, "'"))
	}
	return out
}

// TestReadme builds the data set that README.md describes, runs every command
// that begins with bin/evalkit, and compares what the README shows of a tree.
func TestReadme(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.Symlink(filepath.Join(root, "datasets"), filepath.Join(dir, "datasets")))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "mydata", "documents"), 0o755))
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(text+"\n"), 0o644))
	}
	write("mydata/dataset.yaml", "name: mydata\nlanguage: en")
	write("mydata/documents/a.md", "# Travel\n\nTravel is approved by the team lead.")
	blocks := readmeBlocks(t)
	for _, b := range blocks {
		switch {
		case strings.HasPrefix(b, `{"id"`):
			write("mydata/queries.jsonl", b)
		case strings.HasPrefix(b, "dataset:"):
			write("mine.yaml", b)
		}
	}
	t.Chdir(dir)
	ran := 0
	for _, b := range blocks {
		text := strings.TrimPrefix(strings.ReplaceAll(b, "\\\n", " "), "$ ")
		if !strings.HasPrefix(text, "bin/evalkit ") {
			continue
		}
		command, shown, _ := strings.Cut(text, "\n")
		out, stderr, err := capture(t, words(command)[1:]...)
		require.NoError(t, err, "%s\n%s", command, stderr)
		for line := range strings.Lines(strings.TrimSpace(shown)) {
			assert.Contains(t, out, strings.TrimSpace(line))
		}
		ran++
	}
	assert.GreaterOrEqual(t, ran, 4)
}
