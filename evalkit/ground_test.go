package evalkit_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
)

func span(start, end int) evalkit.Span { return evalkit.Span{Start: start, End: end} }

func TestSpanCheck(t *testing.T) {
	text := "aäb"
	require.NoError(t, span(0, 4).Check(text))
	for s, want := range map[evalkit.Span]string{
		span(-1, 2): "start before the text", span(3, 1): "end before start", span(0, 9): "after the text of 4 bytes",
		span(1, 1): "empty", span(0, 2): "cuts a character", span(2, 4): "cuts a character",
	} {
		assert.ErrorContains(t, s.Check(text), want)
	}
}

// bits is a set of places below 64, to check the algebra of spans against.
type bits uint64

func setOf(spans []evalkit.Span) bits {
	var b bits
	for _, s := range spans {
		for i := s.Start; i < s.End; i++ {
			b |= 1 << i
		}
	}
	return b
}

// spansOf reads pairs of bytes as spans below 64.
func spansOf(data []byte) []evalkit.Span {
	var out []evalkit.Span
	for i := 0; i+1 < len(data); i += 2 {
		a, b := int(data[i]%64), int(data[i+1]%64)
		out = append(out, span(min(a, b), max(a, b)))
	}
	return out
}

func FuzzSpanAlgebra(f *testing.F) {
	f.Add([]byte{1, 5, 3, 9, 9, 12}, []byte{0, 2, 8, 10})
	f.Add([]byte{}, []byte{7, 7})
	f.Add([]byte{0, 63, 4, 5}, []byte{1, 2, 3, 4, 60, 63})
	f.Fuzz(func(t *testing.T, x, y []byte) {
		a, b := evalkit.Union(spansOf(x)), evalkit.Union(spansOf(y))
		require.Equal(t, setOf(spansOf(x)), setOf(a))
		require.Equal(t, setOf(a)&setOf(b), setOf(evalkit.IntersectAll(a, b)))
		require.Equal(t, setOf(a)&^setOf(b), setOf(evalkit.Subtract(a, b)))
		for _, list := range [][]evalkit.Span{a, evalkit.IntersectAll(a, b), evalkit.Subtract(a, b)} {
			for i, s := range list {
				require.False(t, s.Empty())
				if i > 0 {
					require.GreaterOrEqual(t, s.Start, list[i-1].End)
				}
			}
		}
		for _, s := range spansOf(x) {
			for _, u := range spansOf(y) {
				shared := setOf([]evalkit.Span{s}) & setOf([]evalkit.Span{u})
				require.Equal(t, shared, setOf([]evalkit.Span{s.Intersect(u)}))
				require.Equal(t, shared != 0, s.Overlaps(u), "%v %v", s, u)
			}
		}
	})
}

func TestUnionLeavesItsArgument(t *testing.T) {
	in := []evalkit.Span{span(5, 9), span(0, 6)}
	assert.Equal(t, []evalkit.Span{span(0, 9)}, evalkit.Union(in))
	assert.Equal(t, []evalkit.Span{span(5, 9), span(0, 6)}, in)
}

func TestPassages(t *testing.T) {
	c := evalkit.Chunk{Span: span(10, 20), Text: "0123456789"}
	assert.Equal(t, []string{"0123456789"}, c.Passages())
	c.Header, c.Units = "Guide", []evalkit.Span{span(10, 12), span(15, 20)}
	assert.Equal(t, []string{"Guide\n01", "Guide\n56789"}, c.Passages())
}

func TestGold(t *testing.T) {
	q := evalkit.Query{Qrels: []evalkit.Qrel{
		{Doc: "a", Span: span(5, 9), Grade: 1}, {Doc: "a", Span: span(0, 6), Grade: 0.5}, {Doc: "b", Span: span(1, 2), Grade: 0}, {Doc: "b", Span: span(3, 4), Grade: -1},
	}}
	assert.Equal(t, map[evalkit.DocID][]evalkit.Span{"a": {span(0, 9)}}, q.Gold())
}

// halves has a token for every two bytes.
type halves struct{}

func (halves) String() string        { return "halves" }
func (halves) Count(text string) int { return (len(text) + 1) / 2 }
func (halves) Starts(dst []int, text string) []int {
	for i := 0; i < len(text); i += 2 {
		dst = append(dst, i)
	}
	return dst
}

