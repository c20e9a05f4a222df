package dataset

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit"
)

// Fingerprint returns the SHA-256 digest, in lower-case hex, of the documents
// and queries of ds: documents by id, queries by id, each query's judgments by
// document and span. Name, language, licence, order and the files' layout do
// not enter. Load sets Dataset.Fingerprint to it.
func Fingerprint(ds *evalkit.Dataset) string {
	w := digest{sha256.New()}
	w.text("evalkit dataset 1")
	docs := slices.SortedFunc(slices.Values(ds.Docs), func(a, b evalkit.Document) int {
		return strings.Compare(string(a.ID), string(b.ID))
	})
	w.number(uint64(len(docs)))
	for _, d := range docs {
		w.text(string(d.ID))
		w.text(d.Text)
	}
	queries := slices.SortedFunc(slices.Values(ds.Queries), func(a, b evalkit.Query) int {
		return strings.Compare(string(a.ID), string(b.ID))
	})
	w.number(uint64(len(queries)))
	for _, q := range queries {
		w.query(q)
	}
	return hex.EncodeToString(w.Sum(nil))
}

// digest writes values so that no two sequences have the same bytes.
type digest struct{ hash.Hash }

func (w digest) number(n uint64) { w.Write(binary.BigEndian.AppendUint64(nil, n)) }

func (w digest) text(s string) {
	w.number(uint64(len(s)))
	io.WriteString(w, s) // a hash.Hash never returns an error
}

func (w digest) query(q evalkit.Query) {
	w.text(string(q.ID))
	w.text(q.Text)
	w.text(q.Answer)
	if q.Unanswerable {
		w.text("unanswerable")
	} else {
		w.text("")
	}
	qrels := slices.SortedFunc(slices.Values(q.Qrels), func(a, b evalkit.Qrel) int {
		return cmp.Or(compareQrels(a, b), cmp.Compare(a.Grade, b.Grade))
	})
	w.number(uint64(len(qrels)))
	for _, r := range qrels {
		w.text(string(r.Doc))
		w.number(uint64(r.Span.Start))
		w.number(uint64(r.Span.End))
		w.number(math.Float64bits(r.Grade))
	}
}
