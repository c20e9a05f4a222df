package expand

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
)

// letters counts one token per byte.
type letters struct{}

func (letters) String() string        { return "letters" }
func (letters) Count(text string) int { return len(text) }
func (letters) Starts(dst []int, text string) []int {
	for i := range len(text) {
		dst = append(dst, i)
	}
	return dst
}

// cut returns n chunks of doc of the given size, each step bytes after the last.
func cut(doc evalkit.DocID, text string, size, step int) []evalkit.Chunk {
	var out []evalkit.Chunk
	for start := 0; ; start += step {
		s := evalkit.Span{Start: start, End: min(start+size, len(text))}
		out = append(out, evalkit.Chunk{Doc: doc, Index: len(out), Span: s, Text: text[s.Start:s.End]})
		if s.End == len(text) {
			return out
		}
	}
}

func hits(chunks ...evalkit.Chunk) []evalkit.Hit {
	out := make([]evalkit.Hit, len(chunks))
	for i, c := range chunks {
		out[i] = evalkit.Hit{Chunk: c, Rank: i + 1, Score: 1 / float64(i+1)}
	}
	return out
}

func names(chunks []evalkit.Chunk) string {
	var out []string
	for _, c := range chunks {
		out = append(out, fmt.Sprint(c.Index))
	}
	return strings.Join(out, " ")
}

func flatNames(flat []evalkit.RetrievedChunk) string {
	var out []string
	for _, c := range flat {
		out = append(out, fmt.Sprintf("%s%d:%s", c.Chunk.Doc, c.Chunk.Index, c.Role[:1]))
	}
	return strings.Join(out, " ")
}

func TestHO_NW_01_WindowAtTheEdges(t *testing.T) {
	a := cut("a", "0123456789", 2, 2)
	chunks := map[evalkit.DocID][]evalkit.Chunk{"a": a}
	tree, _ := Neighbors{}.Expand(hits(a[0], a[4]), chunks, evalkit.Window{Prev: 2, Next: 2})
	assert.Empty(t, tree[0].NeighborsPrev)
	assert.NotNil(t, tree[0].NeighborsPrev)
	assert.Equal(t, "1 2", names(tree[0].NeighborsNext))
	assert.Equal(t, "2 3", names(tree[1].NeighborsPrev))
	assert.Empty(t, tree[1].NeighborsNext)
	_, flat := Neighbors{}.Expand(hits(a[2]), chunks, evalkit.Window{Prev: 50, Next: 50})
	assert.Equal(t, "a0:n a1:n a2:h a3:n a4:n", flatNames(flat))
}

func TestHO_NW_02_NeverFromAnotherDocument(t *testing.T) {
	a, b := cut("A", "012345", 2, 2), cut("B", "012345", 2, 2)
	chunks := map[evalkit.DocID][]evalkit.Chunk{"A": a, "B": b}
	_, flat := Neighbors{}.Expand(hits(a[2], b[0]), chunks, evalkit.Window{Prev: 1, Next: 1})
	assert.Equal(t, "A1:n A2:h B0:h B1:n", flatNames(flat))
	_, flat = Neighbors{}.Expand(hits(b[0], a[2]), chunks, evalkit.Window{Prev: 1, Next: 1})
	assert.Equal(t, "B0:h B1:n A1:n A2:h", flatNames(flat), "documents by their best hit")
}

func TestHO_NW_03_TouchingWindows(t *testing.T) {
	c := cut("d", "0123456", 1, 1)
	tree, flat := Neighbors{}.Expand(hits(c[4], c[2]), map[evalkit.DocID][]evalkit.Chunk{"d": c}, evalkit.Window{Prev: 1, Next: 1})
	assert.Equal(t, "d1:n d2:h d3:n d4:h d5:n", flatNames(flat))
	assert.Equal(t, 1, flat[2].Rank, "c3 comes from the best hit, c4")
	assert.Equal(t, -1, flat[2].Distance)
	assert.Equal(t, 2, flat[1].Rank, "a hit keeps its own rank")
	assert.Equal(t, "3", names(tree[0].NeighborsPrev), "a chunk may stand under several hits")
	assert.Equal(t, "3", names(tree[1].NeighborsNext))
	ctx := NewContext(flat, evalkit.NewTexts([]evalkit.Document{{ID: "d", Text: "0123456"}}, letters{}))
	require.Len(t, ctx.Pieces, 1, "one window")
	assert.Equal(t, "12345", ctx.Text)
}

func TestHO_NW_04_OverlapIsNotRepeated(t *testing.T) {
	text := "abcdefghijklmnopqrstuvw"
	c := cut("d", text, 10, 6)
	_, flat := Neighbors{}.Expand(hits(c[1]), map[evalkit.DocID][]evalkit.Chunk{"d": c}, evalkit.Window{Prev: 1, Next: 1})
	ctx := NewContext(flat, evalkit.NewTexts([]evalkit.Document{{ID: "d", Text: text}}, letters{}))
	assert.Equal(t, text[:22], ctx.Text)
	assert.Equal(t, 22, ctx.Tokens)
}

