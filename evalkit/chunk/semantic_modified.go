package chunk

import (
	"context"
	"fmt"

	"github.com/chunkeval/chunkeval/evalkit"
)

// The settings of the Chroma report's semantic strategies.
const (
	pieceTokens  = 50 // size of the pieces that are grouped
	windowPieces = 3  // on either side of a piece, in SemanticModified
)

// SemanticModified is Semantic with a wanted mean size, as the Chroma report
// modifies Kamradt's: pieces of 50 tokens, windows of three pieces on either
// side, and the limit on the distance found by halving [0,1] until about
// total/size cuts fall. Chunks may be larger than size, which is a mean; those
// above twice the size are marked Oversize.
type SemanticModified struct{ byPieces }

// byPieces is what the strategies over small pieces share.
type byPieces struct {
	size     int
	embedder evalkit.Embedder
	ruler
}

func (p *parser) byPieces() byPieces {
	b := byPieces{}
	if b.size, _ = p.size(200, false); b.size < pieceTokens {
		p.fail(fmt.Errorf("size: %d is below %d, the size of the pieces", b.size, pieceTokens))
	}
	b.embedder = p.embedder()
	b.ruler = p.ruler()
	return b
}

func (b byPieces) named(name string) string {
	return fmt.Sprintf("%s(size=%d,embedder=%s%s)", name, b.size, b.embedder, b.suffix(false))
}

func (b byPieces) digest(s string) string {
	return b.fingerprint(s) + " " + evalkit.Fingerprint(b.embedder)
}

// pieces returns the trimmed pieces of text.
func (b byPieces) pieces(ctx context.Context, text string) ([]evalkit.Span, error) {
	cut := Recursive{size: pieceTokens, separators: DefaultSeparators(), ruler: b.ruler}
	spans, err := cut.spans(ctx, text, whole(text))
	if err != nil {
		return nil, err
	}
	for i := range spans {
		spans[i] = trim(text, spans[i])
	}
	return notBlank(text, spans), nil
}

func parseModified(p *parser) evalkit.Strategy { return SemanticModified{p.byPieces()} }

// String returns the form that Parse reads.
func (s SemanticModified) String() string { return s.named("semantic_modified") }

// Fingerprint covers the tokenizer and the embedder.
func (s SemanticModified) Fingerprint() string { return s.digest(s.String()) }

// Split groups the pieces of doc.
func (s SemanticModified) Split(ctx context.Context, doc evalkit.Document) ([]evalkit.Chunk, error) {
	pieces, err := s.pieces(ctx, doc.Text)
	if err != nil {
		return nil, err
	}
	distances, err := neighborDistances(ctx, s.embedder, doc.Text, pieces, windowPieces)
	if err != nil {
		return nil, err
	}
	total := 0
	for _, p := range pieces {
		total += s.length(doc.Text[p.Start:p.End])
	}
	limit := limitFor(distances, total/s.size)
	cuts := make([]bool, len(distances))
	for i, d := range distances {
		cuts[i] = d > limit
	}
	return s.finish(ctx, doc, drafts(groups(pieces, cuts)), 2*s.size)
}

// limitFor halves [0,1] until at most 1e-6 is left and returns the last
// midpoint tried: more cuts than wanted raise the lower end.
func limitFor(distances []float64, wanted int) float64 {
	lo, hi, mid := 0.0, 1.0, 0.0
	for hi-lo > 1e-6 {
		mid = (lo + hi) / 2
		n := 0
		for _, d := range distances {
			if d > mid {
				n++
			}
		}
		if n > wanted {
			lo = mid
		} else {
			hi = mid
		}
	}
	return mid
}
