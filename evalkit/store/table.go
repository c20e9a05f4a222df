package store

import (
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"reflect"
	"slices"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/array/arreflect"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/chunkeval/chunkeval/evalkit/experiment"
)

// batchRows is the number of rows converted at a time; it bounds memory.
const batchRows = 1 << 15

// schemaOf returns the schema of the row type T with the meaning of its
// columns in the metadata.
func schemaOf[T any]() (*arrow.Schema, error) {
	s, err := arreflect.InferSchema[T]()
	if err != nil {
		return nil, err
	}
	keys := []string{"schema_version"}
	values := []string{strconv.Itoa(experiment.SchemaVersion)}
	t := reflect.TypeFor[T]()
	for field := range t.Fields() {
		tag := field.Tag
		doc := tag.Get("doc")
		if unit := tag.Get("unit"); unit != "" {
			doc += " [" + unit + "]"
		}
		if doc != "" {
			keys, values = append(keys, "column."+tag.Get("arrow")), append(values, doc)
		}
	}
	meta := arrow.NewMetadata(keys, values)
	return arrow.NewSchema(s.Fields(), &meta), nil
}

// writeTable writes the rows of all parts to w as Parquet with zstd.
func writeTable[T any](w io.Writer, parts iter.Seq[[]T]) (err error) {
	schema, err := schemaOf[T]()
	if err != nil {
		return err
	}
	props := parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Zstd), parquet.WithCreatedBy("evalkit"))
	pw, err := pqarrow.NewFileWriter(schema, w, props, pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	if err != nil {
		return err
	}
	defer func() {
		if cerr := pw.Close(); err == nil {
			err = cerr
		}
	}()
	for part := range parts {
		for rows := range slices.Chunk(part, batchRows) {
			if err := writeBatch(pw, schema, rows); err != nil {
				return err
			}
		}
	}
	return nil
}

func writeBatch[T any](pw *pqarrow.FileWriter, schema *arrow.Schema, rows []T) error {
	rec, err := arreflect.RecordFromSlice(rows, memory.DefaultAllocator)
	if err != nil {
		return err
	}
	defer rec.Release()
	rec = array.NewRecordBatch(schema, rec.Columns(), rec.NumRows())
	defer rec.Release()
	return pw.Write(rec)
}

// A TableError is a table that cannot be read.
type TableError struct {
	File string
	Err  error
}

func (e *TableError) Error() string {
	return fmt.Sprintf("%s: incomplete or damaged: %v; run the Experiment again", e.File, e.Err)
}

// Unwrap returns the cause.
func (e *TableError) Unwrap() error { return e.Err }

// readTable yields the rows of a file, batch by batch, and the names of the
// columns that T does not know. Columns that the file lacks are left zero: a
// field that can be missing is a pointer or a slice. With a strategy, row groups
// that cannot hold it are skipped.
func readTable[T any](name, strategy string) iter.Seq2[[]T, error] {
	return func(yield func([]T, error) bool) {
		stopped := false
		err := readBatches(name, strategy, func(rows []T) bool {
			stopped = !yield(rows, nil)
			return !stopped
		})
		if err != nil && !stopped {
			yield(nil, &TableError{name, err})
		}
	}
}

func readBatches[T any](name, strategy string, yield func([]T) bool) (err error) {
	defer func() {
		if p := recover(); p != nil { // the reader panics on some damaged pages
			err = fmt.Errorf("%v", p)
		}
	}()
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	pf, err := file.NewParquetReader(f)
	if err != nil {
		return err
	}
	defer pf.Close()
	r, err := pqarrow.NewFileReader(pf, pqarrow.ArrowReadProperties{BatchSize: batchRows}, memory.DefaultAllocator)
	if err != nil {
		return err
	}
	columns, err := knownColumns[T](pf)
	if err != nil {
		return err
	}
	groups := groupsOf(pf, strategy)
	if len(groups) == 0 {
		return nil
	}
	rr, err := r.GetRecordReader(context.Background(), columns, groups)
	if err != nil {
		return err
	}
	defer rr.Release()
	for rr.Next() {
		rows, err := arreflect.RecordToSlice[T](rr.RecordBatch())
		if err != nil {
			return err
		}
		if !yield(rows) {
			return nil
		}
	}
	if err := rr.Err(); err != nil && err != io.EOF {
		return err
	}
	return nil
}

// groupsOf returns the row groups that can hold rows of a strategy, by the
// smallest and largest value of their first column; all for no strategy.
func groupsOf(pf *file.Reader, strategy string) []int {
	var out []int
	for i := range pf.NumRowGroups() {
		if strategy == "" || mayHold(pf.RowGroup(i).MetaData(), strategy) {
			out = append(out, i)
		}
	}
	return out
}

func mayHold(group *metadata.RowGroupMetaData, strategy string) bool {
	column, err := group.ColumnChunk(0)
	if err != nil {
		return true
	}
	stats, err := column.Statistics()
	if err != nil || stats == nil || !stats.HasMinMax() || column.PathInSchema().String() != "strategy" {
		return true
	}
	return string(stats.EncodeMin()) <= strategy && strategy <= string(stats.EncodeMax())
}

// knownColumns returns the leaf columns of the file that belong to fields of T.
func knownColumns[T any](pf *file.Reader) ([]int, error) {
	want, err := schemaOf[T]()
	if err != nil {
		return nil, err
	}
	var leaves []int
	s := pf.MetaData().Schema
	for i := range s.NumColumns() {
		if root := s.ColumnRoot(i).Name(); want.HasField(root) {
			leaves = append(leaves, i)
		}
	}
	return leaves, nil
}

// unknownColumns returns the names of the file's columns that T has no field for.
func unknownColumns[T any](name string) ([]string, error) {
	want, err := schemaOf[T]()
	if err != nil {
		return nil, err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	pf, err := file.NewParquetReader(f)
	if err != nil {
		return nil, &TableError{name, err}
	}
	defer pf.Close()
	var names []string
	root := pf.MetaData().Schema.Root()
	for i := range root.NumFields() {
		if n := root.Field(i).Name(); !want.HasField(n) {
			names = append(names, n)
		}
	}
	return names, nil
}
