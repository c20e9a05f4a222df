package embed

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/chunkeval/chunkeval/evalkit"
)

// A Cache is an embedder that keeps the vectors of another one on disk. A
// vector is found again by the model's evalkit.Fingerprint, the kind of text,
// and the SHA-256 of the text; its float32 bits come back exactly.
//
// Files of a model lie in their own folder. Each is written once, under a
// temporary name, then renamed, and never changed, so any number of processes
// may share the folder; none waits for another, and each sees the files that
// were there when it opened the Cache. Every vector is checked as it is read:
// a damaged one is computed again and counted.
//
// A Cache is safe for concurrent use. Large answers are written at once; Close
// writes what is still in memory, which is lost without it.
type Cache struct {
	inner evalkit.Embedder
	dir   string // of the model

	mu       sync.Mutex
	dim      int // 0 while unknown
	segments []*segment
	stored   map[key]place
	fresh    segmentWriter // not on disk yet
	stats    CacheStats
}

// CacheStats count the texts that a Cache was asked for.
type CacheStats struct {
	Hits    int // found, on disk or in memory
	Misses  int // sent to the embedder, each text once per call
	Blank   int // neither: their rows are all zero
	Damaged int // entries that could not be read; files that could not be opened count as one
}

// A key names a text of one kind.
type key [sha256.Size]byte

// A place is row of a segment; a nil segment is the one not yet on disk.
type place struct {
	segment *segment
	row     int
}

// A file is written when segmentRows vectors are in memory, or when a single
// call brought batchRows of them: the passages of an index are on disk at once,
// while queries, which come one by one, gather until Flush or Close.
const (
	segmentRows = 1024
	batchRows   = 64
)

// NewCache returns a Cache of inner's vectors under dir, which is made if it
// does not exist.
func NewCache(inner evalkit.Embedder, dir string) (*Cache, error) {
	model := sha256.Sum256([]byte(evalkit.Fingerprint(inner)))
	c := &Cache{
		inner:  inner,
		dir:    filepath.Join(dir, hex.EncodeToString(model[:16])),
		stored: map[key]place{},
	}
	if err := os.MkdirAll(c.dir, 0o777); err != nil {
		return nil, fmt.Errorf("vector cache: %w", err)
	}
	names, err := segmentNames(c.dir)
	if err != nil {
		return nil, fmt.Errorf("vector cache: %w", err)
	}
	for _, name := range names {
		s, keys, err := openSegment(name)
		if err != nil || c.dim != 0 && s.dim != c.dim {
			c.stats.Damaged++
			continue
		}
		c.dim = s.dim
		c.segments = append(c.segments, s)
		for row, k := range keys {
			c.stored[k] = place{s, row}
		}
	}
	return c, nil
}

// String returns the String of the embedder: a Cache changes no number.
func (c *Cache) String() string { return c.inner.String() }

// Fingerprint returns the evalkit.Fingerprint of the embedder.
func (c *Cache) Fingerprint() string { return evalkit.Fingerprint(c.inner) }

// Inner returns the embedder whose vectors c keeps.
func (c *Cache) Inner() evalkit.Embedder { return c.inner }

// Stats returns the counts since the Cache was opened.
func (c *Cache) Stats() CacheStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stats
}

// Embed returns one row per text. The embedder gets only the texts that are
// not stored, each once; a blank text is never sent, its row is all zero,
// whatever the embedder would say. An
// answer of the embedder with another number of rows, of another size than
// before, or with a NaN or infinite value is an error, and is not stored.
func (c *Cache) Embed(ctx context.Context, kind evalkit.TextKind, texts []string) (evalkit.Vectors, error) {
	keys := make([]key, len(texts))
	for i, t := range texts {
		keys[i] = keyOf(kind, t)
	}
	have, missing := c.lookup(keys, texts)
	if err := c.fetch(ctx, kind, missing, have); err != nil {
		return evalkit.Vectors{}, err
	}
	dim, err := c.size(ctx, kind, len(texts))
	if err != nil {
		return evalkit.Vectors{}, err
	}
	v := evalkit.Vectors{Dim: dim, Data: make([]float32, len(texts)*dim)}
	for i, k := range keys {
		copy(v.Row(i), have[k]) // a blank text has none
	}
	return v, nil
}

func keyOf(kind evalkit.TextKind, text string) key {
	return sha256.Sum256([]byte(string(kind) + "\x00" + text))
}

