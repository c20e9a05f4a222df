package dataset_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/dataset"
)

func TestDocuments(t *testing.T) {
	put := func(dir, name, text string) {
		t.Helper()
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	dir := t.TempDir()
	put(dir, "b.md", "\ufeffB")
	put(dir, "a/deep.txt", "A")
	put(dir, ".hidden/x.md", "no")
	put(dir, "x.pdf", "no")
	put(dir, "blank.md", " ")
	docs, warnings, err := dataset.Documents(dir)
	require.NoError(t, err)
	assert.Equal(t, []evalkit.Document{{ID: "a/deep.txt", Text: "A"}, {ID: "b.md", Text: "B"}, {ID: "blank.md", Text: " "}}, docs)
	assert.Len(t, warnings, 2)

	set := t.TempDir()
	put(set, "documents/a.md", "A")
	put(set, "readme.md", "not a document")
	docs, _, err = dataset.Documents(set)
	require.NoError(t, err)
	assert.Equal(t, []evalkit.Document{{ID: "a.md", Text: "A"}}, docs, "of a data set, its documents alone")

	for name, text := range map[string]string{"no documents": "", "invalid UTF-8": "\xff"} {
		dir := t.TempDir()
		if text != "" {
			put(dir, "a.md", text)
		}
		_, _, err = dataset.Documents(dir)
		require.ErrorContains(t, err, name)
	}
	_, _, err = dataset.Documents(filepath.Join(dir, "nowhere"))
	require.Error(t, err)
}
