package onnx

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
)

// miniLM opens the pulled model with further settings, or skips the test.
func miniLM(t testing.TB, settings string) *Model {
	t.Helper()
	withCgo(t)
	dir, err := Folder()
	if err != nil || !isFile(filepath.Join(dir, MiniLM, "model.safetensors")) || !isFile(filepath.Join(dir, runtimeFolder, libraryName(runtime.GOOS))) {
		t.Skip("the model is not there: get it with \"evalkit model pull minilm\"")
	}
	s, err := ParseSpec("minilm" + settings)
	require.NoError(t, err)
	m, err := New(s)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, m.Close()) })
	return m
}

// cosine returns the cosine of a row of length 1 and any vector.
func cosine(a []float32, b []float64) float64 {
	dot, square := 0.0, 0.0
	for i := range a {
		dot += float64(a[i]) * b[i]
		square += b[i] * b[i]
	}
	return dot / math.Sqrt(square)
}

// unpack reads 16-bit numbers, little endian, in base64.
func unpack(t *testing.T, s string) []float64 {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(s)
	require.NoError(t, err)
	out := make([]float64, len(raw)/2)
	for i := range out {
		out[i] = float64(int16(binary.LittleEndian.Uint16(raw[2*i:])))
	}
	return out
}

// TestReferenceVectors compares with sentence-transformers, whose vectors
// scripts/embed_reference.py writes: those of testdata, and all of them where
// EVALKIT_EMBED_REFERENCE names a file.
func TestReferenceVectors(t *testing.T) {
	m := miniLM(t, "")
	for _, path := range []string{filepath.Join("testdata", "minilm.json"), os.Getenv("EVALKIT_EMBED_REFERENCE")} {
		if path != "" {
			compareVectors(t, m, path)
		}
	}
}

func compareVectors(t *testing.T, m *Model, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	var r struct {
		Reference string
		Window    int
		Cases     []struct{ Text, Vector string }
	}
	require.NoError(t, json.Unmarshal(b, &r))
	require.GreaterOrEqual(t, len(r.Cases), 40)
	assert.Equal(t, r.Window, m.window)
	texts := make([]string, len(r.Cases))
	for i, c := range r.Cases {
		texts[i] = c.Text
	}
	v, err := m.Embed(t.Context(), evalkit.Passage, texts)
	require.NoError(t, err)
	lowest := 1.0
	for i, c := range r.Cases {
		got := cosine(v.Row(i), unpack(t, c.Vector))
		assert.GreaterOrEqual(t, got, 0.9999, "%.60q", c.Text)
		lowest = min(lowest, got)
	}
	t.Logf("%d texts, lowest cosine %.8f; %s", len(texts), lowest, r.Reference)
}