func TestContextMarks(t *testing.T) {
	docs := []evalkit.Document{{ID: "a", Text: "one-two-three"}, {ID: "b", Text: "four"}}
	piece := func(doc evalkit.DocID, i, start, end int) evalkit.RetrievedChunk {
		return evalkit.RetrievedChunk{Chunk: evalkit.Chunk{Doc: doc, Index: i, Span: evalkit.Span{Start: start, End: end}}}
	}
	ctx := NewContext([]evalkit.RetrievedChunk{piece("a", 0, 0, 3), piece("a", 2, 8, 13), piece("b", 0, 0, 4)}, evalkit.NewTexts(docs, letters{}))
	assert.Equal(t, "one"+GapMark+"three"+DocumentMark+"four", ctx.Text)
	assert.Equal(t, 12, ctx.Tokens)
}

func TestResponseJSON(t *testing.T) {
	c := cut("d", "abcdef", 2, 2)
	tree, flat := Neighbors{}.Expand(hits(c[0], c[2]), map[evalkit.DocID][]evalkit.Chunk{"d": c}, evalkit.Window{Next: 1})
	texts := evalkit.NewTexts([]evalkit.Document{{ID: "d", Text: "abcdef"}}, letters{})
	b, err := json.Marshal(NewResponse(Request{"q?", "fixed_size", 2, evalkit.Window{Next: 1}}, tree, flat, texts))
	require.NoError(t, err)
	var got map[string]any
	require.NoError(t, json.Unmarshal(b, &got))
	assert.EqualValues(t, 2, got["top_k"])
	assert.EqualValues(t, 1, got["neighbor_next"])
	list := got["retrieved_chunks"].([]any)
	require.Len(t, list, 3)
	assert.Equal(t, "neighbor", list[1].(map[string]any)["label"])
	branches := got["expansion_tree"].([]any)
	require.Len(t, branches, 2)
	last := branches[1].(map[string]any)
	assert.Equal(t, []any{}, last["neighbors_prev"], "empty, not null")
	assert.Equal(t, []any{}, last["neighbors_next"])
	b, err = json.Marshal(NewResponse(Request{}, nil, nil, texts))
	require.NoError(t, err)
	assert.NotContains(t, string(b), "null", "nothing found: empty arrays")
}

// scenario is a random index with hits; equal seeds give equal scenarios.
func scenario(seed uint64) (map[evalkit.DocID][]evalkit.Chunk, []evalkit.Hit, *evalkit.Texts) {
	rng := rand.New(rand.NewPCG(seed, 1))
	chunks := map[evalkit.DocID][]evalkit.Chunk{}
	var all []evalkit.Chunk
	var docs []evalkit.Document
	for i := range 1 + rng.IntN(4) {
		id := evalkit.DocID(fmt.Sprintf("d%d", i))
		size := 2 + rng.IntN(5)
		text := strings.Repeat("abcdefghij", 1+rng.IntN(8))
		chunks[id] = cut(id, text, size, 1+rng.IntN(size))
		all = append(all, chunks[id]...)
		docs = append(docs, evalkit.Document{ID: id, Text: text})
	}
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return chunks, hits(all[:rng.IntN(min(9, len(all)+1))]...), evalkit.NewTexts(docs, letters{})
}

func ids(flat []evalkit.RetrievedChunk) map[evalkit.ChunkID]evalkit.RetrievedChunk {
	m := map[evalkit.ChunkID]evalkit.RetrievedChunk{}
	for _, c := range flat {
		m[c.Chunk.ID()] = c
	}
	return m
}

