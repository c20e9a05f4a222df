package evalkit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode"
)

// IsSpace reports whether r is white space for the purpose of trimming chunks:
// Unicode white space, and U+FEFF, the byte-order mark.
func IsSpace(r rune) bool { return r == '\ufeff' || unicode.IsSpace(r) }

// A Tokenizer counts tokens and knows where they start. Implementations are
// safe for concurrent use.
type Tokenizer interface {
	fmt.Stringer // "cl100k"
	// Count returns the number of tokens of text.
	Count(text string) int
	// Starts appends to dst the byte offset in text at which each token
	// starts, in order. A token that starts inside a rune is placed at the
	// rune's start, so equal neighbors occur. len(result)-len(dst) == Count(text).
	Starts(dst []int, text string) []int
}

// An Analyzer turns text into the terms of a lexical index, in order of
// occurrence. Implementations are safe for concurrent use.
type Analyzer interface {
	fmt.Stringer // "en"
	Terms(text string) []string
}

// A Fingerprinter is a component whose result depends on more than its string:
// an embedder that was fitted on a data set, or that loaded a file.
type Fingerprinter interface {
	Fingerprint() string // hex digest of everything that changes results
}

// Fingerprint returns c's Fingerprint if it has one, else its string. It is
// what caches use as the key.
func Fingerprint(c fmt.Stringer) string {
	if f, ok := c.(Fingerprinter); ok {
		return f.Fingerprint()
	}
	return c.String()
}

// A Strategy cuts a document into chunks. A value with these two methods is a
// strategy; nothing is registered. Rules, checked by chunk/chunktest:
//
//   - chunk.Text == doc.Text[chunk.Span.Start:chunk.Span.End], on rune boundaries;
//   - chunks are in order of Start, then End; Index counts from 0;
//   - no chunk is empty or blank, none lies inside the one before;
//   - every character outside all chunks is white space (see IsSpace);
//   - the same document gives the same chunks, from any number of goroutines.
//
// A blank document has no chunks.
type Strategy interface {
	fmt.Stringer // "fixed_size(size=200,overlap=0,unit=token)"; equal strings mean equal chunks
	Split(ctx context.Context, doc Document) ([]Chunk, error)
}

// Expands reports whether Neighbor Expansion applies to the chunks of s: to
// fixed_size only.
func Expands(s Strategy) bool {
	name, _, _ := strings.Cut(s.String(), "(")
	return name == "fixed_size"
}

// A TextKind says what a text is to an Embedder: models may prefix them differently.
type TextKind string

// The kinds of text.
const (
	Passage  TextKind = "passage"
	Question TextKind = "query"
)

// Vectors are n rows of Dim float32, row-major. Each row has length 1, or is
// all zero where the model has no vector for the text.
type Vectors struct {
	Dim  int
	Data []float32
}

// Len returns the number of rows.
func (v Vectors) Len() int {
	if v.Dim == 0 {
		return 0
	}
	return len(v.Data) / v.Dim
}

// Row returns row i; it shares memory with v.
func (v Vectors) Row(i int) []float32 { return v.Data[i*v.Dim : (i+1)*v.Dim : (i+1)*v.Dim] }

// An Embedder turns texts into vectors. Implementations are safe for
// concurrent use and deterministic.
type Embedder interface {
	fmt.Stringer // model and revision; see Fingerprinter where that does not decide the vectors
	// Embed returns one row per text, in the order of texts.
	Embed(ctx context.Context, kind TextKind, texts []string) (Vectors, error)
}

// A Hit is a chunk that a retriever ranked.
type Hit struct {
	Chunk   Chunk
	Rank    int // from 1
	Score   float64
	Lexical Component
	Dense   Component
}

// A Component is the place of a hit in one leg of a hybrid retriever. Rank 0
// means that the leg did not return the chunk.
type Component struct {
	Rank  int     `json:"rank"`
	Score float64 `json:"score"` // raw, before any scaling
}

// A Retriever ranks the chunks of one index for a query. Order: score
// descending, then document id, then chunk_index, before the cut to k.
// Fewer than k hits, or none, is not an error. It is safe for concurrent use.
type Retriever interface {
	Retrieve(ctx context.Context, q Query, k int) ([]Hit, error)
}

