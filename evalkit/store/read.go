package store

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit/experiment"
)

// An Experiment is a stored Experiment that was opened. Its tables are read
// when they are asked for; methods may be called from several goroutines.
type Experiment struct {
	Record  experiment.Record
	Notices []error // columns of a newer version that are left out
	dir     string
}

// List opens all Experiments below root, by id. What cannot be opened is
// returned as errors beside those that can; it does not hide them. A folder
// that does not exist holds none.
func List(root string) ([]*Experiment, []error) {
	entries, err := os.ReadDir(root)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, []error{err}
	}
	var all []*Experiment
	var bad []error
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		x, err := Open(root, e.Name())
		if err != nil {
			bad = append(bad, err)
			continue
		}
		all = append(all, x)
	}
	return all, bad
}

// Open opens the Experiment id below root, or the one whose id alone begins
// so; of several runs of one Experiment, the last. It checks that every table has the size that the record gives.
func Open(root, id string) (*Experiment, error) {
	name, err := resolve(root, id)
	if err != nil {
		return nil, err
	}
	x := &Experiment{dir: filepath.Join(root, name)}
	path := filepath.Join(x.dir, recordFile)
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("experiment %q: incomplete: %w", name, err)
	}
	if err := json.Unmarshal(b, &x.Record); err != nil {
		return nil, &TableError{path, err}
	}
	if x.Record.ID == "" || len(x.Record.Files) == 0 {
		return nil, &TableError{path, errors.New("not the record of an Experiment")}
	}
	for _, table := range []string{documentsFile, queriesFile, chunksFile, treeFile, retrievedFile, candidateFile, scoresFile, summaryFile, answersFile} {
		want, ok := x.Record.Files[table]
		if !ok {
			continue // an older version wrote no such table
		}
		info, err := os.Stat(x.path(table))
		if err != nil {
			return nil, fmt.Errorf("experiment %q: incomplete: %w", name, err)
		}
		if info.Size() != want.Bytes {
			err := fmt.Errorf("%d bytes, but %d were written", info.Size(), want.Bytes)
			return nil, &TableError{x.path(table), err}
		}
	}
	if x.Record.SchemaVersion > experiment.SchemaVersion {
		x.Notices = append(x.Notices, x.newer()...)
	}
	return x, nil
}

