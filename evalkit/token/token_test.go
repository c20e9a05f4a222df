package token

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
)

const smallVocab = "wordpiece(vocab=testdata/vocab.txt)"

func all(t testing.TB) []evalkit.Tokenizer {
	t.Helper()
	var out []evalkit.Tokenizer
	for _, s := range []string{"cl100k", smallVocab, "wordpiece(vocab=testdata/vocab.txt,cased=true)", "rune", "word"} {
		tok, err := Parse(s)
		require.NoError(t, err)
		require.Equal(t, s, tok.String(), "Parse reads String back")
		out = append(out, tok)
	}
	return out
}

func TestParseErrors(t *testing.T) {
	for s, want := range map[string]string{
		"cl100": `did you mean "cl100k"`, "gpt": "known are", "cl100k(x=1)": `unknown key "x"`, "wordpiece": "vocab: not given",
		"wordpiece(vocab=nowhere.txt)": "nowhere.txt", "wordpiece(vocab=unit.go)": "has no [UNK]", "wordpiece(vocab=testdata/vocab.txt,extra=-1)": "below 0",
		"wordpiece(vocap=x)": `did you mean "vocab"`,
	} {
		_, err := Parse(s)
		require.Error(t, err, s)
		assert.Contains(t, err.Error(), want)
		assert.Contains(t, err.Error(), fmt.Sprintf("parse tokenizer %q", s))
	}
}

func TestExtraCountsOnly(t *testing.T) {
	plain, err := Parse(smallVocab)
	require.NoError(t, err)
	extra, err := Parse("wordpiece(vocab=testdata/vocab.txt,extra=2)")
	require.NoError(t, err)
	assert.Equal(t, plain.Count("the end")+2, extra.Count("the end"))
	assert.Equal(t, plain.Starts(nil, "the end"), extra.Starts(nil, "the end"))
	assert.NotEqual(t, evalkit.Fingerprint(plain), evalkit.Fingerprint(extra))
}

func TestHO_OF_03_TokenInsideACharacter(t *testing.T) {
	text := strings.Repeat("ä🙂", 40)
	tok, err := NewCL100K()
	require.NoError(t, err)
	starts := tok.Starts(nil, text)
	assert.Greater(t, len(starts), 80, "some characters take several tokens")
	for _, s := range starts {
		assert.True(t, utf8.RuneStart(text[s]))
	}
}

// TestWordPieceCompatibilityIdeograph: U+F902 decomposes to U+8ECA, which the
// vocabulary holds; cased text is not decomposed (tokenizers 0.23.3).
func TestWordPieceCompatibilityIdeograph(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vocab.txt")
	require.NoError(t, os.WriteFile(path, []byte("[UNK]\na\n\u8eca\n"), 0o600))
	for cased, want := range map[bool][]int{false: {1, 2, 1}, true: {1, 0, 1}} {
		tok, err := NewWordPiece(WordPieceOptions{Vocab: path, Cased: cased})
		require.NoError(t, err)
		assert.Equal(t, want, tok.Encode("a\uf902a"))
		assert.Equal(t, []int{0, 1, 4}, tok.Starts(nil, "a\uf902a"))
	}
}

func TestUnits(t *testing.T) {
	text := "  one zwei\n\ndrei "
	assert.Equal(t, []int{2, 6, 12}, Words{}.Starts(nil, text))
	assert.Equal(t, 3, Words{}.Count(text))
	assert.Equal(t, []int{0, 1, 3}, Runes{}.Starts(nil, "aäb"))
}

// TestLongRuns would take long if merging were quadratic.
func TestLongRuns(t *testing.T) {
	tok, err := NewCL100K()
	require.NoError(t, err)
	for _, s := range []string{"e", " ", "\n", "ab", "字", "-", "xyz"} {
		text := strings.Repeat(s, 1<<17/len(s))
		n := tok.Count(text)
		assert.Positive(t, n)
		assert.Len(t, tok.Starts(nil, text), n)
	}
}

// TestHeapAndScanAgree splits pieces of every length around the limit both ways.
func TestHeapAndScanAgree(t *testing.T) {
	tok, err := NewCL100K()
	require.NoError(t, err)
	word := "internationalizationübergrößen終わり" + strings.Repeat("mississippi", 8)
	for n := 2; n <= heapFrom; n++ {
		piece := word[:n]
		var a, b merger
		assert.Equal(t, slices.Clone(a.split(tok.ranks, piece)), b.splitLong(tok.ranks, piece), "%q", piece)
	}
}

func FuzzTokenizers(f *testing.F) {
	for _, s := range []string{"", "it's 1234 über\r\n\r\n 🙂字", "\xff\xfe", "0\xad\x97", "a\x00b", "İı'ſ", strings.Repeat("q", 300)} {
		f.Add(s)
	}
	toks := all(f)
	cl, err := NewCL100K()
	require.NoError(f, err)
	bytes := map[int]string{}
	for s, id := range cl.ranks {
		bytes[int(id)] = s
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, tok := range toks {
			starts := tok.Starts([]int{-7}, text)
			require.Equal(t, -7, starts[0], "appends")
			starts = starts[1:]
			require.Len(t, starts, tok.Count(text), "%s", tok)
			require.True(t, slices.IsSorted(starts))
			for _, s := range starts {
				require.Less(t, s, len(text))
				require.True(t, !utf8.ValidString(text) || utf8.RuneStart(text[s]))
			}
		}
		var b strings.Builder
		for _, id := range cl.Encode(text) {
			b.WriteString(bytes[id])
		}
		require.Equal(t, text, b.String(), "the tokens' bytes are the text")
		if text != "" && utf8.ValidString(text) {
			require.Zero(t, cl.Starts(nil, text)[0])
		}
	})
}

func BenchmarkCount(b *testing.B) {
	tok, err := NewCL100K()
	require.NoError(b, err)
	texts := map[string]string{
		"prose": strings.Repeat("The gateway forwards each reading to the archive within 90 seconds, unless the buoy is adrift. ", 2000),
		"code":  strings.Repeat("for i := range n {\n\tif err := f(i); err != nil {\n\t\treturn err\n\t}\n}\n", 2000),
		"run":   strings.Repeat("e", 120_000),
	}
	if finance, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "data", "chroma", "corpora", "finance.md")); err == nil {
		texts["finance"] = string(finance)
	}
	for _, name := range []string{"prose", "code", "run", "finance"} {
		text := texts[name]
		if text == "" {
			continue
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				tok.Count(text)
			}
		})
	}
}

func Example() {
	tok, err := Parse("cl100k")
	if err != nil {
		fmt.Println(err)
		return
	}
	text := "Tokens, counted."
	fmt.Println(tok.Count(text), tok.Starts(nil, text))
	// Output: 4 [0 6 7 15]
}
