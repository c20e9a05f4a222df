package onnx

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
)

func late(t testing.TB, dir, settings string) Late {
	return Late{tiny(t, dir, ",late=true"+settings)}
}

// parted cuts text before the given bytes.
func parted(text string, cuts ...int) evalkit.Parted {
	p := evalkit.Parted{Text: text}
	from := 0
	for _, to := range append(cuts, len(text)) {
		p.Parts = append(p.Parts, evalkit.Span{Start: from, End: to})
		from = to
	}
	return p
}

func embedParts(t testing.TB, l Late, texts ...evalkit.Parted) evalkit.Vectors {
	t.Helper()
	v, err := l.EmbedParts(t.Context(), texts)
	require.NoError(t, err)
	return v
}

func TestLateChunkOfAWholeDocumentIsItsPlainVector(t *testing.T) {
	withRuntime(t)
	dir := tinyFolder(t, 1, nil)
	texts := []string{"ice", "the ice drifts", "[MASK] ice [SEP]", " \n the buoy listens.\n", "ices ñ ice", exactly(8)}
	for _, settings := range []string{"", `,passage_prefix="node: "`} {
		l := late(t, dir, settings)
		var docs, whole []evalkit.Parted
		for _, text := range texts {
			if len(l.encoder.encode(l.spec.PassagePrefix+text)) > l.window-2 {
				continue // the plain vector would be that of a cut text
			}
			docs = append(docs, evalkit.Parted{Text: text, Parts: []evalkit.Span{{Start: 0, End: len(text)}}})
			whole = append(whole, parted(text))
		}
		require.Greater(t, len(docs), 3)
		got := embedParts(t, l, docs...)
		for i, d := range whole {
			want, err := tiny(t, dir, settings).Embed(t.Context(), evalkit.Passage, []string{d.Text})
			require.NoError(t, err)
			assert.Equal(t, want.Row(0), got.Row(i), "%q", d.Text)
		}
	}
}

// slow computes the vectors of a document token by token: each token is taken
// from the window where it stands furthest from a cut.
func slow(t *testing.T, l Late, d evalkit.Parted) [][]float64 {
	t.Helper()
	ids, starts := l.encoder.locate(d.Text)
	room, n, dim := l.window-2, len(ids), l.export.config.Hidden
	s, err := l.load()
	require.NoError(t, err)
	depth, token := make([]int, n), make([][]float32, n)
	var first, last []float32
	for start := 0; ; start = min(start+room/2, n-room) {
		end := min(start+room, n)
		hidden, err := s.run(l.encoder.framed(ids[start:end]), 1)
		require.NoError(t, err)
		for i := start; i < end; i++ {
			left, right := i-start, end-1-i
			if start == 0 {
				left = n
			}
			if end == n {
				right = n
			}
			if x := 1 + min(left, right); x >= depth[i] { // of two equally deep, the later one
				depth[i], token[i] = x, hidden[(1+i-start)*dim:(2+i-start)*dim]
			}
		}
		if start == 0 {
			first = hidden[:dim]
		}
		if last = hidden[len(hidden)-dim:]; end == n {
			break
		}
	}
	var out [][]float64
	for _, p := range d.Parts {
		sum := make([]float64, dim)
		for i, at := range starts {
			if at >= p.Start && at < p.End {
				addRows(sum, token[i])
				if i == 0 {
					addRows(sum, first)
				}
				if i == n-1 {
					addRows(sum, last)
				}
			}
		}
		out = append(out, sum)
	}
	return out
}

func TestLateEqualsTokenByToken(t *testing.T) {
	withRuntime(t)
	dir := tinyFolder(t, 1, nil)
	rng := rand.New(rand.NewPCG(1, 0))
	for _, window := range []int{5, 10, 11, 40} {
		l := late(t, dir, fmt.Sprintf(",window=%d", window))
		for range 15 {
			n := 1 + rng.IntN(60)
			list := make([]string, n)
			for i := range list {
				list[i] = tinyVocab[5+rng.IntN(6)]
			}
			text := strings.Join(list, " ")
			a, b := rng.IntN(len(text))+1, rng.IntN(len(text))+1
			d := evalkit.Parted{Text: text, Parts: []evalkit.Span{{Start: 0, End: a}, {Start: b - 1, End: len(text)}, {Start: 0, End: len(text)}}}
			got := embedParts(t, l, d)
			for i, want := range slow(t, l, d) {
				if span := d.Parts[i]; strings.TrimSpace(text[span.Start:span.End]) == "" || !begins(text, span) {
					continue
				}
				assert.InDelta(t, 1, cosine(got.Row(i), want), 1e-6, "window %d, %d tokens, %v", window, n, d.Parts[i])
			}
		}
	}
}

// begins reports whether a word starts in a span.
func begins(text string, s evalkit.Span) bool {
	return s.Start == 0 || strings.Contains(text[s.Start-1:s.End-1], " ")
}

func TestLateReadsContext(t *testing.T) {
	withRuntime(t)
	l := late(t, tinyFolder(t, 1, nil), "")
	a := embedParts(t, l, parted("the ice drifts. the node listens", 16))
	b := embedParts(t, l, parted("the buoy buoy . the node listens", 16))
	assert.NotEqual(t, a.Row(1), b.Row(1), "the same chunk in another document")
	plain, err := l.Embed(t.Context(), evalkit.Passage, []string{"the node listens"})
	require.NoError(t, err)
	assert.NotEqual(t, plain.Row(0), a.Row(1))
}

