package chunk

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/chunk/chunktest"
	"github.com/chunkeval/chunkeval/evalkit/token"
)

// letters embeds a text as the counts of its letters, and notes what it saw.
type letters struct{ seen *[]string }

func (letters) String() string { return "letters" }

func (l letters) Embed(_ context.Context, _ evalkit.TextKind, texts []string) (evalkit.Vectors, error) {
	v := evalkit.Vectors{Dim: 27, Data: make([]float32, 27*len(texts))}
	for i, t := range texts {
		if l.seen != nil {
			*l.seen = append(*l.seen, t)
		}
		row := v.Row(i)
		row[26] = 1 // no text is without a vector
		for _, r := range strings.ToLower(t) {
			if r >= 'a' && r <= 'z' {
				row[r-'a']++
			}
		}
		sum := float32(0)
		for _, x := range row {
			sum += x * x
		}
		for j := range row {
			row[j] /= sqrt32(sum)
		}
	}
	return v, nil
}

func sqrt32(x float32) float32 {
	z := x
	for range 30 {
		z = (z + x/z) / 2
	}
	return z
}

func env(t testing.TB) Env {
	t.Helper()
	tok, err := token.Parse("cl100k")
	require.NoError(t, err)
	return Env{
		Tokenizer: tok, Embedder: func(string) (evalkit.Embedder, error) { return letters{}, nil },
		Chat: func(string) (Chat, error) { return &thirds{}, nil },
	}
}

func parse(t testing.TB, s string) evalkit.Strategy {
	t.Helper()
	strategy, err := Parse(s, env(t))
	require.NoError(t, err)
	return strategy
}

func split(t testing.TB, s, text string) []evalkit.Chunk {
	t.Helper()
	chunks, err := parse(t, s).Split(t.Context(), evalkit.Document{ID: "d", Text: text})
	require.NoError(t, err)
	return chunks
}

func texts(chunks []evalkit.Chunk) []string {
	out := []string{}
	for _, c := range chunks {
		out = append(out, c.Text)
	}
	return out
}

func starts(chunks []evalkit.Chunk) []int {
	out := []int{}
	for _, c := range chunks {
		out = append(out, c.Span.Start)
	}
	return out
}

// battery is every strategy with several settings.
var battery = []string{
	"fixed_size", "fixed_size(size=3)", "fixed_size(size=3,overlap=1)", "fixed_size(size=7,overlap=6,unit=rune)", "fixed_size(size=2,unit=word)", "fixed_size(size=5,trim=false)",
	"recursive", "recursive(size=4)", "recursive(size=12,overlap=5,unit=rune)", `recursive(size=9,unit=rune,separators=["\n"," "])`, "recursive(size=8,tokenizer=word)",
	"sentence", "sentence(size=6)", "sentence(size=20,overlap=8,unit=rune)", "sentence(size=3,overlap=1,unit=sentence)",
	"paragraph", "paragraph(size=5)", "paragraph(size=15,unit=rune)", "markdown", "markdown(size=6)", "markdown(size=15,unit=rune)", "page", "page(size=4)",
	"sentence_window", "sentence_window(window=0,size=5)", "sentence_window(window=1,size=8,unit=rune)", "parent", "parent(size=12,child=4)", "parent(size=30,child=9,unit=rune)",
	"semantic", "semantic(mode=stddev,buffer=0)", "semantic(mode=interquartile,threshold=0.5)", "semantic(mode=gradient,size=20)", "semantic_modified(size=60)", "cluster_semantic(size=100)",
	"llm_semantic(llm=thirds)", "llm_semantic(size=12,view=60,llm=thirds)", "contextual(llm=thirds)", "contextual(strategy=markdown(size=20),view=100,llm=thirds)",
}

func TestConformance(t *testing.T) {
	for _, s := range battery {
		t.Run(s, func(t *testing.T) { chunktest.Run(t, parse(t, s)) })
	}
}

