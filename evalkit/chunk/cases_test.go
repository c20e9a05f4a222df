package chunk

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/chunk/chunktest"
)

const alphabet = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"

func TestHO_CH_01_OverlapNotSmallerThanSize(t *testing.T) {
	for _, name := range []string{"fixed_size", "recursive", "sentence"} {
		for settings, want := range map[string]string{
			"size=20,overlap=20": "overlap 20 is not smaller than size 20", "size=20,overlap=25": "overlap 25 is not smaller than size 20",
			"size=0": "size: 0 is below 1", "size=20,overlap=-3": "overlap: -3 is below 0",
		} {
			_, err := Parse(name+"("+settings+")", env(t))
			require.Error(t, err)
			assert.Contains(t, err.Error(), want)
			assert.Contains(t, err.Error(), name)
		}
	}
	for _, name := range Names() {
		_, err := Parse(name+"(size=0)", env(t))
		assert.Error(t, err, name)
	}
}

func TestHO_CH_02_ClampedLastWindow(t *testing.T) {
	chunks := split(t, "fixed_size(size=10,overlap=4,unit=rune)", alphabet[:23])
	assert.Equal(t, []int{0, 6, 12, 18}, starts(chunks))
	assert.Equal(t, 23, chunks[3].Span.End)
	text := strings.Repeat("abcdefghij", 6)
	for n := range 61 {
		for overlap := range 10 {
			s := FixedSize{size: 10, overlap: overlap, trim: true, ruler: parse(t, "fixed_size(unit=rune)").(FixedSize).ruler}
			chunks, err := s.Split(t.Context(), evalkit.Document{ID: "d", Text: text[:n]})
			require.NoError(t, err)
			if n > 0 {
				assert.Equal(t, n, chunks[len(chunks)-1].Span.End)
			}
		}
	}
	assert.Equal(t, []string{"Abcdef g.", "Hi."}, texts(split(t, "sentence(size=10,overlap=4,unit=rune)", "Abcdef g. Hi.")))
}

func TestHO_CH_03_OverlapZeroRepeatsNothing(t *testing.T) {
	for _, name := range []string{"fixed_size", "recursive"} {
		for text, size := range map[string]string{"mnopqrst": "4", "ab\nde\ngh\njk": "6", strings.Repeat("z", 24): "8"} {
			chunks := split(t, name+"(size="+size+",unit=rune)", text)
			end := 0
			for _, c := range chunks {
				assert.GreaterOrEqual(t, c.Span.Start, end)
				assert.False(t, c.Oversize)
				end = c.Span.End
			}
			if text[0] == 'z' {
				assert.Len(t, chunks, 3)
			}
		}
	}
}

func TestHO_CH_05_HugeWord(t *testing.T) {
	text := strings.Repeat("q", 4200) + " fin"
	for _, s := range []string{
		"fixed_size(size=200)", "recursive(size=200)", "sentence(size=200)", "paragraph(size=200)", "markdown(size=200)", "page(size=200)",
		"parent(size=200,child=50)", "sentence_window(window=0,size=200)", "semantic(size=200)", "semantic_modified(size=200)", "cluster_semantic(size=200)",
	} {
		chunks := split(t, s, text)
		joined := 0
		for _, c := range chunks {
			assert.True(t, c.Tokens <= 200 || c.Oversize, "%s %d", s, c.Tokens)
			joined += strings.Count(c.Text, "q")
		}
		assert.GreaterOrEqual(t, joined, 4200, s)
	}
	for _, s := range []string{"recursive(size=200)", "markdown(size=200)"} {
		assert.NotEmpty(t, split(t, s, strings.Repeat("e", 120_000)))
	}
	assert.NotEmpty(t, split(t, "markdown", strings.Repeat("> ", 120_000)+"deep"), "would take minutes if nesting were quadratic")
}

func TestHO_CH_06_EmptyAndBlank(t *testing.T) {
	for _, s := range battery {
		var seen []string
		e := env(t)
		e.Embedder = func(string) (evalkit.Embedder, error) { return letters{&seen}, nil }
		strategy, err := Parse(s, e)
		require.NoError(t, err)
		for text, want := range map[string]int{"": 0, "  \n\t \n": 0} {
			chunks, err := strategy.Split(t.Context(), evalkit.Document{ID: "d", Text: text})
			require.NoError(t, err)
			assert.Len(t, chunks, want, "%s %q", s, text)
		}
		assert.Empty(t, seen, "nothing is sent to the embedder")
	}
	assert.Equal(t, []string{"One line."}, texts(split(t, "semantic", "One line.")))
}

