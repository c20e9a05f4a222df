package dataset

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit"
)

const (
	docsDir     = "documents"
	docsFile    = "documents.jsonl"
	queriesFile = "queries.jsonl"
	sumsFile    = "SHA256SUMS"
)

// Load reads the data set in the folder dir and verifies all of it. Documents
// and queries are sorted by id, so that a data set is the same whatever its
// layout; a query's judgments are sorted by document and span. The errors are
// FileErrors, joined; nothing is returned with them.
func Load(dir string) (*evalkit.Dataset, error) {
	ds, err := load(dir)
	if err != nil {
		return nil, fmt.Errorf("load %q: %w", dir, err)
	}
	return ds, nil
}

func load(dir string) (*evalkit.Dataset, error) {
	if err := refuseArchive(dir); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, bare(err)
	}
	defer root.Close() // only read from
	f := &folder{root: root, builder: newBuilder(unitByte)}
	m := f.meta()
	f.unit = m.offsets
	f.documents()
	f.queries()
	f.verifySums()
	return f.finish(m)
}

// A folder is a data set being loaded. Root lets nothing outside be read.
type folder struct {
	root *os.Root
	*builder
	read []string // the files that were read
	base string   // of documents; empty: docsDir
}

// open opens a regular file of at most limit bytes; limit 0 is none.
func (f *folder) open(name string, limit int64) (*os.File, error) {
	info, err := f.root.Stat(name)
	switch {
	case err != nil:
		return nil, bare(err)
	case !info.Mode().IsRegular():
		return nil, errors.New("not a regular file")
	case limit > 0 && info.Size() > limit:
		return nil, fmt.Errorf("%d bytes are over the limit of %d", info.Size(), limit)
	}
	file, err := f.root.Open(name)
	if err != nil {
		return nil, bare(err)
	}
	f.read = append(f.read, name)
	return file, nil
}

// readText returns the content of a file.
func (f *folder) readText(name string) (string, error) {
	file, err := f.open(name, MaxText)
	if err != nil {
		return "", err
	}
	defer file.Close() // only read from
	var b strings.Builder
	if info, err := file.Stat(); err == nil {
		b.Grow(int(info.Size()))
	}
	if _, err := io.Copy(&b, file); err != nil {
		return "", bare(err)
	}
	return b.String(), nil
}

func (f *folder) meta() meta {
	text, err := f.readText(metaFile)
	if err != nil {
		f.probs.add(place{file: metaFile}, err)
		return meta{offsets: unitByte}
	}
	return parseMeta([]byte(text), &f.probs)
}

func (f *folder) documents() {
	dirInfo, dirErr := f.root.Stat(docsDir)
	_, fileErr := f.root.Lstat(docsFile)
	switch {
	case dirErr == nil && fileErr == nil:
		f.probs.addf(place{file: docsFile}, "stands beside the folder %s: keep one of the two", docsDir)
	case fileErr == nil:
		f.lines(docsFile, f.documentLine)
	case dirErr == nil && dirInfo.IsDir():
		f.walk()
	case dirErr == nil:
		f.probs.addf(place{file: docsDir}, "not a folder")
	case errors.Is(dirErr, fs.ErrNotExist):
		f.probs.addf(place{file: docsDir}, "no such folder, and no %s%s", docsFile, f.packedHint())
	default:
		f.probs.add(place{file: docsDir}, bare(dirErr))
	}
}

// packedHint names archives that stand where documents were looked for.
func (f *folder) packedHint() string {
	entries, err := fs.ReadDir(f.root.FS(), ".")
	if err != nil {
		return ""
	}
	for _, e := range entries {
		if packedName(e.Name()) {
			return fmt.Sprintf("; archives such as %q are not read: unpack it first", e.Name())
		}
	}
	return ""
}

// walk adds every document below documents/. Names that begin with a dot are
// left out.
func (f *folder) walk() {
	base := f.base
	if base == "" {
		base = docsDir
	}
	other := &Warning{Text: "files below " + base + " are not .md or .txt and were left out"}
	err := fs.WalkDir(f.root.FS(), base, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			f.probs.add(place{file: name}, bare(err))
			return nil
		}
		hidden := strings.HasPrefix(d.Name(), ".") && name != base
		if d.IsDir() {
			if hidden {
				return fs.SkipDir
			}
			return nil
		}
		if !hidden {
			f.entry(name, d, other)
		}
		return nil
	})
	if err != nil {
		f.probs.add(place{file: base}, bare(err))
	}
	f.notes = append(f.notes, found(other)...)
}

// entry adds one file, or counts it in other. A symbolic link must lead to a
// file of the folder.
func (f *folder) entry(name string, d fs.DirEntry, other *Warning) {
	at := place{file: name}
	if d.Type()&fs.ModeSymlink != 0 {
		switch info, err := f.root.Stat(name); {
		case err != nil:
			f.probs.addf(at, "symbolic link: %w", bare(err))
			return
		case !info.Mode().IsRegular():
			f.probs.addf(at, "symbolic link: does not lead to a file")
			return
		}
	}
	switch {
	case packedName(name):
		f.probs.add(at, errArchive)
	case !isDocument(name):
		other.note("%q", name)
	default:
		text, err := f.readText(name)
		if err != nil {
			f.probs.add(at, err)
			return
		}
		f.document(at, strings.TrimPrefix(name, docsDir+"/"), text)
	}
}

func isDocument(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return ext == ".md" || ext == ".txt"
}

// bare takes the path off an error of the file system: it stands before it already.
func bare(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