// lookup returns the stored rows of keys, and the texts that have none, each
// once, in order.
func (c *Cache) lookup(keys []key, texts []string) (have map[key][]float32, missing []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	have = make(map[key][]float32, len(keys))
	asked := map[key]bool{}
	for i, k := range keys {
		switch {
		case evalkit.Blank(texts[i]):
			c.stats.Blank++
		case asked[k]:
		case have[k] != nil:
			c.stats.Hits++
		default:
			if row := c.read(k); row != nil {
				c.stats.Hits++
				have[k] = row
				continue
			}
			c.stats.Misses++
			asked[k] = true
			missing = append(missing, texts[i])
		}
	}
	return have, missing
}

// read returns the stored row of k, or nil; what is damaged is forgotten.
func (c *Cache) read(k key) []float32 {
	p, ok := c.stored[k]
	switch {
	case !ok:
		return nil
	case p.segment == nil:
		return c.fresh.row(p.row)
	}
	row, err := p.segment.read(k, p.row)
	if err != nil {
		c.stats.Damaged++
		delete(c.stored, k)
		return nil
	}
	return row
}

// fetch gets the rows of texts from the embedder, adds them to have, and
// stores them.
func (c *Cache) fetch(ctx context.Context, kind evalkit.TextKind, texts []string, have map[key][]float32) error {
	if len(texts) == 0 {
		return nil
	}
	got, err := c.inner.Embed(ctx, kind, texts)
	if err != nil {
		return err
	}
	keys := make([]key, len(texts))
	for i, t := range texts {
		keys[i] = keyOf(kind, t)
	}
	return c.store(keys, got, have)
}

// store adds the rows of an answer to have, and keeps them.
func (c *Cache) store(keys []key, got evalkit.Vectors, have map[key][]float32) error {
	if err := checkAnswer(got, len(keys)); err != nil {
		return fmt.Errorf("embedder %q: %w", c.inner, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dim != 0 && got.Dim != c.dim {
		return fmt.Errorf("embedder %q: vectors of %d dimensions, stored ones have %d", c.inner, got.Dim, c.dim)
	}
	c.dim = got.Dim
	for i, k := range keys {
		have[k] = got.Row(i)
		if _, ok := c.stored[k]; !ok { // another goroutine may have been first
			c.stored[k] = place{nil, c.fresh.add(k, got.Row(i))}
		}
	}
	if len(c.fresh.keys) >= segmentRows || len(keys) >= batchRows {
		return c.flush()
	}
	return nil
}

func checkAnswer(got evalkit.Vectors, n int) error {
	if got.Dim <= 0 || len(got.Data)%got.Dim != 0 {
		return fmt.Errorf("%d numbers in rows of %d dimensions", len(got.Data), got.Dim)
	}
	if got.Len() != n {
		return fmt.Errorf("%d vectors for %d texts", got.Len(), n)
	}
	if i := slices.IndexFunc(got.Data, func(x float32) bool { return x-x != 0 }); i >= 0 {
		return fmt.Errorf("vector of text %d holds %v", i/got.Dim, got.Data[i])
	}
	return nil
}

// size returns the number of dimensions. Where only blank texts were asked for
// so far, the embedder is asked for a word of the Cache's own.
func (c *Cache) size(ctx context.Context, kind evalkit.TextKind, n int) (int, error) {
	c.mu.Lock()
	dim := c.dim
	c.mu.Unlock()
	if dim != 0 || n == 0 {
		return dim, nil
	}
	if err := c.fetch(ctx, kind, []string{"size"}, map[key][]float32{}); err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dim, nil
}

// Flush writes the vectors that are not on disk yet.
func (c *Cache) Flush() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.flush()
}

func (c *Cache) flush() error {
	if len(c.fresh.keys) == 0 {
		return nil
	}
	name, err := c.fresh.write(c.dir)
	if err != nil {
		return fmt.Errorf("vector cache: %w", err)
	}
	s, keys, err := openSegment(name)
	if err != nil {
		return fmt.Errorf("vector cache: %w", err)
	}
	c.segments = append(c.segments, s)
	for row, k := range keys {
		c.stored[k] = place{s, row}
	}
	c.fresh = segmentWriter{}
	return nil
}

// Close writes what is not on disk yet and closes the files. The Cache must
// not be used afterwards.
func (c *Cache) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	errs := []error{c.flush()}
	for _, s := range c.segments {
		errs = append(errs, s.file.Close())
	}
	c.segments, c.stored = nil, map[key]place{}
	return errors.Join(errs...)
}
