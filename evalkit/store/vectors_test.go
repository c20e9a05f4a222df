package store

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/embed/vectorfile"
)

func TestVectorsRoundTrip(t *testing.T) {
	for _, n := range []int{0, 1, 3, batchRows, batchRows + 1} {
		v := evalkit.Vectors{Dim: 2, Data: make([]float32, 2*n)}
		keys := make([]vectorfile.Key, n)
		for i := range keys {
			v.Data[2*i], v.Data[2*i+1] = float32(math.Sqrt(float64(i))), -0.1
			keys[i] = vectorfile.KeyOf(evalkit.Passage, string(rune('a'+i)))
		}
		path := filepath.Join(t.TempDir(), "v.parquet")
		require.NoError(t, WriteVectors(path, v, keys))
		got, k, err := ReadVectors(path)
		require.NoError(t, err)
		assert.Equal(t, n, got.Len())
		assert.Equal(t, keys, k)
		if n > 0 {
			assert.Equal(t, v, got)
		}
	}
	assert.ErrorContains(t, WriteVectors("v.parquet", evalkit.Vectors{Dim: 1, Data: []float32{1}}, nil), "0 keys for 1 vectors")
}

// foreign writes a file as other programs do: rows is JSON, a row each.
func foreign(t *testing.T, rows string, fields ...arrow.Field) string {
	t.Helper()
	schema := arrow.NewSchema(fields, nil)
	b, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, bytes.NewReader([]byte(rows)))
	require.NoError(t, err)
	defer b.Release()
	path := filepath.Join(t.TempDir(), "v.parquet")
	f, err := os.Create(path)
	require.NoError(t, err)
	w, err := pqarrow.NewFileWriter(schema, f, parquet.NewWriterProperties(), pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	require.NoError(t, err)
	require.NoError(t, w.Write(b))
	require.NoError(t, w.Close())
	return path
}

func field(name string, t arrow.DataType) arrow.Field {
	return arrow.Field{Name: name, Type: t, Nullable: true}
}

// TestVectorsOfOtherPrograms reads the types that pandas, polars and Hugging
// Face datasets give columns of vectors and texts.
func TestVectorsOfOtherPrograms(t *testing.T) {
	text := field("text", arrow.BinaryTypes.String)
	for name, list := range map[string]arrow.DataType{
		"float64":    arrow.ListOf(arrow.PrimitiveTypes.Float64),
		"float32":    arrow.ListOf(arrow.PrimitiveTypes.Float32),
		"float16":    arrow.ListOf(arrow.FixedWidthTypes.Float16),
		"large list": arrow.LargeListOf(arrow.PrimitiveTypes.Float64),
		"fixed list": arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float32),
	} {
		t.Run(name, func(t *testing.T) {
			path := foreign(t, `[{"id": 7, "text": "a", "embedding": [1, 0]}, {"id": 8, "text": "bä", "embedding": [0.5, -2]}]`,
				field("id", arrow.PrimitiveTypes.Int64), text, field("embedding", list))
			v, keys, err := ReadVectors(path)
			require.NoError(t, err)
			assert.Equal(t, evalkit.Vectors{Dim: 2, Data: []float32{1, 0, 0.5, -2}}, v)
			assert.Equal(t, []vectorfile.Key{vectorfile.KeyOf("", "a"), vectorfile.KeyOf("", "bä")}, keys)
		})
	}
	vector := field("vector", arrow.ListOf(arrow.PrimitiveTypes.Float32))
	path := foreign(t, `[{"text": "a", "kind": "query", "vector": [1]}, {"text": "a", "kind": "passage", "vector": [-1]}, {"text": "b", "kind": null, "vector": [0]}]`,
		field("text", arrow.BinaryTypes.LargeString), field("kind", &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}), vector)
	_, keys, err := ReadVectors(path)
	require.NoError(t, err)
	assert.Equal(t, []vectorfile.Key{vectorfile.KeyOf(evalkit.Question, "a"), vectorfile.KeyOf(evalkit.Passage, "a"), vectorfile.KeyOf("", "b")}, keys)
	v, keys, err := ReadVectors(foreign(t, `[{"vector": [1, 2]}]`, vector))
	require.NoError(t, err)
	assert.Equal(t, 1, v.Len())
	assert.Nil(t, keys, "a file of ids is needed")
}

func TestVectorsAreRefusedWithTheReason(t *testing.T) {
	vector, text := field("vector", arrow.ListOf(arrow.PrimitiveTypes.Float32)), field("text", arrow.BinaryTypes.String)
	for want, path := range map[string]string{
		"v.parquet: row 1: 1 numbers, and 2 in the rows before": foreign(t, `[{"vector": [1, 2]}, {"vector": [1]}]`, vector),
		"row 1: no vector":                                   foreign(t, `[{"vector": [1, 2]}, {"vector": null}]`, vector),
		"row 0: number 1 is null":                            foreign(t, `[{"vector": [1, null]}]`, vector),
		"row 0: text: null":                                  foreign(t, `[{"vector": [1], "text": null}]`, vector, text),
		`row 0: key "a": want the SHA-256 of a text`:         foreign(t, `[{"vector": [1], "sha256": "a"}]`, vector, field("sha256", arrow.BinaryTypes.String)),
		`row 0: kind "both": want query, passage or nothing`: foreign(t, `[{"vector": [1], "text": "a", "kind": "both"}]`, vector, text, field("kind", arrow.BinaryTypes.String)),
		"row 0: text: of type int64: want strings":           foreign(t, `[{"vector": [1], "text": 1}]`, vector, field("text", arrow.PrimitiveTypes.Int64)),
		"want one of the columns vector and embedding":       foreign(t, `[{"text": "a"}]`, text),
		"vectors of type int64: want lists of numbers":       foreign(t, `[{"vector": 1}]`, field("vector", arrow.PrimitiveTypes.Int64)),
		"want lists of float16, float32 or float64":          foreign(t, `[{"vector": [1]}]`, field("vector", arrow.ListOf(arrow.PrimitiveTypes.Int64))),
		"not a readable Parquet file":                        damaged(t, "PAR1"),
		"no such file":                                       filepath.Join(t.TempDir(), "none.parquet"),
	} {
		_, _, err := ReadVectors(path)
		assert.ErrorContains(t, err, want)
	}
}

func damaged(t *testing.T, content string) string {
	path := filepath.Join(t.TempDir(), "v.parquet")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	return path
}