func TestHO_CH_07_LineEndings(t *testing.T) {
	lf := "First para.\n\nSecond para.\n\nThird para."
	want := []string{"First para.", "Second para.", "Third para."}
	for _, s := range []string{"recursive(size=15,unit=rune)", "sentence(size=15,unit=rune)", "markdown(size=15,unit=rune)", "paragraph(size=15,unit=rune)"} {
		assert.Equal(t, want, texts(split(t, s, lf)), s)
		assert.Equal(t, want, texts(split(t, s, strings.ReplaceAll(lf, "\n", "\r\n"))), s)
		assert.Equal(t, want, texts(split(t, s, strings.ReplaceAll(lf, "\n", "\r"))), s+" with CR")
	}
}

func TestHO_CH_08_HashLinesInFences(t *testing.T) {
	text := "# Setup\nBefore the code.\n```sh\n# fetch the parts\nmake\n```\nAfter the code.\n## Next\nTail.\n"
	chunks := split(t, "markdown(size=200)", text)
	require.Len(t, chunks, 2)
	assert.Equal(t, "Setup", chunks[0].Header)
	assert.Equal(t, "Setup > Next", chunks[1].Header)
	assert.Contains(t, chunks[0].Text, "Before the code.")
	assert.Contains(t, chunks[0].Text, "After the code.")
	small := split(t, "markdown(size=14)", text)
	for _, c := range small {
		assert.Equal(t, strings.Contains(c.Text, "# fetch"), strings.Contains(c.Text, "make"), "the block fits and stays whole")
	}
}

func TestHO_CH_09_ByteOrderMark(t *testing.T) {
	chunks := split(t, "markdown", "\ufeff# Alpha\ntext\n## Beta\nmore")
	require.Len(t, chunks, 2)
	assert.Equal(t, "Alpha > Beta", chunks[1].Header)
	assert.NotContains(t, chunks[0].Text, "\ufeff")
	for _, bom := range []string{"", "\ufeff"} {
		chunks = split(t, "markdown", bom+"---\ntitle: T\n---\n# Alpha\n")
		assert.Equal(t, "Alpha", chunks[len(chunks)-1].Header)
		assert.Equal(t, "---\ntitle: T\n---", chunks[0].Text)
	}
}

func TestHO_CH_10_SentenceEnds(t *testing.T) {
	text := `Dr. Okafor logged 36.6 degrees at 8 a.m. on Monday. The value fell, e.g. to 35.9 by noon! "Is it safe?" asked Prof. Lind.`
	got := texts(split(t, "sentence(size=1,unit=sentence)", text))
	assert.Contains(t, []int{3, 4}, len(got), "%q", got)
	for _, s := range got {
		for _, end := range []string{"Dr.", "a.m.", "e.g.", "Prof.", "36.", "35."} {
			assert.False(t, strings.HasSuffix(s, end), "%q", s)
		}
	}
}

func TestHO_CH_11_CJK(t *testing.T) {
	assert.Equal(t, []string{"猫は眠る。", "犬は走る！", "鳥は飛ぶか？"}, texts(split(t, "sentence(size=6,unit=rune)", "猫は眠る。犬は走る！鳥は飛ぶか？")))
	assert.Equal(t, []string{"第一です．", "第二です．"}, texts(split(t, "sentence(size=6,unit=rune)", "第一です．第二です．")))
	for _, c := range split(t, "sentence(size=6,unit=rune)", strings.Repeat("字", 400)) {
		assert.LessOrEqual(t, len([]rune(c.Text)), 6)
	}
}

func TestHO_CH_12_TableRows(t *testing.T) {
	head := "| port | use |\n|---|---|\n"
	rows := []string{}
	for r := range strings.SplitSeq("80 web,22 ssh,25 mail,53 dns,443 tls,110 pop,143 imap,993 imaps", ",") {
		port, use, _ := strings.Cut(r, " ")
		rows = append(rows, "| "+port+" | "+use+" |")
	}
	text := head + strings.Join(rows, "\n") + "\n"
	chunks := split(t, "markdown(size=55,unit=rune)", text)
	require.Greater(t, len(chunks), 2)
	for i, c := range chunks {
		for line := range strings.Lines(c.Text) {
			line = strings.TrimSpace(line)
			assert.True(t, strings.HasPrefix(line, "|") && strings.HasSuffix(line, "|"), "%q is a whole row", line)
		}
		if i > 0 {
			assert.Equal(t, strings.TrimSpace(head), c.Header, "the head stands with later rows")
		}
	}
}

