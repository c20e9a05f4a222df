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
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/chunkeval/chunkeval/evalkit/experiment"
)

// The file names of an Experiment's folder.
const (
	recordFile    = "experiment.json"
	documentsFile = "documents.parquet"
	queriesFile   = "queries.parquet"
	chunksFile    = "chunks.parquet"
	treeFile      = "tree.parquet"
	retrievedFile = "retrieved.parquet"
	candidateFile = "candidates.parquet"
	scoresFile    = "scores.parquet"
	summaryFile   = "summary.parquet"
)

// A Writer adds Experiments to a results folder. It is for one goroutine.
// Several Writers, also of several processes, may use one folder at once.
type Writer struct {
	root string
	last *experiment.Result // its documents, queries and chunks can be linked
	dir  string             // of last
}

// NewWriter returns a Writer for the results folder root, which is made if needed.
func NewWriter(root string) *Writer { return &Writer{root: root} }

// Write stores r and returns its id, which it also sets in r's Record. On an
// error nothing is left behind.
func (w *Writer) Write(r *experiment.Result) (id string, err error) {
	if err := os.MkdirAll(w.root, 0o755); err != nil {
		return "", err
	}
	if err := w.sweep(); err != nil {
		return "", err
	}
	tmp, err := os.MkdirTemp(w.root, writing)
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(tmp))
		}
	}()
	if err := os.Chmod(tmp, 0o755); err != nil {
		return "", err
	}
	r.Record.Files = map[string]experiment.File{}
	if err := w.tables(tmp, r); err != nil {
		return "", err
	}
	base := baseID(r.Record)
	for n := 1; ; n++ {
		id = base
		if n > 1 {
			id = fmt.Sprintf("%s.%d", base, n)
		}
		final := filepath.Join(w.root, id)
		if _, err := os.Lstat(final); err == nil {
			continue
		}
		r.Record.ID = id
		if err := writeRecord(tmp, r.Record); err != nil {
			return "", err
		}
		// Renaming onto a folder that is not empty fails: whoever is first has the id.
		if err := os.Rename(tmp, final); err == nil {
			w.last, w.dir = r, final
			return id, syncDir(w.root)
		} else if !errors.Is(err, fs.ErrExist) && !isNotEmpty(err) {
			return "", err
		}
	}
}

// writing begins the name of a folder that is being written.
const writing = ".writing-"

// abandoned is how long nobody has to have touched such a folder before it counts
// as left behind by a process that was killed: a table takes seconds.
const abandoned = time.Hour

// sweep removes folders that were left behind.
func (w *Writer) sweep() error {
	entries, err := os.ReadDir(w.root)
	for _, e := range entries {
		if info, ierr := e.Info(); ierr == nil && e.IsDir() && strings.HasPrefix(e.Name(), writing) && time.Since(info.ModTime()) > abandoned {
			err = errors.Join(err, os.RemoveAll(filepath.Join(w.root, e.Name())))
		}
	}
	return err
}

func isNotEmpty(err error) bool {
	return strings.Contains(err.Error(), "not empty") || strings.Contains(err.Error(), "file exists")
}

func (w *Writer) tables(dir string, r *experiment.Result) error {
	files := r.Record.Files
	if w.last != nil && sameChunks(w.last, r) {
		for _, name := range []string{documentsFile, queriesFile, chunksFile} {
			if err := linkOrCopy(filepath.Join(w.dir, name), filepath.Join(dir, name)); err != nil {
				return err
			}
			files[name] = w.last.Record.Files[name]
		}
	} else {
		if err := writeFile(dir, documentsFile, files, slices.Values([][]DocumentRow{documentRows(r.Dataset)})); err != nil {
			return err
		}
		if err := writeFile(dir, queriesFile, files, slices.Values([][]QueryRow{queryRows(r.Dataset)})); err != nil {
			return err
		}
		if err := writeFile(dir, chunksFile, files, perStrategy(r, chunkRows)); err != nil {
			return err
		}
	}
	return errors.Join(
		writeFile(dir, treeFile, files, perStrategy(r, treeRows)),
		writeFile(dir, retrievedFile, files, perStrategy(r, retrievedRows)),
		writeFile(dir, candidateFile, files, perStrategy(r, candidateRows)),
		writeFile(dir, scoresFile, files, perStrategy(r, scoreRows)),
		writeFile(dir, summaryFile, files, perStrategy(r, summaryRows)),
		writeAnswers(dir, r),
	)
}

// sameChunks reports whether two results of one run share their chunks.
func sameChunks(a, b *experiment.Result) bool {
	if a.Dataset != b.Dataset || len(a.Strategies) != len(b.Strategies) {
		return false
	}
	for i := range a.Strategies {
		x, y := a.Strategies[i], b.Strategies[i]
		if x.Strategy != y.Strategy || len(x.Chunks) != len(y.Chunks) || len(x.Chunks) > 0 && &x.Chunks[0] != &y.Chunks[0] {
			return false
		}
	}
	return true
}

func perStrategy[T any](r *experiment.Result, rows func(*experiment.StrategyResult) []T) iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		for i := range r.Strategies {
			if !yield(rows(&r.Strategies[i])) {
				return
			}
		}
	}
}

// writeFile writes a table, syncs and closes it, and notes its size and digest.
func writeFile[T any](dir, name string, files map[string]experiment.File, parts iter.Seq[[]T]) (err error) {
	path := filepath.Join(dir, name)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	m := &meter{w: f, sum: sha256.New()}
	err = writeTable(onlyWriter{m}, parts)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	files[name] = experiment.File{Bytes: m.n, SHA256: hex.EncodeToString(m.sum.Sum(nil))}
	return nil
}

// onlyWriter hides other methods: the Parquet writer would close a Closer.
type onlyWriter struct{ io.Writer }

// meter counts and digests what passes through.
type meter struct {
	w   io.Writer
	n   int64
	sum interface {
		io.Writer
		Sum([]byte) []byte
	}
}

func (m *meter) Write(p []byte) (int, error) {
	n, err := m.w.Write(p)
	m.n += int64(n)
	m.sum.Write(p[:n])
	return n, err
}

func writeRecord(dir string, rec experiment.Record) error {
	b, err := json.MarshalIndent(rec, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(dir, recordFile)
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = f.Write(append(b, '\n'))
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func linkOrCopy(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Close())
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// baseID makes a folder name of an Experiment's name and fingerprint. The name
// is data; only its plain letters and digits reach the file system.
func baseID(rec experiment.Record) string {
	slug := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '-'
	}, rec.Spec.Name)
	for strings.Contains(slug, "--") {
		slug = strings.ReplaceAll(slug, "--", "-")
	}
	slug = strings.Trim(slug[:min(len(slug), 60)], "-")
	if slug == "" {
		slug = "experiment"
	}
	return slug + "-" + rec.Fingerprint[:min(len(rec.Fingerprint), 8)]
}
