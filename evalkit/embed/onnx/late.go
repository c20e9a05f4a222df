package onnx

import (
	"context"
	"fmt"
	"slices"
	"sort"

	"github.com/chunkeval/chunkeval/evalkit"
)

// A Late embeds chunks late (Günther et al., "Late Chunking: Contextual Chunk
// Embeddings Using Long-Context Embedding Models", 2024): the model reads the
// document, and the vector of a chunk is the mean of the vectors of its tokens,
// which know of the text around them. The first chunk takes [CLS] and the prefix
// with it and the last one [SEP], so a chunk that is a whole document has the
// vector that Embed gives it. Embed itself, which questions go through, is that
// of the Model.
//
// A document that is longer than the model reads is read in windows, each half
// over the one before, and every token is taken from the window in whose middle
// it lies more: none has less than a quarter of a window on either side that the
// document does not end on. Nothing is cut, whatever Long says, and tokens are
// computed twice. Headers are not embedded: the document is the context.
type Late struct{ *Model }

// lateDoc is how a document is read. Its places are [CLS] and the prefix, then
// its tokens, then [SEP].
type lateDoc struct {
	windows []lateWindow
	parts   []evalkit.Span // of places, one per part; empty: the part has no token
}

// lateWindow is one reading, from the place Start of the document on; of its
// places it decides those of own.
type lateWindow struct {
	ids   []int32
	start int
	own   evalkit.Span
}

// EmbedParts returns one row per part, all zero for a part without a token. A
// token that two parts share in the middle belongs to the one it starts in.
func (l Late) EmbedParts(ctx context.Context, texts []evalkit.Parted) (evalkit.Vectors, error) {
	v, err := l.embedParts(ctx, texts)
	if err != nil {
		return evalkit.Vectors{}, fmt.Errorf("embedder %q: %w", l, err)
	}
	return v, nil
}

func (l Late) embedParts(ctx context.Context, texts []evalkit.Parted) (evalkit.Vectors, error) {
	s, err := l.load()
	if err != nil {
		return evalkit.Vectors{}, err
	}
	docs, err := l.readAll(ctx, texts)
	if err != nil {
		return evalkit.Vectors{}, err
	}
	var all []window
	var place []lateWindow
	for i, d := range docs {
		for _, w := range d.windows {
			all, place = append(all, window{i, w.ids}), append(place, w)
		}
	}
	v := evalkit.Vectors{Dim: l.export.config.Hidden, Data: []float32{}}
	shares := make([][]share, len(all))
	err = l.compute(ctx, s, all, func(i int, hidden []float32) {
		shares[i] = docs[all[i].text].share(place[i], hidden, v.Dim)
	})
	if err != nil {
		return evalkit.Vectors{}, err
	}
	for i, d := range docs {
		n := len(d.windows)
		rows, err := d.join(shares[:n], v.Dim)
		if err != nil {
			return evalkit.Vectors{}, fmt.Errorf("text %d: %w", i, err)
		}
		v.Data, shares = append(v.Data, rows...), shares[n:]
	}
	return v, nil
}

func (l Late) readAll(ctx context.Context, texts []evalkit.Parted) ([]lateDoc, error) {
	docs, errs := make([]lateDoc, len(texts)), make([]error, len(texts))
	err := parallel(ctx, len(texts), func(i int) { docs[i], errs[i] = l.read(texts[i]) })
	return docs, first(err, errs)
}

