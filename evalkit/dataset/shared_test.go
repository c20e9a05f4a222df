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

// sharedData returns the path of a public data set that is not part of the
// project, or skips the test where it is not there.
func sharedData(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "shared", "data", name)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("public data set %s is not beside the checkout", name)
	}
	return dir
}

func qrelCount(ds *evalkit.Dataset) int {
	n := 0
	for _, q := range ds.Queries {
		n += len(q.Qrels)
	}
	return n
}

// TestPublicDatasets imports the public data sets, writes and loads them. The
// counts are those of their publications: 472 questions with 790 references;
// 1,190 questions on 48 articles; the test split of TAT-QA as rendered.
func TestPublicDatasets(t *testing.T) {
	for _, c := range []struct {
		format, src          string
		docs, queries, qrels int
	}{
		{"chroma", "chroma", 5, 472, 790},
		{"squad", "xquad/xquad.en.json", 48, 1190, 1190},
		{"squad", "xquad/xquad.de.json", 48, 1190, 1190},
		{"squad", "xquad/xquad.zh.json", 48, 1190, 1190},
		{"squad", "xquad/xquad.ar.json", 48, 1190, 1190},
		{"spans-json", "tatqa/tatqa-test.json", 277, 1660, 2774},
	} {
		t.Run(filepath.Base(c.src), func(t *testing.T) {
			src := sharedData(t, c.src)
			dst := filepath.Join(t.TempDir(), "out")
			ds, err := dataset.Import(c.format, src, dst, dataset.ImportOptions{Licence: "see source"})
			require.NoError(t, err)
			assert.Len(t, ds.Docs, c.docs)
			assert.Len(t, ds.Queries, c.queries)
			assert.Equal(t, c.qrels, qrelCount(ds))
			for _, w := range ds.Warnings {
				t.Log(w)
			}
			back, err := dataset.Load(dst)
			require.NoError(t, err)
			assert.Equal(t, ds.Fingerprint, back.Fingerprint)
			assert.Equal(t, ds.Queries, back.Queries)
		})
	}
}
