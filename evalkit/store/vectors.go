package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/embed/vectorfile"
)

// A VectorRow is a row of a file of vectors.
type VectorRow struct {
	Key    string    `arrow:"sha256" doc:"of the text, in hex, after query: or passage: if the vector is for one kind alone"`
	Vector []float32 `arrow:"vector"`
}

// WriteVectors makes a file that ReadVectors reads.
func WriteVectors(path string, v evalkit.Vectors, keys []vectorfile.Key) error {
	if len(keys) != v.Len() {
		return fmt.Errorf("write %s: %d keys for %d vectors", path, len(keys), v.Len())
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	err = writeTable(struct{ io.Writer }{f}, vectorRows(v, keys)) // which would close a file
	return errors.Join(err, f.Close())
}

func vectorRows(v evalkit.Vectors, keys []vectorfile.Key) iter.Seq[[]VectorRow] {
	return func(yield func([]VectorRow) bool) {
		rows := make([]VectorRow, 0, batchRows)
		for i, k := range keys {
			rows = append(rows, VectorRow{string(k), v.Row(i)})
			if len(rows) == batchRows || i+1 == len(keys) {
				if !yield(rows) {
					return
				}
				rows = rows[:0]
			}
		}
	}
}

// ReadVectors reads a Parquet file of vectors, as they stand: "vector" or
// "embedding", lists of one length of 16, 32 or 64 bit numbers. Which text a
// vector stands for says "sha256" (see vectorfile.Key) or "text", with an
// optional "kind" that is "query", "passage" or empty; without either, keys is
// nil. Other columns are ignored.
func ReadVectors(path string) (v evalkit.Vectors, keys []vectorfile.Key, err error) {
	r := vectorReader{}
	if err = r.file(path); err != nil {
		return evalkit.Vectors{}, nil, fmt.Errorf("%s: %w", path, err)
	}
	return r.vectors, r.keys, nil
}

type vectorReader struct {
	vectors evalkit.Vectors
	keys    []vectorfile.Key
	rows    int
}

func (r *vectorReader) file(path string) (err error) {
	defer func() {
		if p := recover(); p != nil { // the reader panics on some damaged pages
			err = fmt.Errorf("damaged: %v", p)
		}
	}()
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	pf, err := file.NewParquetReader(f)
	if err != nil {
		return fmt.Errorf("not a readable Parquet file: %w", err)
	}
	defer pf.Close()
	fr, err := pqarrow.NewFileReader(pf, pqarrow.ArrowReadProperties{BatchSize: batchRows}, memory.DefaultAllocator)
	if err != nil {
		return err
	}
	leaves, err := r.columns(pf)
	if err != nil {
		return err
	}
	rr, err := fr.GetRecordReader(context.Background(), leaves, nil)
	if err != nil {
		return err
	}
	defer rr.Release()
	for rr.Next() {
		if err := r.batch(rr.RecordBatch()); err != nil {
			return err
		}
	}
	return rr.Err()
}

// columns returns the leaves of those columns that are read.
func (r *vectorReader) columns(pf *file.Reader) (leaves []int, err error) {
	s := pf.MetaData().Schema
	var names []string
	for i := range s.NumColumns() {
		name := s.ColumnRoot(i).Name()
		names = append(names, name)
		if slices.Contains([]string{"vector", "embedding", "sha256", "text", "kind"}, name) {
			leaves = append(leaves, i)
		}
	}
	has := func(name string) bool { return slices.Contains(names, name) }
	if has("vector") == has("embedding") {
		return nil, fmt.Errorf("want one of the columns vector and embedding; it has %q", names)
	}
	if has("sha256") || has("text") {
		r.keys = []vectorfile.Key{}
	}
	return leaves, nil
}

func (r *vectorReader) batch(b arrow.RecordBatch) error {
	column := func(names ...string) arrow.Array {
		for _, name := range names {
			if i := b.Schema().FieldIndices(name); len(i) == 1 {
				return b.Column(i[0])
			}
		}
		return nil
	}
	numbers, err := numbersOf(column("vector", "embedding"))
	if err != nil {
		return err
	}
	sum, text, kind := column("sha256"), column("text"), column("kind")
	for i := range int(b.NumRows()) {
		row, err := numbers(i)
		if err == nil && r.rows > 0 && len(row) != r.vectors.Dim {
			err = fmt.Errorf("%d numbers, and %d in the rows before", len(row), r.vectors.Dim)
		}
		if err != nil {
			return fmt.Errorf("row %d: %w", r.rows, err)
		}
		r.vectors.Dim, r.vectors.Data = len(row), append(r.vectors.Data, row...)
		if r.keys != nil {
			key, err := keyOf(sum, text, kind, i)
			if err != nil {
				return fmt.Errorf("row %d: %w", r.rows, err)
			}
			r.keys = append(r.keys, key)
		}
		r.rows++
	}
	return nil
}

// keyOf returns the key in row i: that in sum, else that of the text.
func keyOf(sum, text, kind arrow.Array, i int) (vectorfile.Key, error) {
	if sum != nil {
		s, err := stringIn(sum, i)
		if err != nil {
			return "", fmt.Errorf("sha256: %w", err)
		}
		return vectorfile.ParseKey(s)
	}
	t, err := stringIn(text, i)
	if err != nil {
		return "", fmt.Errorf("text: %w", err)
	}
	k := ""
	if kind != nil && kind.IsValid(i) {
		if k, err = stringIn(kind, i); err != nil {
			return "", fmt.Errorf("kind: %w", err)
		}
	}
	if err := vectorfile.CheckKind(evalkit.TextKind(k)); err != nil {
		return "", err
	}
	return vectorfile.KeyOf(evalkit.TextKind(k), t), nil
}

func stringIn(a arrow.Array, i int) (string, error) {
	if a.IsNull(i) {
		return "", errors.New("null")
	}
	if d, ok := a.(*array.Dictionary); ok {
		return stringIn(d.Dictionary(), d.GetValueIndex(i))
	}
	if s, ok := a.(array.StringLike); ok {
		return s.Value(i), nil
	}
	return "", fmt.Errorf("of type %s: want strings", a.DataType())
}

// numbersOf returns what reads one row of a column of vectors.
func numbersOf(a arrow.Array) (func(i int) ([]float32, error), error) {
	lists, ok := a.(array.ListLike)
	if !ok {
		return nil, fmt.Errorf("vectors of type %s: want lists of numbers", a.DataType())
	}
	values := lists.ListValues()
	var at func(i int) float32
	switch x := values.(type) {
	case *array.Float16:
		at = func(i int) float32 { return x.Value(i).Float32() }
	case *array.Float32:
		at = x.Value
	case *array.Float64:
		at = func(i int) float32 { return float32(x.Value(i)) }
	default:
		return nil, fmt.Errorf("vectors of type %s: want lists of float16, float32 or float64", a.DataType())
	}
	return func(i int) ([]float32, error) {
		if lists.IsNull(i) {
			return nil, errors.New("no vector")
		}
		start, end := lists.ValueOffsets(i)
		row := make([]float32, 0, end-start)
		for j := int(start); j < int(end); j++ {
			if values.IsNull(j) {
				return nil, fmt.Errorf("number %d is null", j-int(start))
			}
			row = append(row, at(j))
		}
		return row, nil
	}, nil
}
