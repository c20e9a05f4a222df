package chunk

import (
	"context"

	"github.com/chunkeval/chunkeval/evalkit"
)

// pack joins consecutive pieces into spans of at most size, and repeats pieces
// of at most overlap at the start of the next span. lengths are those of the
// pieces one by one.
func pack(pieces []evalkit.Span, lengths []int, size, overlap int) []evalkit.Span {
	return merge{size: size, overlap: overlap}.pack(pieces, lengths)
}

// merge is the merge step of LangChain's text splitters, which the published
// tables rest on. With the length of the joiner between any two pieces of the
// list counted in total:
//
//	when total + new > size and the list is not empty: emit the list; then drop
//	pieces from its front while total > overlap, or while total + new > size
//	and total > 0
//
// The joiner is empty. Its length is 0 all the same only where a tokenizer adds
// nothing to a text: one that counts [CLS] and [SEP] counts them for it too.
type merge struct{ size, overlap, joiner int }

func (m merge) pack(pieces []evalkit.Span, lengths []int) []evalkit.Span {
	var out []evalkit.Span
	first, total := 0, 0 // the list is pieces[first:i]
	joiner := func(more bool) int {
		if more {
			return m.joiner
		}
		return 0
	}
	for i, n := range lengths {
		if total+n+joiner(i > first) > m.size && i > first {
			out = append(out, evalkit.Span{Start: pieces[first].Start, End: pieces[i-1].End})
			for total > m.overlap || total+n+joiner(i > first) > m.size && total > 0 {
				total -= lengths[first] + joiner(i-first > 1)
				first++
			}
		}
		total += n + joiner(i > first)
	}
	if first < len(pieces) {
		out = append(out, evalkit.Span{Start: pieces[first].Start, End: pieces[len(pieces)-1].End})
	}
	return out
}

// cutter finds the pieces of a span that come one level below it.
type cutter func(text string, s evalkit.Span) []evalkit.Span

// fit returns pieces of at most size: s itself, or what the first cutter makes
// of it, each fitted with the cutters after it, at last between tokens. When
// ctx ends it stops; the caller sees to the error.
func (r ruler) fit(ctx context.Context, text string, s evalkit.Span, size int, cutters ...cutter) []evalkit.Span {
	if ctx.Err() != nil {
		return nil
	}
	if r.length(text[s.Start:s.End]) <= size {
		return []evalkit.Span{s}
	}
	if len(cutters) == 0 {
		return r.hardCut(text, s, size)
	}
	var out []evalkit.Span
	for _, p := range cutters[0](text, s) {
		out = append(out, r.fit(ctx, text, p, size, cutters[1:]...)...)
	}
	return out
}

// lengths returns the length of every span.
func (r ruler) lengths(text string, spans []evalkit.Span) []int {
	out := make([]int, len(spans))
	for i, s := range spans {
		out[i] = r.length(text[s.Start:s.End])
	}
	return out
}

// packDoc packs the pieces of a whole document.
func (r ruler) packDoc(ctx context.Context, doc evalkit.Document, pieces []evalkit.Span, size, overlap int, cutters ...cutter) ([]evalkit.Chunk, error) {
	var fitted []evalkit.Span
	for _, p := range pieces {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		fitted = append(fitted, r.fit(ctx, doc.Text, p, size, cutters...)...)
	}
	spans := pack(fitted, r.lengths(doc.Text, fitted), size, overlap)
	return r.finish(ctx, doc, drafts(spans), size)
}

// whole returns the span of the whole text, none if it is empty.
func whole(text string) []evalkit.Span {
	if text == "" {
		return nil
	}
	return []evalkit.Span{{Start: 0, End: len(text)}}
}
