package vectorfile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit"
)

// Precomputed is an embedder whose vectors were computed elsewhere. It is safe
// for concurrent use.
type Precomputed struct {
	file, ids   string
	vectors     evalkit.Vectors
	rows        map[Key]int
	fingerprint string
}

// A Reader reads a file of vectors, as Read does. keys is nil if the file holds
// none.
type Reader func(path string) (v evalkit.Vectors, keys []Key, err error)

// Opener returns the Open of a wire.EmbedderKind, which reads
//
//	precomputed(file=vectors.h5)                vectors and keys
//	precomputed(file=vectors.npy,ids=keys.txt)  row i belongs to line i; see ReadKeys
//
// with paths relative to the working directory.
func Opener(read Reader) func(settings evalkit.Expr) (evalkit.Embedder, error) {
	return func(settings evalkit.Expr) (evalkit.Embedder, error) {
		set := settings.Settings()
		file, ids := set.String("file", ""), set.String("ids", "")
		if err := set.Err(); err != nil {
			return nil, err
		}
		if file == "" {
			return nil, errors.New("file: not given; name a .npy, .h5 or .parquet file of vectors")
		}
		p, err := New(file, ids, read)
		if err != nil {
			return nil, err
		}
		return p, nil
	}
}

// New reads a file of vectors, with their keys from the file ids unless that is
// empty. Rows are scaled to length 1; a row of zeros stays, and means that the
// text has no vector. A NaN or an infinite number is an error, and so are two
// vectors for one key.
func New(file, ids string, read Reader) (*Precomputed, error) {
	v, keys, err := read(file)
	if err != nil {
		return nil, err
	}
	switch {
	case ids != "":
		if keys, err = ReadKeys(ids); err != nil {
			return nil, err
		}
	case keys == nil:
		return nil, fmt.Errorf("%s: does not say which texts its vectors stand for: give ids, a file with one line each", file)
	}
	if len(keys) != v.Len() {
		return nil, fmt.Errorf("%s: %d vectors, and %d lines in %s", file, v.Len(), len(keys), ids)
	}
	p := &Precomputed{file: file, ids: ids, vectors: v, rows: make(map[Key]int, len(keys))}
	for i, k := range keys {
		if err := scale(v.Row(i)); err != nil {
			return nil, fmt.Errorf("%s: row %d: %w", file, i, err)
		}
		if j, ok := p.rows[k]; ok && !slices.Equal(v.Row(i), v.Row(j)) {
			return nil, fmt.Errorf("%s: rows %d and %d differ and stand for the same text", file, j, i)
		}
		p.rows[k] = i
	}
	p.fingerprint, err = digest(file, ids)
	return p, err
}

// scale divides row by its length.
func scale(row []float32) error {
	square := 0.0
	for _, x := range row {
		square += float64(x) * float64(x)
	}
	switch {
	case math.IsNaN(square) || math.IsInf(square, 0):
		return fmt.Errorf("a vector of length %v", math.Sqrt(square))
	case square == 0:
		return nil
	}
	if math.Abs(square-1) < 1e-6 { // it has length 1, and keeps its bits
		return nil
	}
	for i, x := range row {
		row[i] = float32(float64(x) / math.Sqrt(square))
	}
	return nil
}

func digest(paths ...string) (string, error) {
	h := sha256.New()
	for _, path := range paths {
		if path == "" {
			continue
		}
		f, err := os.Open(path)
		if err != nil {
			return "", err
		}
		_, err = io.Copy(h, f)
		if err = errors.Join(err, f.Close()); err != nil {
			return "", err
		}
		h.Write([]byte{0}) // never an error
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// String returns the written form.
func (p *Precomputed) String() string {
	e := evalkit.Expr{Name: "precomputed", Args: []evalkit.Arg{{Key: "file", Value: quoted(p.file)}}}
	if p.ids != "" {
		e.Args = append(e.Args, evalkit.Arg{Key: "ids", Value: quoted(p.ids)})
	}
	return e.String()
}

func quoted(path string) string {
	path = filepath.ToSlash(path)
	if strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`,()[]"`, r) }) {
		return strconv.Quote(path)
	}
	return path
}

// Fingerprint returns a digest of the files, wherever they lie.
func (p *Precomputed) Fingerprint() string { return p.fingerprint }

// Embed looks the texts up: each for its kind, else for both kinds. A blank
// text has a row of zeros. Texts that the file does not hold are an error, which
// counts them and shows the first.
func (p *Precomputed) Embed(ctx context.Context, kind evalkit.TextKind, texts []string) (evalkit.Vectors, error) {
	v := evalkit.Vectors{Dim: p.vectors.Dim, Data: make([]float32, len(texts)*p.vectors.Dim)}
	missing, first := 0, ""
	for i, t := range texts {
		if evalkit.Blank(t) {
			continue
		}
		row, ok := p.rows[KeyOf(kind, t)]
		if !ok {
			row, ok = p.rows[KeyOf("", t)]
		}
		if !ok {
			if missing++; missing == 1 {
				first = t
			}
			continue
		}
		copy(v.Row(i), p.vectors.Row(row))
	}
	if missing > 0 {
		return evalkit.Vectors{}, fmt.Errorf("embedder %q: no vector for %d of %d texts; the first is %.60q, %s", p, missing, len(texts), first, KeyOf(kind, first))
	}
	return v, ctx.Err()
}
