package dataset

import (
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
)

// TestHO_CLI_04_Limit uses a small limit in place of MaxText.
func TestHO_CLI_04_Limit(t *testing.T) {
	long := strings.Repeat("x", 100_000) // longer than the reader's buffer
	for _, c := range []struct {
		name, in string
		limit    int
		want     []string
		stop     int // the line of the error, 0 for none
	}{
		{"all kinds of line end", "\ufeffa\r\n\n \t\nb\nc", 10, []string{"1 a", "4 b", "5 c"}, 0},
		{"at the limit", "abc\nabcd", 4, []string{"1 abc", "2 abcd"}, 0},
		{"over the limit", "a\nabcde\nb\n", 4, []string{"1 a"}, 2},
		{"far over the limit", "a\n" + long + "\nb\n", 70_000, []string{"1 a"}, 2},
		{"long but within", "a\n" + long + "\nb", 100_001, []string{"1 a", "2 " + long, "3 b"}, 0},
		{"empty", "", 4, nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			line, err := eachLine(iotest.OneByteReader(strings.NewReader(c.in)), c.limit, func(n int, data []byte) {
				got = append(got, string(rune('0'+n))+" "+string(data))
			})
			assert.Equal(t, c.want, got)
			if c.stop == 0 {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, "line longer than the limit of")
			assert.Equal(t, c.stop, line)
		})
	}
}

func TestEachLineReportsReadErrors(t *testing.T) {
	line, err := eachLine(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("ab\ncd"))), 10, func(int, []byte) {})
	require.ErrorIs(t, err, iotest.ErrTimeout)
	assert.Equal(t, 1, line)
}

// FuzzRuneOffsets compares the conversion with a walk over all code points.
func FuzzRuneOffsets(f *testing.F) {
	f.Add("", uint(0), uint(0))
	f.Add("grüne Äpfel", uint(6), uint(11))
	f.Add(strings.Repeat("aé漢😀", 300), uint(255), uint(1024))
	f.Add(strings.Repeat("x", stride), uint(stride), uint(stride+1))
	f.Fuzz(func(t *testing.T, text string, start, end uint) {
		if !utf8.ValidString(text) {
			return
		}
		var bytes []int // byte offset of every code point, and the end
		for i := range text {
			bytes = append(bytes, i)
		}
		bytes = append(bytes, len(text))
		x := newRuneIndex(text)
		require.Equal(t, len(bytes)-1, x.runes)
		s := evalkit.Span{Start: int(start % uint(len(bytes)+2)), End: int(end % uint(len(bytes)+2))}
		got, err := x.span(s)
		if s.End < s.Start || s.End >= len(bytes) {
			require.Error(t, err)
			return
		}
		require.NoError(t, err)
		require.Equal(t, evalkit.Span{Start: bytes[s.Start], End: bytes[s.End]}, got)
		require.Equal(t, string([]rune(text)[s.Start:s.End]), text[got.Start:got.End])
	})
}

// FuzzFindQuote compares with a test of every position.
func FuzzFindQuote(f *testing.F) {
	f.Add("aaaa", "aa", 2)
	f.Add("grün grün", "ü", 1)
	f.Add("abc", "d", 1)
	f.Fuzz(func(t *testing.T, text, quote string, occurrence int) {
		if quote == "" || !utf8.ValidString(text) || !utf8.ValidString(quote) {
			return
		}
		var at []int
		for i := range text {
			if strings.HasPrefix(text[i:], quote) {
				at = append(at, i)
			}
		}
		got, err := findQuote(text, quote, &occurrence)
		if occurrence < 1 || occurrence > len(at) {
			require.Error(t, err)
		} else {
			require.NoError(t, err)
			require.Equal(t, evalkit.Span{Start: at[occurrence-1], End: at[occurrence-1] + len(quote)}, got)
			require.NoError(t, got.Check(text))
		}
		_, err = findQuote(text, quote, nil)
		require.Equal(t, len(at) == 1, err == nil)
	})
}

// FuzzQueryLine holds that no line of queries.jsonl leads to a panic, and that
// whatever is accepted has gold inside its document.
func FuzzQueryLine(f *testing.F) {
	f.Add(`{"id":"q","question":"Q?","gold":[{"doc":"d","start":0,"end":2}]}`)
	f.Add(`{"id":"q","question":"Q?","gold":[{"doc":"d","quote":"ü","occurrence":1,"grade":-1}]}`)
	f.Add(`{"id":"\ud83d\ude00","question":"Q?","unanswerable":true,"tags":["a"]}`)
	f.Add(`{"id":"q","gold":[null]}`)
	f.Fuzz(func(t *testing.T, line string) {
		for _, unit := range []string{unitByte, unitRune} {
			fo := folder{builder: newBuilder(unit)}
			fo.document(place{}, "d", "grün")
			if err := fo.queryLine(place{file: queriesFile, line: 1}, []byte(line)); err != nil {
				continue
			}
			ds, err := fo.finish(meta{})
			if err != nil {
				continue
			}
			for _, r := range ds.Queries[0].Qrels {
				require.NoError(t, r.Span.Check(ds.Docs[0].Text))
			}
		}
	})
}

func TestCheckUnicode(t *testing.T) {
	for in, ok := range map[string]bool{
		`"\ud83d\ude00"`:  true,
		`"\\ud83d"`:       true, // an escaped backslash
		`"\u00e4\uFFFD"`:  true,
		`"\ud83d"`:        false,
		`"\ude00\ud83d"`:  false,
		`"\ud83d\\ude00"`: false,
		`"\uD83D\n"`:      false,
		`"\u12`:           true, // left to the JSON parser
	} {
		assert.Equal(t, ok, checkUnicode([]byte(in)) == nil, in)
	}
}

// FuzzMeta holds that dataset.yaml never leads to a panic, and that what was
// accepted is written and read back unchanged.
func FuzzMeta(f *testing.F) {
	f.Add("name: a\nlanguage: en\n")
	f.Add("name: |\n  a\nlanguage: 'en'\noffsets: \"rune\"\nlicence: ~\n")
	f.Add("? a\n: b\n")
	f.Add("&x name: *x\n<<: {a: b}\n")
	f.Fuzz(func(t *testing.T, text string) {
		var probs, again problems
		m := parseMeta([]byte(text), &probs)
		if probs.err() != nil {
			return
		}
		out, err := m.yaml()
		require.NoError(t, err)
		require.Equal(t, m, parseMeta(out, &again), "%s", out)
		require.NoError(t, again.err())
	})
}
