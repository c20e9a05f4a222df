package dataset

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit"
)

// Write writes ds to the new folder dir, in the form documents.jsonl,
// queries.jsonl (byte offsets, with the passages' texts) and SHA256SUMS. dir
// must not exist. The folder appears whole or not at all. What Load would
// refuse is not written; document and query ids are written as data and name
// no file. ds is not modified.
func Write(dir string, ds *evalkit.Dataset) error {
	if err := write(dir, ds); err != nil {
		return fmt.Errorf("write %q: %w", dir, err)
	}
	return nil
}

func write(dir string, ds *evalkit.Dataset) (err error) {
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = fs.ErrExist
		}
		return bare(err)
	}
	if ds, err = verified(ds); err != nil {
		return err
	}
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(parent, ".dataset-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(temp))
		}
	}()
	if err := writeFiles(temp, ds); err != nil {
		return err
	}
	if err := os.Chmod(temp, 0o755); err != nil {
		return err
	}
	return os.Rename(temp, dir)
}

// verified returns ds as Load would return it once written.
func verified(ds *evalkit.Dataset) (*evalkit.Dataset, error) {
	m := meta{name: ds.Name, language: ds.Language, licence: ds.Licence, analyzer: ds.Analyzer, offsets: unitByte}
	b := newBuilder(unitByte)
	m.check(&b.probs)
	for i, d := range ds.Docs {
		at := place{file: docsFile, line: i + 1}
		if strings.HasPrefix(d.Text, bom) {
			b.probs.addf(at, "document %q: begins with a byte-order mark", d.ID)
		}
		b.document(at, string(d.ID), d.Text)
	}
	for i, q := range ds.Queries {
		raw := rawQuery{id: string(q.ID), question: q.Text, answer: q.Answer, unanswerable: q.Unanswerable}
		for _, r := range q.Qrels {
			raw.gold = append(raw.gold, rawGold{doc: string(r.Doc), start: &r.Span.Start, end: &r.Span.End, grade: r.Grade})
		}
		b.query(place{file: queriesFile, line: i + 1}, raw)
	}
	return b.finish(m)
}

func writeFiles(dir string, ds *evalkit.Dataset) error {
	m := meta{name: ds.Name, language: ds.Language, licence: ds.Licence, analyzer: ds.Analyzer}
	head, err := m.yaml()
	if err != nil {
		return err
	}
	var sums strings.Builder
	for _, f := range []struct {
		name string
		body func(w io.Writer) error
	}{
		{metaFile, func(w io.Writer) error { _, err := w.Write(head); return err }},
		{docsFile, func(w io.Writer) error { return writeDocs(w, ds) }},
		{queriesFile, func(w io.Writer) error { return writeQueries(w, ds) }},
	} {
		sum, err := writeFile(filepath.Join(dir, f.name), f.body)
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%s  %s\n", sum, f.name)
	}
	_, err = writeFile(filepath.Join(dir, sumsFile), func(w io.Writer) error {
		_, err := io.WriteString(w, sums.String())
		return err
	})
	return err
}

// writeFile creates a file and returns the SHA-256 of what body wrote.
func writeFile(name string, body func(io.Writer) error) (sum string, err error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	h := sha256.New()
	w := bufio.NewWriterSize(io.MultiWriter(f, h), 1<<20)
	if err := body(w); err != nil {
		return "", err
	}
	if err := w.Flush(); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func newEncoder(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}

func writeDocs(w io.Writer, ds *evalkit.Dataset) error {
	enc := newEncoder(w)
	for _, d := range ds.Docs {
		rec := struct {
			ID   evalkit.DocID `json:"id"`
			Text string        `json:"text"`
		}{d.ID, d.Text}
		if err := enc.Encode(rec); err != nil {
			return err
		}
	}
	return nil
}

type goldRecord struct {
	Doc   evalkit.DocID `json:"doc"`
	Start int           `json:"start"`
	End   int           `json:"end"`
	Text  string        `json:"text"`
	Grade *float64      `json:"grade,omitempty"` // nil means 1
}

type queryRecord struct {
	ID           evalkit.QueryID `json:"id"`
	Question     string          `json:"question"`
	Gold         []goldRecord    `json:"gold,omitempty"`
	Answer       string          `json:"answer,omitempty"`
	Unanswerable bool            `json:"unanswerable,omitempty"`
}

func writeQueries(w io.Writer, ds *evalkit.Dataset) error {
	docs := ds.DocMap()
	enc := newEncoder(w)
	for _, q := range ds.Queries {
		rec := queryRecord{ID: q.ID, Question: q.Text, Answer: q.Answer, Unanswerable: q.Unanswerable}
		for _, r := range q.Qrels {
			g := goldRecord{Doc: r.Doc, Start: r.Span.Start, End: r.Span.End, Text: docs[r.Doc].Text[r.Span.Start:r.Span.End]}
			if r.Grade != 1 {
				g.Grade = &r.Grade
			}
			rec.Gold = append(rec.Gold, g)
		}
		if err := enc.Encode(rec); err != nil {
			return err
		}
	}
	return nil
}
