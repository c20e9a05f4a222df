package wire

import (
	"context"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/chunkeval/chunkeval/evalkit"
)

// chunkCache keeps the spans that a strategy cut, by strategy and document.
type chunkCache struct {
	evalkit.Strategy
	dir string
}

// kept is a chunk without its text, which is the document's.
type kept struct {
	Span     evalkit.Span
	Header   string
	Tokens   int
	Units    []evalkit.Span
	Oversize bool
}

// Fingerprint is that of the strategy.
func (c chunkCache) Fingerprint() string { return evalkit.Fingerprint(c.Strategy) }

// Split returns the chunks kept for doc, or cuts it and keeps them. A file that
// is damaged, or does not fit the document, is cut again.
func (c chunkCache) Split(ctx context.Context, doc evalkit.Document) ([]evalkit.Chunk, error) {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s", c.Fingerprint(), doc.Text)
	name := filepath.Join(c.dir, hex.EncodeToString(h.Sum(nil))+".chunks")
	if chunks, ok := readChunks(name, doc); ok {
		return chunks, nil
	}
	chunks, err := c.Strategy.Split(ctx, doc)
	if err != nil {
		return nil, err
	}
	return chunks, c.write(name, chunks)
}

func readChunks(name string, doc evalkit.Document) ([]evalkit.Chunk, bool) {
	f, err := os.Open(name)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	var all []kept
	if gob.NewDecoder(f).Decode(&all) != nil {
		return nil, false
	}
	chunks := make([]evalkit.Chunk, len(all))
	for i, k := range all {
		if k.Span.Check(doc.Text) != nil {
			return nil, false
		}
		chunks[i] = evalkit.Chunk{
			Doc: doc.ID, Index: i, Span: k.Span, Text: doc.Text[k.Span.Start:k.Span.End],
			Header: k.Header, Tokens: k.Tokens, Units: k.Units, Oversize: k.Oversize,
		}
	}
	return chunks, true
}

// write keeps chunks under a temporary name first: a reader sees all or nothing.
func (c chunkCache) write(name string, chunks []evalkit.Chunk) (err error) {
	all := make([]kept, len(chunks))
	for i, k := range chunks {
		all[i] = kept{k.Span, k.Header, k.Tokens, k.Units, k.Oversize}
	}
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(c.dir, ".writing-")
	if err != nil {
		return err
	}
	err = errors.Join(gob.NewEncoder(f).Encode(all), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		if rerr := os.Remove(f.Name()); !errors.Is(rerr, fs.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
	}
	return err
}