func TestLateVectorDependsOnItsDocumentAlone(t *testing.T) {
	withRuntime(t)
	l := late(t, tinyFolder(t, 1, nil), "")
	docs := []evalkit.Parted{parted(exactly(30), 20, 40, 41), parted("ice"), {}, parted(exactly(9), 11), parted(" "), parted(exactly(70), 100)}
	all := embedParts(t, l, docs...)
	at := 0
	for _, d := range docs {
		one := embedParts(t, l, d)
		require.Equal(t, one.Data, all.Data[at*all.Dim:(at+len(d.Parts))*all.Dim])
		at += len(d.Parts)
	}
	require.Equal(t, at, all.Len())
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	require.Equal(t, all, embedParts(t, l, docs...))
}

func TestLatePartsWithoutATokenOfTheirOwn(t *testing.T) {
	withRuntime(t)
	l := late(t, tinyFolder(t, 1, nil), "")
	v := embedParts(t, l, parted("the drifts ice \x01", 6, 8, 14, 15))
	zero := make([]float32, v.Dim)
	assert.NotEqual(t, zero, v.Row(0))
	assert.NotEqual(t, zero, v.Row(1), "inside a word: that of the word")
	assert.NotEqual(t, zero, v.Row(2))
	assert.Equal(t, zero, v.Row(3), "a blank")
	assert.Equal(t, zero, v.Row(4), "a control character")
}

// Every place of a document is decided by one window, and far from its ends.
func FuzzLateWindows(f *testing.F) {
	f.Add(uint16(30), uint8(10), uint8(0))
	f.Add(uint16(300), uint8(5), uint8(1))
	f.Add(uint16(9), uint8(40), uint8(3))
	withoutRuntime(f)
	dir := tinyFolder(f, 1, nil)
	f.Fuzz(func(t *testing.T, tokens uint16, window, prefix uint8) {
		n, size, before := 1+int(tokens%1000), 3+int(window%38), int(prefix%4)
		l := late(t, dir, fmt.Sprintf(",window=%d,passage_prefix=%q", size, strings.Repeat("node ", before)))
		text := exactly(n)
		d, err := l.read(parted(text))
		room := size - 2 - before
		if room < 2 && room < n {
			require.ErrorContains(t, err, "leaves no room")
			return
		}
		require.NoError(t, err)
		require.Equal(t, evalkit.Span{Start: 0, End: n + before + 2}, d.parts[0])
		at := 0
		for i, w := range d.windows {
			require.LessOrEqual(t, len(w.ids), size)
			require.Equal(t, at, w.own.Start)
			left, right := w.own.Start-w.start-before-1, w.start+len(w.ids)-w.own.End
			require.True(t, i == 0 || left >= room/4, "%d tokens before the first of window %d", left, i)
			require.True(t, i == len(d.windows)-1 || right >= room/4, "%d tokens after the last of window %d", right, i)
			at = w.own.End
		}
		require.Equal(t, n+before+2, at)
	})
}

func TestLateIsRefused(t *testing.T) {
	withoutRuntime(t)
	dir := tinyFolder(t, 1, nil)
	_, err := New(Spec{Model: dir, Pooling: poolCLS, Late: true})
	assert.EqualError(t, err, "late: pools the tokens of a chunk by mean, and the model's pooling is cls")
	_, err = ParseSpec("minilm(late=yes)")
	assert.ErrorContains(t, err, `late: "yes" is not true or false`)
	l := late(t, dir, "")
	_, err = l.read(evalkit.Parted{Text: "ice", Parts: []evalkit.Span{{Start: 1, End: 9}}})
	assert.ErrorContains(t, err, "part 0: span [1:9): end after the text of 3 bytes")
	assert.Equal(t, "1 of 2 documents are beyond the model's window of 10 tokens and are read in 4 windows, each half over the one before",
		l.UnreadParts([]evalkit.Parted{parted("ice"), parted(exactly(20))}))
	assert.Empty(t, l.UnreadParts([]evalkit.Parted{parted("ice")}))
	assert.Empty(t, l.Unread([]string{exactly(20)}))
}

func TestLateIsOpened(t *testing.T) {
	withRuntime(t)
	dir := tinyFolder(t, 1, nil)
	expr, err := evalkit.ParseExpr(fmt.Sprintf("onnx(model=%q,late=true)", dir))
	require.NoError(t, err)
	e, err := Open(expr)
	require.NoError(t, err)
	l, ok := e.(evalkit.ContextEmbedder)
	require.True(t, ok)
	defer func() { assert.NoError(t, e.(Late).Close()) }()
	assert.Equal(t, expr.String(), strings.ReplaceAll(l.String(), "model="+dir, fmt.Sprintf("model=%q", dir)))
	assert.NotEqual(t, tiny(t, dir, "").Fingerprint(), evalkit.Fingerprint(l))
	ctx, stop := context.WithCancel(t.Context())
	stop()
	_, err = l.EmbedParts(ctx, []evalkit.Parted{parted("ice")})
	assert.ErrorIs(t, err, context.Canceled)
	_, ok = evalkit.Embedder(tiny(t, dir, "")).(evalkit.ContextEmbedder)
	assert.False(t, ok)
}
