package retrieve

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/chunkeval/chunkeval/evalkit"
)

// BM25 is textbook BM25; see the formula at Parse.
type BM25 struct {
	K1       float64 // term saturation, 0 or more
	B        float64 // share of length normalization, from 0 to 1
	Analyzer evalkit.Analyzer
}

// Bleve is bleve's own index, in memory, with the scoring that bleve calls
// bm25. Its average length is that of distinct terms, rounded up, so scores
// depend on how chunks are cut beyond what BM25 means; use BM25 to compare
// chunk sizes. Analyzer must be one of NewAnalyzer.
type Bleve struct{ Analyzer evalkit.Analyzer }

// Dense ranks by the cosine of query and passage, exactly.
type Dense struct{ Embedder evalkit.Embedder }

// Hybrid fuses a lexical and a dense leg, each searched to Depth, whatever k
// is: a list never has more than 2·Depth hits.
type Hybrid struct {
	Lexical evalkit.Indexer // BM25 or Bleve
	Dense   Dense
	Fusion  Fusion
	Depth   int // 1 or more
}

// Oracle ranks by the query's own evidence, to show what the chunks allow: the
// chunk that covers most bytes of gold not covered yet comes next.
type Oracle struct{}

// String returns "bm25(k1=1.2,b=0.75,analyzer=en)".
func (s BM25) String() string {
	return fmt.Sprintf("bm25(k1=%s,b=%s,analyzer=%s)", number(s.K1), number(s.B), s.Analyzer)
}

// String returns "bleve(analyzer=en)".
func (s Bleve) String() string { return fmt.Sprintf("bleve(analyzer=%s)", s.Analyzer) }

// String returns "dense". The embedder is a setting of its own; see Fingerprint.
func (s Dense) String() string { return "dense" }

// String returns "hybrid(lexical=bm25(…),fusion=rrf(k=60,lexical=1,dense=1),depth=100)".
func (s Hybrid) String() string {
	return fmt.Sprintf("hybrid(lexical=%s,fusion=%s,depth=%d)", s.Lexical, s.Fusion, s.Depth)
}

// String returns "oracle".
func (s Oracle) String() string { return "oracle" }

// Index returns an Index of chunks; it implements the package's Index.
func (s BM25) Index(ctx context.Context, chunks []evalkit.Chunk) (evalkit.Retriever, error) {
	return build(ctx, s, chunks)
}

// Index returns an Index of chunks. It runs goroutines until it is closed or
// unreachable.
func (s Bleve) Index(ctx context.Context, chunks []evalkit.Chunk) (evalkit.Retriever, error) {
	return build(ctx, s, chunks)
}

// Index embeds chunks and returns an Index. Beside the vectors, 4 bytes times
// size per passage, it needs little memory.
func (s Dense) Index(ctx context.Context, chunks []evalkit.Chunk) (evalkit.Retriever, error) {
	return build(ctx, s, chunks)
}

// Index returns an Index of chunks with both legs over the same chunks.
func (s Hybrid) Index(ctx context.Context, chunks []evalkit.Chunk) (evalkit.Retriever, error) {
	return build(ctx, s, chunks)
}

// Index returns an Index of chunks.
func (s Oracle) Index(ctx context.Context, chunks []evalkit.Chunk) (evalkit.Retriever, error) {
	return build(ctx, s, chunks)
}

// Fingerprint returns a digest of the settings and of the analyzer.
func (s BM25) Fingerprint() string { return digest(s.String(), evalkit.Fingerprint(s.Analyzer)) }

// Fingerprint returns a digest of the settings and of the analyzer.
func (s Bleve) Fingerprint() string { return digest(s.String(), evalkit.Fingerprint(s.Analyzer)) }

// Fingerprint returns a digest of the embedder's.
func (s Dense) Fingerprint() string { return digest(s.String(), evalkit.Fingerprint(s.Embedder)) }

// Fingerprint returns a digest of the settings and of both legs.
func (s Hybrid) Fingerprint() string {
	return digest(s.String(), evalkit.Fingerprint(s.Lexical), evalkit.Fingerprint(s.Dense))
}

func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%q\n", p)
	}
	return hex.EncodeToString(h.Sum(nil))
}
