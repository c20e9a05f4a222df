package hdf5

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func example() ([]Set, map[string]any) {
	return []Set{
		{"vectors", []int{3, 2}, []float32{1, -2.5, 3, 4, 5, 6}},
		{"neighbors", []int{2, 2}, []int32{0, -1, 2, 1 << 30}},
		{"ids", []int{3}, []string{"a", "bä#1", ""}},
		{"none", []int{0, 4}, []float32{}},
	}, map[string]any{"distance": "angular", "dimension": 2, "model": "x(y=1)"}
}

func TestWriteThenRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.h5")
	sets, attributes := example()
	require.NoError(t, Write(path, sets, attributes))
	f, err := Open(path)
	require.NoError(t, err)
	assert.Equal(t, []string{"ids", "neighbors", "none", "vectors"}, f.Names())
	v, err := f.Array("vectors")
	require.NoError(t, err)
	assert.Equal(t, []int{3, 2}, v.Shape)
	floats, err := v.Floats()
	require.NoError(t, err)
	assert.Equal(t, sets[0].Data, floats)
	n, err := f.Array("neighbors")
	require.NoError(t, err)
	ints, err := n.Ints()
	require.NoError(t, err)
	assert.Equal(t, []int{0, -1, 2, 1 << 30}, ints)
	s, err := f.Array("ids")
	require.NoError(t, err)
	strs, err := s.Strings()
	require.NoError(t, err)
	assert.Equal(t, sets[2].Data, strs)
	_, err = s.Floats()
	assert.ErrorContains(t, err, "strings, not numbers")
	_, err = f.Array("vektors")
	assert.ErrorContains(t, err, `no data set "vektors": there are ids, neighbors, none, vectors`)
	empty, err := f.Array("none")
	require.NoError(t, err)
	assert.Equal(t, []int{0, 4}, empty.Shape)

	again := filepath.Join(t.TempDir(), "y.h5")
	require.NoError(t, Write(again, sets, attributes))
	a, err := os.ReadFile(path)
	require.NoError(t, err)
	b, err := os.ReadFile(again)
	require.NoError(t, err)
	assert.Equal(t, a, b, "same arguments, same bytes")
}

func TestWriteRefuses(t *testing.T) {
	many := make([]Set, 9)
	for i := range many {
		many[i] = Set{string(rune('a' + i)), []int{1}, []float32{1}}
	}
	for want, sets := range map[string][]Set{
		"9 sets: at most 8":                  many,
		`set "a/b": want a name without`:     {{"a/b", []int{1}, []float32{1}}},
		`set "a": 1 elements for shape [2]`:  {{"a", []int{2}, []float32{1}}},
		`set "a": -1 elements for shape [1]`: {{"a", []int{1}, []float64{1}}},
		`set "a": given twice`:               {{"a", []int{1}, []float32{1}}, {"a", []int{1}, []float32{1}}},
		`set "a": string 0 holds a NUL`:      {{"a", []int{1}, []string{"x\x00y"}}},
	} {
		assert.ErrorContains(t, Write(filepath.Join(t.TempDir(), "x.h5"), sets, nil), want)
	}
	assert.ErrorContains(t, Write(filepath.Join(t.TempDir(), "x.h5"), nil, map[string]any{"a": 1.5}), "neither a string nor an int")
}

// TestFilesOfH5py reads what scripts/hdf5_reference.py wrote in each of the
// forms that h5py knows: the numbers are i/8 - 4 at place i of 40 rows of 6.
func TestFilesOfH5py(t *testing.T) {
	for _, name := range []string{"plain", "gzip", "latest"} {
		t.Run(name, func(t *testing.T) {
			f, err := Open(filepath.Join("testdata", name+".h5"))
			require.NoError(t, err)
			assert.Equal(t, []string{"big", "deep/er/half", "double", "fixed", "ids", "long", "single"}, f.Names())
			for _, set := range []string{"single", "double", "big", "deep/er/half", "long"} {
				a, err := f.Array(set)
				require.NoError(t, err, set)
				assert.Equal(t, []int{40, 6}, a.Shape)
				got, err := a.Floats()
				require.NoError(t, err, set)
				for i, x := range got {
					want := float32(i)/8 - 4
					if set == "long" {
						want = float32(i - 100)
					}
					require.Equal(t, want, x, "%s %d", set, i)
				}
			}
			for _, set := range []string{"ids", "fixed"} {
				a, err := f.Array(set)
				require.NoError(t, err)
				got, err := a.Strings()
				require.NoError(t, err)
				assert.Equal(t, []string{"first", "zweïte", "", "#4"}, got, set)
			}
		})
	}
	f, err := Open(filepath.Join("testdata", "unread.h5"))
	require.NoError(t, err)
	_, err = f.Array("lzf")
	assert.ErrorContains(t, err, "filter 32000 is not read")
	_, err = f.Array("pairs")
	assert.ErrorContains(t, err, "elements of class 6 are not read")
}

func TestHalf(t *testing.T) {
	for bits, want := range map[uint16]float32{0: 0, 0x3C00: 1, 0xC000: -2, 0x7BFF: 65504, 0x0001: 5.9604645e-08, 0x3555: 0.33325195} {
		assert.Equal(t, want, Half(bits))
	}
}

func FuzzParse(f *testing.F) {
	sets, attributes := example()
	b, err := encode(sets, attributes)
	require.NoError(f, err)
	f.Add(b)
	names, err := filepath.Glob(filepath.Join("testdata", "*.h5"))
	require.NoError(f, err)
	for _, name := range names {
		b, err := os.ReadFile(name)
		require.NoError(f, err)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse(data)
		if err != nil {
			return
		}
		for _, name := range file.Names() {
			a, err := file.Array(name)
			if err != nil {
				continue
			}
			floats, err := a.Floats()
			if err == nil {
				require.Len(t, floats, a.Len())
			}
			_, _ = a.Strings()
		}
	})
}
