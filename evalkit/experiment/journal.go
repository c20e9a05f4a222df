package experiment

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/chunkeval/chunkeval/evalkit"
)

// A Journal keeps the hits of every query that was searched, so that no query
// is searched twice. It is a folder with one file per index; a line is a
// checksum and the hits of one query as JSON. A line is written with one
// append; a torn line, the end of a killed run, is skipped. Several processes
// may use one folder at once: they may only write the same lines twice.
//
// A nil *Journal keeps nothing.
type Journal struct{ dir string }

// NewJournal returns the journal in dir, which is made when it is needed.
func NewJournal(dir string) *Journal { return &Journal{dir} }

type entry struct {
	Query evalkit.QueryID `json:"q"`
	K     int             `json:"k"` // the k that was asked for
	Hits  []entryHit      `json:"h"`
}

type entryHit struct {
	Doc     evalkit.DocID     `json:"d"`
	Index   int               `json:"i"`
	Score   float64           `json:"s"`
	Lexical evalkit.Component `json:"l"`
	Dense   evalkit.Component `json:"v"`
}

// page is the part of a journal that belongs to one index.
type page struct {
	known map[evalkit.QueryID]entry
	mu    sync.Mutex
	file  *os.File // nil: keep nothing
}

func (j *Journal) open(key string) (*page, error) {
	p := &page{known: map[evalkit.QueryID]entry{}}
	if j == nil {
		return p, nil
	}
	if err := os.MkdirAll(j.dir, 0o755); err != nil {
		return nil, err
	}
	name := filepath.Join(j.dir, key+".hits")
	old, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	p.read(old)
	p.file, err = os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	if len(old) > 0 && old[len(old)-1] != '\n' { // a torn line must not swallow the next one
		_, err = p.file.WriteString("\n")
	}
	return p, err
}

func (p *page) read(data []byte) {
	r := bufio.NewReader(bytes.NewReader(data))
	for {
		line, err := r.ReadBytes('\n')
		sum, body, ok := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(" "))
		var e entry
		if ok && string(sum) == checksum(body) && json.Unmarshal(body, &e) == nil && e.K >= p.known[e.Query].K {
			p.known[e.Query] = e
		}
		if err == io.EOF {
			return
		}
	}
}

func checksum(b []byte) string { return strconv.FormatUint(uint64(crc32.ChecksumIEEE(b)), 16) }

// hits returns the hits kept for q at depth k, or false.
func (p *page) hits(q evalkit.QueryID, k int, chunks map[evalkit.DocID][]evalkit.Chunk) ([]evalkit.Hit, bool) {
	e, ok := p.known[q]
	if !ok || e.K < k {
		return nil, false
	}
	hits := make([]evalkit.Hit, 0, min(k, len(e.Hits)))
	for i, h := range e.Hits[:min(k, len(e.Hits))] {
		if h.Index < 0 || h.Index >= len(chunks[h.Doc]) {
			return nil, false // cannot be, since the key holds the chunks; search again
		}
		hits = append(hits, evalkit.Hit{Chunk: chunks[h.Doc][h.Index], Rank: i + 1, Score: h.Score, Lexical: h.Lexical, Dense: h.Dense})
	}
	return hits, true
}

func (p *page) add(q evalkit.QueryID, k int, hits []evalkit.Hit) error {
	if p.file == nil {
		return nil
	}
	e := entry{Query: q, K: k, Hits: make([]entryHit, len(hits))}
	for i, h := range hits {
		e.Hits[i] = entryHit{h.Chunk.Doc, h.Chunk.Index, h.Score, h.Lexical, h.Dense}
	}
	body, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("journal: query %q: %w", q, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err = p.file.WriteString(checksum(body) + " " + string(body) + "\n")
	return err
}

func (p *page) close() error {
	if p.file == nil {
		return nil
	}
	return p.file.Close()
}