// An Indexer builds a Retriever over chunks.
type Indexer interface {
	fmt.Stringer // "hybrid(fusion=rrf(k=60))"; see Fingerprinter
	Index(ctx context.Context, chunks []Chunk) (Retriever, error)
}

// ErrNoVector is returned by dense retrieval for a query that the embedder
// has no vector for. Such a query has failed; it did not find nothing.
var ErrNoVector = errors.New("the embedder has no vector for the query")

// A Window says how many chunks Neighbor Expansion adds on each side of every hit.
type Window struct {
	Prev int `json:"neighbor_prev"`
	Next int `json:"neighbor_next"`
}

// String returns the badge "±prev/next".
func (w Window) String() string { return fmt.Sprintf("±%d/%d", w.Prev, w.Next) }

// An ExpandedHit is one branch of the expansion tree.
type ExpandedHit struct {
	Hit           Hit
	NeighborsPrev []Chunk // document order; empty, not nil, if there are none
	NeighborsNext []Chunk // document order; empty, not nil, if there are none
}

// A Role says why a chunk is in the context.
type Role string

// The roles.
const (
	RoleHit      Role = "hit"
	RoleNeighbor Role = "neighbor"
)

// A RetrievedChunk is one entry of the flat list that the LLM sees.
type RetrievedChunk struct {
	Chunk Chunk
	Role  Role
	Rank  int     // of the hit itself, or of the best-ranked hit that brought it in
	Score float64 // of the same hit
	// Distance is chunk_index minus that of the nearest hit that brought the
	// chunk in: 0 for a hit, negative for a previous neighbor. Of two at the
	// same distance the previous side, a negative Distance, is named.
	Distance int
}

// An Expander applies Neighbor Expansion to the hits of one query. chunks are
// all chunks of each document, in chunk_index order. The tree is in score
// order; the flat list is in document order, documents by their best rank.
type Expander interface {
	Expand(hits []Hit, chunks map[DocID][]Chunk, w Window) (tree []ExpandedHit, flat []RetrievedChunk)
}

// A View selects what of the flat list is scored.
type View string

// The views.
const (
	HitOnly  View = "hit_only" // entries labelled hit
	Expanded View = "expanded" // all entries
)

// Judgments are what the chunks that one query retrieved are scored against.
// They are shared by all settings of one strategy and query. Not for
// concurrent use.
type Judgments struct {
	Query  Query
	Texts  *Texts
	Chunks map[DocID][]Chunk // the whole index, per document in chunk_index order

	memo map[any]any
}

// Once returns f(), computed the first time that key is asked for. Metrics use
// it to share what depends on the judgments alone, such as an ideal ranking.
// key should be of an unexported type.
func (j *Judgments) Once(key any, f func() any) any {
	if v, ok := j.memo[key]; ok {
		return v
	}
	if j.memo == nil {
		j.memo = map[any]any{}
	}
	v := f()
	j.memo[key] = v
	return v
}

// An Info describes a metric.
type Info struct {
	Family  string // "span", "evid", "rank", "chroma", "attr", "cost"
	Doc     string // one sentence
	Unit    string // "fraction", "token", "chunk", …
	Lo, Hi  float64
	Higher  bool   // higher is better
	Recall  bool   // of the recall family: a query without gold is left out
	Source  string // where the definition comes from
	HitOnly bool   // defined on the hits' ranking only, not in the expanded view
}

// Unbounded is the Hi of a metric without an upper limit.
var Unbounded = math.Inf(1)

// A Metric scores what one query retrieved. got holds the entries of one view:
// hit_only in rank order, or expanded in document order. The value is finite;
// where it is not defined the error wraps ErrUndefined and says why.
type Metric interface {
	fmt.Stringer // "recall", "nDCG@10"
	Info() Info
	Score(j *Judgments, v View, got []RetrievedChunk) (float64, error)
}

// ErrUndefined marks a value that does not exist for a query.
var ErrUndefined = errors.New("undefined")

// Undefined returns an error that wraps ErrUndefined and gives the reason.
func Undefined(reason string) error { return undefinedError(reason) }

type undefinedError string

func (e undefinedError) Error() string        { return string(e) }
func (e undefinedError) Is(target error) bool { return target == ErrUndefined }