func TestParseReadsStringBack(t *testing.T) {
	for _, s := range battery {
		a := parse(t, s)
		b, err := Parse(a.String(), Env{Tokenizer: env(t).Tokenizer, Embedder: func(spec string) (evalkit.Embedder, error) {
			assert.Equal(t, "letters", spec)
			return letters{}, nil
		}, Chat: env(t).Chat})
		require.NoError(t, err, a)
		assert.Equal(t, a.String(), b.String())
		assert.Equal(t, evalkit.Fingerprint(a), evalkit.Fingerprint(b))
	}
	for s, want := range map[string]string{
		"fixed_sise":                             `did you mean "fixed_size"`,
		"nothing_like_it":                        "known are fixed_size",
		"recursive(separators=[])":               "separators: none are given",
		"parent(size=10,child=10)":               "child 10 is not smaller than size 10",
		"semantic(mode=median)":                  `"median" is not one of`,
		"semantic(threshold=101)":                "out of range",
		"cluster_semantic(size=20)":              "below 50",
		"fixed_size(tokenizer=cl101)":            "tokenizer: ",
		"fixed_size(unit=word,tokenizer=cl100k)": "no meaning with unit=word",
	} {
		_, err := Parse(s, env(t))
		require.Error(t, err, s)
		assert.Contains(t, err.Error(), want)
	}
}

// TestSizeBound: a chunk is within its size or marked Oversize, and Oversize is
// rare: it is for pieces that count more when they are joined.
func TestSizeBound(t *testing.T) {
	tok := env(t).Tokenizer
	for _, s := range []string{"fixed_size(size=15,unit=rune)", "recursive(size=5)", "sentence(size=6)", "paragraph(size=6)", "markdown(size=8)", "page(size=5)", "parent(size=12,child=4)"} {
		e, err := evalkit.ParseExpr(s)
		require.NoError(t, err)
		size := e.Settings().Int("size", 0)
		for _, doc := range chunktest.Documents() {
			chunks, err := parse(t, s).Split(t.Context(), doc)
			require.NoError(t, err)
			for _, c := range chunks {
				length := tok.Count(c.Text)
				if strings.Contains(s, "rune") {
					length = len([]rune(c.Text))
				}
				assert.Equal(t, length > size, c.Oversize, "%s %q %q", s, doc.ID, c.Text)
				assert.Equal(t, tok.Count(c.Text), c.Tokens)
			}
		}
	}
}

func TestFixedSizeHoldsItsTokens(t *testing.T) {
	for _, doc := range chunktest.Documents() {
		chunks, err := parse(t, "fixed_size(size=5)").Split(t.Context(), doc)
		require.NoError(t, err)
		for _, c := range chunks {
			assert.LessOrEqual(t, c.Tokens, 5)
			assert.Positive(t, c.Tokens)
			assert.False(t, c.Oversize)
		}
	}
}

func FuzzStrategies(f *testing.F) {
	for i, d := range chunktest.Documents() {
		f.Add(d.Text, uint8(i))
	}
	all := make([]evalkit.Strategy, len(battery))
	for i, s := range battery {
		all[i] = parse(f, s)
	}
	f.Fuzz(func(t *testing.T, text string, i uint8) {
		doc := evalkit.Document{ID: "d", Text: strings.TrimPrefix(strings.ToValidUTF8(text, "?"), "\ufeff")}
		if len(text) > 20_000 {
			return
		}
		if err := chunktest.Check(t.Context(), all[int(i)%len(all)], doc); err != nil {
			t.Error(err)
		}
	})
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, s := range battery {
		_, err := parse(t, s).Split(ctx, evalkit.Document{ID: "d", Text: "One. Two.\n\nThree."})
		assert.ErrorIs(t, err, context.Canceled, s)
	}
}

func Example() {
	tok, err := token.Parse("cl100k")
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := Parse("markdown(size=20)", Env{Tokenizer: tok})
	if err != nil {
		fmt.Println(err)
		return
	}
	chunks, err := s.Split(context.Background(), evalkit.Document{ID: "guide.md", Text: "# Guide\n\n## Install\n\nRun it.\n\n## Use\n\nOpen it.\n"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range chunks {
		fmt.Printf("%v %s: %q\n", c.Span, c.Header, c.Text)
	}
	// Output:
	// [0:28) Guide > Install: "# Guide\n\n## Install\n\nRun it."
	// [30:46) Guide > Use: "## Use\n\nOpen it."
}