// resolve finds the one folder that is named id or begins with it.
func resolve(root, id string) (string, error) {
	if id == "" || strings.HasPrefix(id, ".") || strings.ContainsAny(id, "/\\\x00") {
		return "", fmt.Errorf("experiment %q: not an id; see evalkit list", id)
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		return "", fmt.Errorf("experiment %q: %w; results are kept in the folder that --results names", id, err)
	}
	var found []string
	for _, e := range entries {
		if e.Name() == id {
			return id, nil
		}
		if strings.HasPrefix(e.Name(), id) {
			found = append(found, e.Name())
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("experiment %q: not found in %s; see evalkit list", id, root)
	case 1:
		return found[0], nil
	}
	if newest, ok := newestOf(found); ok {
		return newest, nil
	}
	return "", fmt.Errorf("experiment %q: could be any of %s", id, strings.Join(found, ", "))
}

// newestOf returns the last of names that are runs of one Experiment: X, X.2, X.3.
func newestOf(names []string) (newest string, ok bool) {
	last := 0
	base, _, _ := strings.Cut(names[0], ".")
	for _, name := range names {
		b, number, numbered := strings.Cut(name, ".")
		n := 1
		if numbered {
			var err error
			if n, err = strconv.Atoi(number); err != nil {
				return "", false
			}
		}
		if b != base {
			return "", false
		}
		if n > last {
			newest, last = name, n
		}
	}
	return newest, true
}

// Verify reads every table and compares it with the digest in the record.
func (x *Experiment) Verify() error {
	for _, table := range slices.Sorted(maps.Keys(x.Record.Files)) {
		f, err := os.Open(x.path(table))
		if err != nil {
			return err
		}
		h := sha256.New()
		_, err = io.Copy(h, f)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
		if got := hex.EncodeToString(h.Sum(nil)); got != x.Record.Files[table].SHA256 {
			return &TableError{x.path(table), errors.New("its SHA-256 is not the one that was written")}
		}
	}
	return nil
}

func (x *Experiment) path(table string) string { return filepath.Join(x.dir, table) }

func (x *Experiment) newer() []error {
	var notices []error
	add := func(table string, names []string, err error) {
		if err == nil && len(names) > 0 {
			err = fmt.Errorf("experiment %q: %s: columns of a newer version left out: %s", x.Record.ID, table, strings.Join(names, ", "))
		}
		if err != nil {
			notices = append(notices, err)
		}
	}
	check(x, documentsFile, unknownColumns[DocumentRow], add)
	check(x, queriesFile, unknownColumns[QueryRow], add)
	check(x, chunksFile, unknownColumns[ChunkRow], add)
	check(x, treeFile, unknownColumns[TreeRow], add)
	check(x, retrievedFile, unknownColumns[RetrievedRow], add)
	check(x, candidateFile, unknownColumns[CandidateRow], add)
	check(x, scoresFile, unknownColumns[ScoreRow], add)
	check(x, summaryFile, unknownColumns[SummaryRow], add)
	if _, ok := x.Record.Files[answersFile]; ok {
		check(x, answersFile, unknownColumns[AnswerRow], add)
	}
	return notices
}

func check(x *Experiment, table string, unknown func(string) ([]string, error), add func(string, []string, error)) {
	names, err := unknown(x.path(table))
	add(table, names, err)
}

// Documents returns all documents, in data set order.
func (x *Experiment) Documents() ([]DocumentRow, error) {
	return collect(rowsOf[DocumentRow](x, documentsFile))
}

// Queries returns all questions, in data set order.
func (x *Experiment) Queries() ([]QueryRow, error) { return collect(rowsOf[QueryRow](x, queriesFile)) }

// Summary returns all summary rows.
func (x *Experiment) Summary() ([]SummaryRow, error) {
	return collect(rowsOf[SummaryRow](x, summaryFile))
}

// Scores yields all values: by strategy, query, metric, view.
func (x *Experiment) Scores() iter.Seq2[ScoreRow, error] { return rowsOf[ScoreRow](x, scoresFile) }

// Tree yields the branches of all expansion trees: by strategy, query, rank.
func (x *Experiment) Tree() iter.Seq2[TreeRow, error] { return rowsOf[TreeRow](x, treeFile) }

// Retrieved yields the entries of all flat lists: by strategy, query, position.
func (x *Experiment) Retrieved() iter.Seq2[RetrievedRow, error] {
	return rowsOf[RetrievedRow](x, retrievedFile)
}

// Candidates yields what the retriever ranked after top_k: by strategy, query,
// rank. An Experiment of an older version has none.
func (x *Experiment) Candidates() iter.Seq2[CandidateRow, error] {
	if _, ok := x.Record.Files[candidateFile]; !ok {
		return func(func(CandidateRow, error) bool) {}
	}
	return rowsOf[CandidateRow](x, candidateFile)
}

// Chunks yields all chunks: by strategy, document, chunk_index.
func (x *Experiment) Chunks() iter.Seq2[ChunkRow, error] { return rowsOf[ChunkRow](x, chunksFile) }

func rowsOf[T any](x *Experiment, table string) iter.Seq2[T, error] { return rowsFor[T](x, table, "") }

// rowsFor yields at least the rows of one strategy, or all.
func rowsFor[T any](x *Experiment, table, strategy string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for rows, err := range readTable[T](x.path(table), strategy) {
			if err != nil {
				yield(*new(T), err)
				return
			}
			for _, row := range rows {
				if !yield(row, nil) {
					return
				}
			}
		}
	}
}

func collect[T any](rows iter.Seq2[T, error]) ([]T, error) {
	var all []T
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		all = append(all, row)
	}
	return slices.Clip(all), nil
}