func FuzzIdentities(f *testing.F) {
	for seed := range uint64(200) {
		f.Add(seed, uint8(seed%4), uint8(seed/4%5))
	}
	f.Fuzz(func(t *testing.T, seed uint64, prev, next uint8) {
		chunks, hs, texts := scenario(seed)
		w := evalkit.Window{Prev: int(prev % 60), Next: int(next % 60)}
		before := slices.Clone(hs)
		tree, flat := Neighbors{}.Expand(hs, chunks, w)
		require.Equal(t, before, hs, "arguments are not modified")
		set := ids(flat)
		require.Len(t, set, len(flat), "no chunk twice")
		require.LessOrEqual(t, len(flat), len(hs)*(1+w.Prev+w.Next))
		for _, h := range hs { // H ⊆ E, with label, rank and score
			require.Equal(t, evalkit.RetrievedChunk{Chunk: h.Chunk, Role: evalkit.RoleHit, Rank: h.Rank, Score: h.Score}, set[h.Chunk.ID()])
		}
		best := map[evalkit.DocID]int{}
		for _, h := range hs {
			if r, ok := best[h.Chunk.Doc]; !ok || h.Rank < r {
				best[h.Chunk.Doc] = h.Rank
			}
		}
		for i, c := range flat {
			require.Contains(t, best, c.Chunk.Doc, "never from a document without a hit")
			if i > 0 {
				p := flat[i-1]
				require.True(t, best[p.Chunk.Doc] < best[c.Chunk.Doc] || p.Chunk.Doc == c.Chunk.Doc && p.Chunk.Index < c.Chunk.Index, "document order")
			}
		}
		inTree := map[evalkit.ChunkID]bool{}
		for i, e := range tree {
			require.Equal(t, hs[i], e.Hit, "hits in score order")
			require.NotNil(t, e.NeighborsPrev)
			require.NotNil(t, e.NeighborsNext)
			doc := chunks[e.Hit.Chunk.Doc]
			at := e.Hit.Chunk.Index
			require.Len(t, e.NeighborsPrev, min(w.Prev, at))
			require.Len(t, e.NeighborsNext, min(w.Next, len(doc)-1-at))
			inTree[e.Hit.Chunk.ID()] = true
			for _, c := range slices.Concat(e.NeighborsPrev, e.NeighborsNext) {
				require.Equal(t, e.Hit.Chunk.Doc, c.Doc)
				d := set[c.ID()].Distance
				require.LessOrEqual(t, max(d, -d), max(c.Index-at, at-c.Index), "the nearest hit is named")
				inTree[c.ID()] = true
			}
		}
		require.Len(t, inTree, len(flat), "tree and list hold the same chunks")
		if w == (evalkit.Window{}) {
			require.Len(t, flat, len(hs))
		}
		for _, more := range []evalkit.Window{{Prev: w.Prev + 1, Next: w.Next}, {Prev: w.Prev, Next: w.Next + 1}} {
			_, wider := Neighbors{}.Expand(hs, chunks, more)
			requireSubset(t, set, ids(wider))
		}
		if len(hs) > 0 { // monotone in k
			_, fewer := Neighbors{}.Expand(hs[:len(hs)-1], chunks, w)
			requireSubset(t, ids(fewer), set)
		}
		ctx := NewContext(flat, texts)
		sum := 0
		for _, p := range ctx.Pieces {
			sum += p.Span.Len()
		}
		require.Equal(t, sum, ctx.Tokens)
	})
}

func requireSubset(t *testing.T, small, large map[evalkit.ChunkID]evalkit.RetrievedChunk) {
	t.Helper()
	for id := range small {
		require.Contains(t, large, id)
	}
}

func TestGapsInTheIndexDoNotCrash(t *testing.T) {
	c := cut("d", "012345", 1, 1)
	gappy := []evalkit.Chunk{c[0], c[2], c[5]}
	tree, _ := Neighbors{}.Expand(hits(c[2], c[3]), map[evalkit.DocID][]evalkit.Chunk{"d": gappy}, evalkit.Window{Prev: 1, Next: 1})
	assert.Equal(t, "0", names(tree[0].NeighborsPrev))
	assert.Equal(t, "5", names(tree[0].NeighborsNext))
	assert.Equal(t, "2", names(tree[1].NeighborsPrev), "a hit that the list lacks still has neighbors")
	tree, flat := Neighbors{}.Expand(hits(c[2]), nil, evalkit.Window{Prev: -1, Next: 3})
	assert.Empty(t, tree[0].NeighborsNext)
	assert.Len(t, flat, 1)
}

func BenchmarkExpand(b *testing.B) {
	c := cut("d", strings.Repeat("x", 4000), 10, 10)
	chunks := map[evalkit.DocID][]evalkit.Chunk{"d": c}
	hs := hits(c[10], c[50], c[51], c[200], c[300])
	for b.Loop() {
		Neighbors{}.Expand(hs, chunks, evalkit.Window{Prev: 1, Next: 1})
	}
}

func ExampleNeighbors() {
	text := "one two six ten"
	chunks := cut("doc", text, 4, 4)
	hit := evalkit.Hit{Chunk: chunks[1], Rank: 1, Score: 0.9}
	tree, flat := Neighbors{}.Expand([]evalkit.Hit{hit}, map[evalkit.DocID][]evalkit.Chunk{"doc": chunks}, evalkit.Window{Prev: 1, Next: 1})
	fmt.Printf("%q: prev %q next %q\n", tree[0].Hit.Chunk.Text, tree[0].NeighborsPrev[0].Text, tree[0].NeighborsNext[0].Text)
	for _, c := range flat {
		fmt.Printf("%-8s %q\n", c.Role, c.Chunk.Text)
	}
	// Output:
	// "two ": prev "one " next "six "
	// neighbor "one "
	// hit      "two "
	// neighbor "six "
}