// read plans how a document is read.
func (l Late) read(t evalkit.Parted) (lateDoc, error) {
	prefix := l.spec.PassagePrefix
	ids, starts := l.encoder.locate(prefix + t.Text)
	before := sort.SearchInts(starts, len(prefix))
	head := 1 + before // places before the first token of the text
	room := l.window - 1 - head
	d := lateDoc{parts: make([]evalkit.Span, len(t.Parts))}
	n := len(ids) - before
	switch {
	case n == 0 || evalkit.Blank(t.Text):
		return d, nil
	case room < 2 && room < n:
		return d, fmt.Errorf("the prefix %q has %d tokens: it leaves no room in a window of %d", prefix, before, l.window)
	}
	for i, p := range t.Parts {
		if err := p.Check(t.Text); err != nil {
			return d, fmt.Errorf("part %d: %w", i, err)
		}
		d.parts[i] = l.places(t.Text, p, len(prefix), starts, head)
	}
	for start := 0; ; start = min(start+room/2, n-room) {
		end := min(start+room, n)
		d.windows = append(d.windows, lateWindow{l.encoder.framed(ids[:before], ids[before+start:before+end]), start, evalkit.Span{}})
		if end == n {
			break
		}
	}
	d.divide(head, room, n)
	return d, nil
}

// places returns the places of the tokens that start in part p; if none does,
// of the token that covers it.
func (l Late) places(text string, p evalkit.Span, prefix int, starts []int, head int) evalkit.Span {
	before := head - 1
	lo, hi := sort.SearchInts(starts, prefix+p.Start)-before, sort.SearchInts(starts, prefix+p.End)-before
	if lo == hi {
		if len(l.encoder.encode(text[p.Start:p.End])) == 0 {
			return evalkit.Span{}
		}
		lo, hi = max(lo-1, 0), max(hi, 1)
	}
	at := evalkit.Span{Start: head + lo, End: head + hi}
	if lo == 0 {
		at.Start = 0
	}
	if hi == len(starts)-before {
		at.End++
	}
	return at
}

// divide parts the places among the windows, in the middle of where two overlap.
func (d *lateDoc) divide(head, room, n int) {
	from := 0
	for i := range d.windows {
		to := head + n + 1
		if i+1 < len(d.windows) {
			to = head + (d.windows[i+1].start+d.windows[i].start+room)/2
		}
		d.windows[i].own = evalkit.Span{Start: from, End: to}
		from = to
	}
}

// A share is what one window knows of one part: the sum of n token vectors.
type share struct {
	part, n int
	sum     []float64
}

func (d *lateDoc) share(w lateWindow, hidden []float32, dim int) []share {
	var out []share
	for i, p := range d.parts {
		at := p.Intersect(w.own)
		if at.Empty() {
			continue
		}
		x := share{i, at.Len(), make([]float64, dim)}
		addRows(x.sum, hidden[(at.Start-w.start)*dim:(at.End-w.start)*dim])
		out = append(out, x)
	}
	return out
}

// join returns the rows of all parts: the mean over their tokens, with length 1.
func (d *lateDoc) join(shares [][]share, dim int) ([]float32, error) {
	rows := make([]float32, len(d.parts)*dim)
	sums := make([]share, len(d.parts))
	for _, x := range slices.Concat(shares...) {
		if sum := &sums[x.part]; sum.n == 0 {
			*sum = x
		} else {
			sum.n += x.n
			for i, v := range x.sum {
				sum.sum[i] += v
			}
		}
	}
	for i, x := range sums {
		if x.n == 0 {
			continue
		}
		for j, v := range meanOf(x.sum, x.n) { // rounded as the pool of one window is
			x.sum[j] = float64(v) * float64(x.n)
		}
		if err := normalize(rows[i*dim:(i+1)*dim], x.sum); err != nil {
			return nil, fmt.Errorf("part %d: %w", i, err)
		}
	}
	return rows, nil
}

// Unread returns nothing: passages are not read on their own.
func (l Late) Unread([]string) string { return "" }

// UnreadParts returns a note if the model reads some of texts in several
// windows, else the empty string: chunks then know of no more than a part of
// their document.
func (l Late) UnreadParts(texts []evalkit.Parted) string {
	docs, err := l.readAll(context.Background(), texts)
	if err != nil {
		return ""
	}
	long, windows := 0, 0
	for _, d := range docs {
		if n := len(d.windows); n > 1 {
			long, windows = long+1, windows+n
		}
	}
	if long == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d documents are beyond the model's window of %d tokens and are read in %d windows, each half over the one before", long, len(texts), l.window, windows)
}