func TestHO_CH_13_HeadingGoesWithItsSection(t *testing.T) {
	chunks := split(t, "markdown", "# Guide\n## Install\nRun it.\n\n\n\n\n\n# Second part\nOther.")
	require.Len(t, chunks, 2)
	assert.Equal(t, "Guide > Install", chunks[0].Header)
	assert.Contains(t, chunks[0].Text, "Run it.")
	assert.Equal(t, "Second part", chunks[1].Header)
	assert.Contains(t, chunks[1].Text, "Other.")
}

func TestHO_CH_14_SemanticOnFewSentences(t *testing.T) {
	for _, mode := range []string{"percentile", "stddev", "interquartile", "gradient"} {
		s := "semantic(mode=" + mode + ")"
		assert.Len(t, split(t, s, "Only one sentence here."), 1)
		assert.LessOrEqual(t, len(split(t, s, "?!?!")), 1)
		assert.LessOrEqual(t, len(split(t, s, "First one. Second one.")), 2)
	}
	for _, s := range []string{"semantic_modified(size=50)", "cluster_semantic(size=50)"} {
		assert.Len(t, split(t, s, "Only one sentence here."), 1)
		assert.LessOrEqual(t, len(split(t, s, "First one. Second one.")), 2)
	}
}

func TestHO_CH_15_NoChunkOnlyRepeats(t *testing.T) {
	chunks := split(t, "fixed_size(size=10,overlap=4,unit=rune)", alphabet[:22])
	require.Len(t, chunks, 3)
	assert.Equal(t, 22, chunks[2].Span.End)
	assert.Equal(t, []string{"Rain fell. Wind rose. Sun set."}, texts(split(t, "sentence(size=3,overlap=1,unit=sentence)", "Rain fell. Wind rose. Sun set.")))
	window := split(t, "sentence_window(window=2)", "Rain fell. Wind rose. Sun set.")
	require.Len(t, window, 1)
	assert.Len(t, window[0].Units, 3, "each sentence is still found by itself")
}

func TestHO_OF_01_RepeatedText(t *testing.T) {
	assert.Equal(t, []int{0, 5, 10, 15}, starts(split(t, "fixed_size(size=9,overlap=4,unit=rune)", "ping pong ping pong ping")))
	text := "## A\nSame words here.\n\n## B\nSame words here.\n"
	chunks := split(t, "markdown", text)
	require.Len(t, chunks, 2)
	assert.Greater(t, chunks[1].Span.Start, strings.Index(text, "## B")-1)
}

func TestHO_OF_03_TokensInsideCharacters(t *testing.T) {
	text := strings.Repeat("ä🙂", 40)
	var joined strings.Builder
	for _, c := range split(t, "fixed_size(size=3)", text) {
		joined.WriteString(c.Text)
	}
	assert.Equal(t, text, joined.String())
	for _, c := range split(t, "fixed_size(size=3,overlap=1)", text) {
		assert.NotContains(t, c.Text, "\ufffd")
		assert.NotEmpty(t, c.Text)
	}
}

func TestHO_OF_05_WordOverlap(t *testing.T) {
	chunks := split(t, "fixed_size(size=4,overlap=1,unit=word)", "one two three four five six seven")
	require.Len(t, chunks, 2)
	assert.Equal(t, evalkit.Span{Start: 0, End: 18}, chunks[0].Span)
	assert.Equal(t, evalkit.Span{Start: 14, End: 33}, chunks[1].Span)
	long := strings.Repeat("wörd ", 2000)
	for i, c := range split(t, "fixed_size(size=4,overlap=1,unit=word)", long) {
		assert.Equal(t, i*3*len("wörd "), c.Span.Start)
	}
}