func TestTexts(t *testing.T) {
	x := evalkit.NewTexts([]evalkit.Document{{ID: "d", Text: "äb c\n\n d"}}, halves{})
	assert.Equal(t, 2, x.Len(evalkit.Rune, "d", span(0, 3)))
	for cut := range 9 { // lengths add up, wherever a span is cut
		assert.Equal(t, x.Len(evalkit.Token, "d", span(0, 9)), x.Len(evalkit.Token, "d", span(0, cut))+x.Len(evalkit.Token, "d", span(cut, 9)))
	}
	assert.Equal(t, 2, x.Tokens("d", span(0, 3)))
	assert.Equal(t, []evalkit.Span{span(0, 9)}, x.Merge("d", []evalkit.Span{span(8, 9), span(0, 5)}), "only white space lies between")
	assert.Equal(t, []evalkit.Span{span(0, 3), span(8, 9)}, x.Merge("d", []evalkit.Span{span(8, 9), span(0, 3)}))
	assert.Panics(t, func() { x.Text("nowhere", span(0, 1)) })
}

func TestExpands(t *testing.T) {
	assert.True(t, evalkit.Expands(named("fixed_size(size=3)")))
	assert.False(t, evalkit.Expands(named("fixed_size_like(size=3)")))
	assert.False(t, evalkit.Expands(named("parent")))
}

type named string

func (n named) String() string { return string(n) }
func (named) Split(context.Context, evalkit.Document) ([]evalkit.Chunk, error) {
	return nil, nil
}

func TestParseExprErrors(t *testing.T) {
	for in, want := range map[string]string{
		"": "no name", "a b": "no name", "x(": "closing parenthesis", "x(a)": "not key=value", "x(a=1,a=2)": "given twice",
		"x(a=(1)": "missing", "x(a=])": "does not match", `x(a="b)`: "unclosed quote", "x(a=)": "not key=value",
	} {
		_, err := evalkit.ParseExpr(in)
		assert.ErrorContains(t, err, want, in)
	}
}

func TestSettings(t *testing.T) {
	e, err := evalkit.ParseExpr(`x(n=3,f=0.5,b=true,s="a, b",w=word,list=["\n\n", y],inner=lsa(dim=2,seed=1))`)
	require.NoError(t, err)
	s := e.Settings()
	assert.Equal(t, 3, s.Int("n", 0))
	assert.InDelta(t, 0.5, s.Float("f", 0), 0)
	assert.True(t, s.Bool("b", false))
	assert.Equal(t, "a, b", s.String("s", ""))
	assert.Equal(t, "word", s.Enum("w", "", "word", "rune"))
	assert.Equal(t, []string{"\n\n", "y"}, s.Strings("list", nil))
	assert.Equal(t, "lsa(dim=2,seed=1)", s.String("inner", ""))
	require.NoError(t, s.Err())
	for in, want := range map[string]string{
		"x(n=a)": `n: "a" is not an integer`, "x(f=NaN)": "not a finite number", "x(b=yes)": "not true or false", "x(list=a)": "not a list",
		"x(m=1)": `unknown key "m"`, "x(lisst=1)": `did you mean "list"?`,
	} {
		e, err := evalkit.ParseExpr(in)
		require.NoError(t, err)
		s := e.Settings()
		s.Int("n", 0)
		s.Float("f", 0)
		s.Bool("b", false)
		s.Strings("list", nil)
		assert.ErrorContains(t, s.Err(), want, in)
	}
}

func FuzzExpr(f *testing.F) {
	for _, s := range []string{"a", "a(b=1)", `a(b="x\"y",c=[1,2],d=e(f=g))`, "a(b=(", `a(b="`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e, err := evalkit.ParseExpr(s)
		if err != nil {
			return
		}
		again, err := evalkit.ParseExpr(e.String())
		require.NoError(t, err)
		require.Equal(t, e, again)
	})
}

func ExampleParseExpr() {
	e, _ := evalkit.ParseExpr("fixed_size( size = 200, overlap = 40 )")
	fmt.Println(e)
	s := e.Settings()
	s.Int("size", 0)
	s.Int("overlpa", 0)
	fmt.Println(s.Err())
	// Output:
	// fixed_size(size=200,overlap=40)
	// unknown key "overlap": did you mean "overlpa"?
}

func ExampleUnion() {
	fmt.Println(evalkit.Union([]evalkit.Span{{Start: 5, End: 9}, {Start: 0, End: 5}, {Start: 12, End: 13}}))
	// Output: [[0:9) [12:13)]
}

func ExampleTexts_Merge() {
	text := "one two"
	t := evalkit.NewTexts([]evalkit.Document{{ID: "d", Text: text}}, nil)
	for _, s := range t.Merge("d", []evalkit.Span{{Start: 0, End: 3}, {Start: 4, End: 7}}) {
		fmt.Println(strings.ToUpper(text[s.Start:s.End]))
	}
	// Output: ONE TWO
}
