package vectorfile

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
)

var (
	texts   = []string{"a", "bä", "b,c\nd"}
	vectors = evalkit.Vectors{Dim: 2, Data: []float32{1, 0, 0.6, 0.8, 0, 0}}
)

func keys(kind evalkit.TextKind) []Key {
	var out []Key
	for _, t := range texts {
		out = append(out, KeyOf(kind, t))
	}
	return out
}

func TestEveryFormatRoundTrips(t *testing.T) {
	for _, name := range []string{"v.npy", "v.h5", "v.HDF5"} {
		dir := t.TempDir()
		path, ids := filepath.Join(dir, name), filepath.Join(dir, "ids.txt")
		require.NoError(t, Write(path, ids, vectors, keys("")))
		v, k, err := Read(path)
		require.NoError(t, err)
		assert.Equal(t, vectors, v)
		spec := fmt.Sprintf("precomputed(file=%q)", path)
		if k == nil {
			spec = fmt.Sprintf("precomputed(file=%q,ids=%q)", path, ids)
		} else {
			assert.Equal(t, keys(""), k)
		}
		e, err := evalkit.ParseExpr(spec)
		require.NoError(t, err)
		p, err := Opener(Read)(e)
		require.NoError(t, err)
		for _, kind := range []evalkit.TextKind{evalkit.Question, evalkit.Passage} {
			got, err := p.Embed(t.Context(), kind, []string{"bä", "", "a", "b,c\nd"})
			require.NoError(t, err)
			assert.Equal(t, evalkit.Vectors{Dim: 2, Data: []float32{0.6, 0.8, 0, 0, 1, 0, 0, 0}}, got)
		}
		again, err := evalkit.ParseExpr(p.String())
		require.NoError(t, err)
		q, err := Opener(Read)(again)
		require.NoError(t, err)
		assert.Equal(t, p.String(), q.String())
		assert.Equal(t, evalkit.Fingerprint(p), evalkit.Fingerprint(q))
	}
}

func TestKeyFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ids")
	write := func(s string) { require.NoError(t, os.WriteFile(path, []byte(s), 0o644)) }
	write(string(KeyOf("", "a")) + "\n\"b\\u00e4\"\r\n" + `{"text":"b,c\nd","kind":"query"}`)
	got, err := ReadKeys(path)
	require.NoError(t, err)
	assert.Equal(t, []Key{KeyOf("", "a"), KeyOf("", "bä"), KeyOf(evalkit.Question, "b,c\nd")}, got)
	for line, want := range map[string]string{
		"abc":                                   `:2: key "abc": want the SHA-256 of a text`,
		"":                                      `:2: key ""`,
		`{"kind":"query"}`:                      ":2: no text",
		`{"text":"a","kind":"both"}`:            `:2: kind "both": want query, passage or nothing`,
		`{"txt":"a"}`:                           `:2: json: unknown field "txt"`,
		`"a`:                                    ":2: unexpected end",
		strings.ToUpper(string(KeyOf("", "a"))): ":2: key",
	} {
		write("\"x\"\n" + line + "\n")
		_, err := ReadKeys(path)
		assert.ErrorContains(t, err, want)
	}
}

func open(t *testing.T, v evalkit.Vectors, k []Key) (*Precomputed, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "v.h5")
	require.NoError(t, Write(path, "", v, k))
	return New(path, "", Read)
}

func TestKindsAreKeptApart(t *testing.T) {
	v := evalkit.Vectors{Dim: 2, Data: []float32{1, 0, 0, 1}}
	p, err := open(t, v, []Key{KeyOf(evalkit.Question, "a"), KeyOf(evalkit.Passage, "a")})
	require.NoError(t, err)
	q, err := p.Embed(t.Context(), evalkit.Question, []string{"a"})
	require.NoError(t, err)
	assert.Equal(t, []float32{1, 0}, q.Data)
	q, err = p.Embed(t.Context(), evalkit.Passage, []string{"a"})
	require.NoError(t, err)
	assert.Equal(t, []float32{0, 1}, q.Data)
}

func TestHO_EM_04_VectorsThatAreNone(t *testing.T) {
	for want, x := range map[string]float32{"row 1: a vector of length NaN": float32(math.NaN()), "row 1: a vector of length +Inf": float32(math.Inf(-1))} {
		_, err := open(t, evalkit.Vectors{Dim: 2, Data: []float32{1, 0, x, 0, 0, 0}}, keys(""))
		assert.ErrorContains(t, err, want)
	}
	p, err := open(t, evalkit.Vectors{Dim: 2, Data: []float32{3, 4, 1e-30, 0, 0, 0}}, keys(""))
	require.NoError(t, err)
	got, err := p.Embed(t.Context(), evalkit.Passage, texts)
	require.NoError(t, err)
	assert.Equal(t, []float32{0.6, 0.8, 1, 0, 0, 0}, got.Data, "length 1, or no vector")
}

func TestHO_EM_02_MissingAndDoubleVectors(t *testing.T) {
	p, err := open(t, vectors, keys(""))
	require.NoError(t, err)
	_, err = p.Embed(t.Context(), evalkit.Passage, []string{"a", "new", "newer", ""})
	assert.ErrorContains(t, err, `no vector for 2 of 4 texts; the first is "new", passage:`)
	_, err = open(t, evalkit.Vectors{Dim: 1, Data: []float32{1, -1}}, []Key{KeyOf("", "a"), KeyOf("", "a")})
	assert.ErrorContains(t, err, "rows 0 and 1 differ and stand for the same text")
}