// TestHO_CLI_06_EverySettingChangesChunks changes one setting at a time.
func TestHO_CLI_06_EverySettingChangesChunks(t *testing.T) {
	text := "# Alpha one\n\nRain fell on the quay. Wind rose, then it fell again. The sun set late.\n\n" +
		strings.Repeat("Boats left at noon; nobody counted them. ", 30) + "\f\n\n## Beta\n\n" + strings.Repeat("A zebra jumps. Quick foxes vex. ", 30)
	for _, c := range []struct{ base, changed string }{
		{"fixed_size(size=20)", "fixed_size(size=30)"},
		{"fixed_size(size=20)", "fixed_size(size=20,overlap=5)"},
		{"fixed_size(size=20)", "fixed_size(size=20,unit=word)"},
		{"fixed_size(size=20)", "fixed_size(size=20,trim=false)"},
		{"fixed_size(size=20)", "fixed_size(size=20,tokenizer=word)"},
		{"recursive(size=20)", "recursive(size=30)"},
		{"recursive(size=20)", "recursive(size=20,overlap=9)"},
		{"recursive(size=20)", "recursive(size=20,unit=rune)"},
		{"recursive(size=20)", `recursive(size=20,separators=[" "])`},
		{"sentence(size=20)", "sentence(size=40)"},
		{"sentence(size=20)", "sentence(size=20,overlap=12)"},
		{"sentence(size=20)", "sentence(size=20,unit=sentence)"},
		{"paragraph(size=20)", "paragraph(size=500)"},
		{"paragraph(size=20)", "paragraph(size=20,unit=rune)"},
		{"markdown(size=20)", "markdown(size=500)"},
		{"markdown(size=20)", "markdown(size=20,unit=rune)"},
		{"page(size=20)", "page"},
		{"page(size=20)", "page(size=20,unit=rune)"},
		{"sentence_window", "sentence_window(window=1)"},
		{"sentence_window", "sentence_window(size=3)"},
		{"sentence_window(size=5)", "sentence_window(size=5,unit=rune)"},
		{"parent", "parent(size=200)"},
		{"parent", "parent(child=20)"},
		{"parent", "parent(unit=rune)"},
		{"semantic", "semantic(mode=stddev,threshold=0)"},
		{"semantic", "semantic(threshold=0)"},
		{"semantic", "semantic(buffer=0)"},
		{"semantic", "semantic(size=20)"},
		{"semantic_modified(size=50)", "semantic_modified(size=300)"},
		{"cluster_semantic(size=50)", "cluster_semantic(size=300)"},
	} {
		a, b := split(t, c.base, text), split(t, c.changed, text)
		assert.NotEqual(t, a, b, "%s against %s", c.base, c.changed)
	}
	for _, s := range []string{"paragraph(overlap=50)", "markdown(overlap=5)", "recursive(window=2)", "parent(overlap=1)", "page(child=3)", "semantic(overlap=2)"} {
		_, err := Parse(s, env(t))
		assert.ErrorContains(t, err, "unknown key", s)
	}
}

// TestHO_CH_04 and TestHO_OF_02 run every strategy over their inputs; what a
// chunk must be is chunktest's to say.
func TestHO_CH_04_NoTextLost(t *testing.T) {
	doc := evalkit.Document{ID: "d", Text: "Red. Blue,  green;\n\n\tfour\u00a0five"}
	for _, name := range Names() {
		for _, size := range []string{"4", "7", "12", "20"} {
			if e, err := Parse(name+"(size="+size+")", env(t)); err == nil {
				require.NoError(t, chunktest.Check(t.Context(), e, doc))
			}
		}
		require.NoError(t, chunktest.Check(t.Context(), parse(t, name), doc))
	}
}

func TestHO_OF_02_SliceEqualsText(t *testing.T) {
	doc := evalkit.Document{ID: "d", Text: "Größe: 5 m² — naïve “quotes” 🙂 終わり。"}
	for _, name := range []string{"fixed_size", "recursive", "sentence", "paragraph", "markdown", "page", "sentence_window", "parent"} {
		for size := 3; size <= 12; size++ {
			for _, unit := range []string{"token", "rune"} {
				s := fmt.Sprintf("%s(size=%d,unit=%s)", name, size, unit)
				if name == "parent" {
					s = fmt.Sprintf("parent(size=%d,child=%d,unit=%s)", size, size-1, unit)
				}
				require.NoError(t, chunktest.Check(t.Context(), parse(t, s), doc), s)
			}
		}
	}
}
