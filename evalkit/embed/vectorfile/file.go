package vectorfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/internal/hdf5"
)

// The names of the arrays in an HDF5 file of vectors.
const (
	setVectors = "vectors" // n×dim, float32
	setKeys    = "sha256"  // n strings; see Key
)

// Read reads the vectors of a .npy or .h5 file, one row each, as they stand.
// keys is nil unless the file holds them: an HDF5 file has vectors in "vectors"
// and keys in "sha256".
func Read(path string) (v evalkit.Vectors, keys []Key, err error) {
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".npy":
		v, err = readNPY(path)
	case ".h5", ".hdf5":
		v, keys, err = readHDF5(path)
	default:
		return v, nil, fmt.Errorf("%s: vectors are read from .npy, .h5, .hdf5 and, by the command, from .parquet", path)
	}
	if err == nil && keys != nil && len(keys) != v.Len() {
		err = fmt.Errorf("%s: %d keys for %d vectors", path, len(keys), v.Len())
	}
	return v, keys, err
}

func readHDF5(path string) (v evalkit.Vectors, keys []Key, err error) {
	f, err := hdf5.Open(path)
	if err != nil {
		return v, nil, err
	}
	if v, err = matrix(f, setVectors); err != nil {
		return v, nil, fmt.Errorf("%s: %w", path, err)
	}
	if !slices.Contains(f.Names(), setKeys) {
		return v, nil, nil
	}
	a, err := f.Array(setKeys)
	if err != nil {
		return v, nil, fmt.Errorf("%s: %w", path, err)
	}
	texts, err := a.Strings()
	if err != nil {
		return v, nil, fmt.Errorf("%s: data set %q: %w", path, setKeys, err)
	}
	keys = make([]Key, len(texts))
	for i, t := range texts {
		if keys[i] = Key(t); keys[i].check() != nil {
			return v, nil, fmt.Errorf("%s: data set %q: row %d: %w", path, setKeys, i, keys[i].check())
		}
	}
	return v, keys, nil
}

// matrix reads an array of two dimensions.
func matrix(f *hdf5.File, name string) (evalkit.Vectors, error) {
	a, err := f.Array(name)
	if err != nil {
		return evalkit.Vectors{}, err
	}
	if len(a.Shape) != 2 {
		return evalkit.Vectors{}, fmt.Errorf("data set %q: has %d dimensions, want 2", name, len(a.Shape))
	}
	data, err := a.Floats()
	if err != nil {
		return evalkit.Vectors{}, fmt.Errorf("data set %q: %w", name, err)
	}
	return evalkit.Vectors{Dim: a.Shape[1], Data: data}, nil
}

// Write makes a file that Read reads: .h5 or .hdf5 with vectors and keys, or
// .npy with the vectors, and then the keys, one a line, in keysPath.
func Write(path, keysPath string, v evalkit.Vectors, keys []Key) error {
	if len(keys) != v.Len() {
		return fmt.Errorf("write %s: %d keys for %d vectors", path, len(keys), v.Len())
	}
	texts := make([]string, len(keys))
	for i, k := range keys {
		if err := k.check(); err != nil {
			return fmt.Errorf("write %s: row %d: %w", path, i, err)
		}
		texts[i] = string(k)
	}
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".npy":
		lines := strings.Join(append(texts, ""), "\n")
		return errors.Join(os.WriteFile(path, encodeNPY(v), 0o666), os.WriteFile(keysPath, []byte(lines), 0o666))
	case ".h5", ".hdf5":
		return hdf5.Write(path, []hdf5.Set{
			{Name: setVectors, Shape: []int{v.Len(), v.Dim}, Data: v.Data},
			{Name: setKeys, Shape: []int{len(texts)}, Data: texts},
		}, nil)
	}
	return fmt.Errorf("write %s: vectors are written to .npy, .h5 and .hdf5", path)
}

// A Benchmark is a file in the layout of ann-benchmarks: vectors to search,
// queries, and for each query the rows of its nearest vectors, nearest first,
// with their distances.
type Benchmark struct {
	Distance  string // "angular", "euclidean", …; not read back
	Train     evalkit.Vectors
	Test      evalkit.Vectors
	Neighbors []int // len(Test)×K rows of Train
	Distances []float32
	K         int
}

// ReadBenchmark reads the arrays train, test, neighbors and distances.
func ReadBenchmark(path string) (*Benchmark, error) {
	b, err := readBenchmark(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return b, nil
}

func readBenchmark(path string) (*Benchmark, error) {
	f, err := hdf5.Open(path)
	if err != nil {
		return nil, err
	}
	b := &Benchmark{}
	if b.Train, err = matrix(f, "train"); err != nil {
		return nil, err
	}
	if b.Test, err = matrix(f, "test"); err != nil {
		return nil, err
	}
	d, err := matrix(f, "distances")
	if err != nil {
		return nil, err
	}
	b.Distances, b.K = d.Data, d.Dim
	n, err := f.Array("neighbors")
	if err != nil {
		return nil, err
	}
	if b.Neighbors, err = n.Ints(); err != nil {
		return nil, fmt.Errorf("data set %q: %w", "neighbors", err)
	}
	return b, b.check()
}

func (b *Benchmark) check() error {
	switch want := b.Test.Len() * b.K; {
	case b.Train.Dim != b.Test.Dim:
		return fmt.Errorf("train has %d dimensions, test %d", b.Train.Dim, b.Test.Dim)
	case len(b.Neighbors) != want || len(b.Distances) != want:
		return fmt.Errorf("%d neighbors and %d distances for %d queries of %d", len(b.Neighbors), len(b.Distances), b.Test.Len(), b.K)
	}
	for i, n := range b.Neighbors {
		if n < 0 || n >= b.Train.Len() {
			return fmt.Errorf("neighbor %d of query %d is row %d of %d", i%b.K, i/b.K, n, b.Train.Len())
		}
	}
	return nil
}

// WriteBenchmark makes a file that ReadBenchmark and ann-benchmarks read.
func WriteBenchmark(path string, b *Benchmark) error {
	if err := b.check(); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	neighbors := make([]int32, len(b.Neighbors))
	for i, n := range b.Neighbors {
		neighbors[i] = int32(n)
	}
	queries := b.Test.Len()
	return hdf5.Write(path, []hdf5.Set{
		{Name: "train", Shape: []int{b.Train.Len(), b.Train.Dim}, Data: b.Train.Data},
		{Name: "test", Shape: []int{queries, b.Test.Dim}, Data: b.Test.Data},
		{Name: "neighbors", Shape: []int{queries, b.K}, Data: neighbors},
		{Name: "distances", Shape: []int{queries, b.K}, Data: b.Distances},
	}, map[string]any{"distance": b.Distance, "dimension": b.Train.Dim, "type": "dense", "point_type": "float"})
}