func TestFilesAreRefusedWithTheReason(t *testing.T) {
	dir := t.TempDir()
	npy, ids := filepath.Join(dir, "v.npy"), filepath.Join(dir, "ids")
	require.NoError(t, Write(npy, ids, vectors, keys("")))
	_, err := New(npy, "", Read)
	assert.ErrorContains(t, err, "does not say which texts its vectors stand for: give ids")
	require.NoError(t, os.WriteFile(ids, []byte("\"a\"\n"), 0o644))
	_, err = New(npy, ids, Read)
	assert.ErrorContains(t, err, "3 vectors, and 1 lines in")
	_, err = New(filepath.Join(dir, "v.parquet"), "", Read)
	assert.ErrorContains(t, err, "read from .npy, .h5, .hdf5 and, by the command, from .parquet")
	good := string(encodeNPY(vectors))
	for want, content := range map[string]string{
		"not a .npy file":         "x",
		"header of":               good[:20],
		"bytes for 3×2 numbers":   good[:len(good)-1],
		`numbers of type ">f4"`:   strings.Replace(good, "<f4", ">f4", 1),
		"columns first":           strings.Replace(good, "False", "True ", 1),
		"array of two dimensions": strings.Replace(good, "(3, 2)", "(6,)  ", 1),
	} {
		require.NoError(t, os.WriteFile(npy, []byte(content), 0o644))
		_, _, err := Read(npy)
		assert.ErrorContains(t, err, want)
	}
	for spec, want := range map[string]string{"precomputed": "file: not given", "precomputed(fil=x)": `unknown key "fil": did you mean "file"?`} {
		e, err := evalkit.ParseExpr(spec)
		require.NoError(t, err)
		_, err = Opener(Read)(e)
		assert.ErrorContains(t, err, want)
	}
}

func TestBenchmarkRoundTrips(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ann.hdf5")
	b := &Benchmark{Distance: "angular", Train: vectors, Test: evalkit.Vectors{Dim: 2, Data: []float32{1, 0}}, Neighbors: []int{0, 1}, Distances: []float32{0, 0.4}, K: 2}
	require.NoError(t, WriteBenchmark(path, b))
	got, err := ReadBenchmark(path)
	require.NoError(t, err)
	b.Distance = ""
	assert.Equal(t, b, got)
	b.Neighbors = []int{0, 3}
	assert.ErrorContains(t, WriteBenchmark(path, b), "neighbor 1 of query 0 is row 3 of 3")
}

// TestPythonAgrees exchanges files with numpy and h5py, where a python has
// them: the one that EVALKIT_PYTHON names, or python3.
func TestPythonAgrees(t *testing.T) {
	python := os.Getenv("EVALKIT_PYTHON")
	if python == "" {
		python = "python3"
	}
	if err := exec.CommandContext(t.Context(), python, "-c", "import h5py").Run(); err != nil {
		t.Skip("no python with h5py; name one in EVALKIT_PYTHON")
	}
	dir := t.TempDir()
	require.NoError(t, Write(filepath.Join(dir, "ours.npy"), filepath.Join(dir, "ours.txt"), vectors, keys("")))
	require.NoError(t, Write(filepath.Join(dir, "ours.h5"), "", vectors, keys("")))
	b := &Benchmark{Distance: "angular", Train: vectors, Test: vectors, Neighbors: []int{0, 1, 2}, Distances: []float32{0, 0, 0}, K: 1}
	require.NoError(t, WriteBenchmark(filepath.Join(dir, "ours.hdf5"), b))
	out, err := exec.CommandContext(t.Context(), python, filepath.Join("..", "..", "..", "scripts", "vectors_reference.py"), dir).CombinedOutput()
	require.NoError(t, err, string(out))
	for _, name := range []string{"theirs_f2.npy", "theirs_f4.npy", "theirs_f8.npy"} {
		v, _, err := Read(filepath.Join(dir, name))
		require.NoError(t, err, name)
		assert.Equal(t, 2, v.Dim)
		assert.InDeltaSlice(t, []float64{1, 0, 0.6, 0.8, 0, 0}, floats(v.Data), 1e-3, name)
	}
	p, err := New(filepath.Join(dir, "theirs.h5"), "", Read)
	require.NoError(t, err)
	v, err := p.Embed(t.Context(), evalkit.Passage, texts)
	require.NoError(t, err)
	assert.Equal(t, vectors, v)
	ann, err := ReadBenchmark(filepath.Join(dir, "theirs.hdf5"))
	require.NoError(t, err)
	assert.Equal(t, []int{2, 0, 1}, ann.Neighbors)
}

func floats(list []float32) []float64 {
	out := make([]float64, len(list))
	for i, x := range list {
		out[i] = float64(x)
	}
	return out
}

func FuzzParseNPY(f *testing.F) {
	f.Add(encodeNPY(vectors))
	f.Add([]byte(npyMagic + "\x02\x00\xff\xff\xff\xff{}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if v, err := parseNPY(b); err == nil && v.Dim > 0 {
			require.Zero(t, len(v.Data)%v.Dim)
		}
	})
}
