package token

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/chunkeval/chunkeval/evalkit"
)

// WordPieceOptions are the settings of a WordPiece tokenizer.
type WordPieceOptions struct {
	Vocab string // path of a vocab.txt
	Cased bool   // keep case and accents
	Extra int    // added to every Count, for tokens that a model puts around a text
}

// WordPiece is BERT's tokenizer, equal to BertTokenizer of Hugging Face's
// tokenizers. White space, control characters and what else it drops belong
// to the token before. It is safe for concurrent use.
//
// Note: own code, because the Go libraries give other ids on accented text.
type WordPiece struct {
	opt   WordPieceOptions
	vocab map[string]int
	sum   string
}

// maxWord is the length in characters above which a word is one unknown token.
const maxWord = 100

// unknown is the token of a word that the vocabulary cannot spell.
const unknown = "[UNK]"

// NewWordPiece reads the vocabulary.
func NewWordPiece(o WordPieceOptions) (*WordPiece, error) {
	if o.Vocab == "" {
		return nil, fmt.Errorf("vocab: not given; name the vocab.txt of the model")
	}
	if o.Extra < 0 {
		return nil, fmt.Errorf("extra: %d is below 0", o.Extra)
	}
	f, err := os.Open(o.Vocab)
	if err != nil {
		return nil, fmt.Errorf("vocab: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	t := &WordPiece{opt: o, vocab: map[string]int{}}
	s := bufio.NewScanner(io.TeeReader(f, h))
	for s.Scan() {
		if _, ok := t.vocab[s.Text()]; !ok {
			t.vocab[s.Text()] = len(t.vocab)
		}
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("vocab: %s: %w", o.Vocab, err)
	}
	if _, ok := t.vocab[unknown]; !ok {
		return nil, fmt.Errorf("vocab: %s: has no %s; want one token a line", o.Vocab, unknown)
	}
	t.sum = hex.EncodeToString(h.Sum(nil))
	return t, nil
}

// String returns the form that Parse reads.
func (t *WordPiece) String() string {
	path := t.opt.Vocab
	if _, err := evalkit.ParseExpr("x(v=" + path + ")"); err != nil || strings.ContainsAny(path, " ,()[]\"") {
		path = strconv.Quote(path)
	}
	s := "wordpiece(vocab=" + path
	if t.opt.Cased {
		s += ",cased=true"
	}
	if t.opt.Extra > 0 {
		s += ",extra=" + strconv.Itoa(t.opt.Extra)
	}
	return s + ")"
}

// Fingerprint covers the vocabulary, wherever it lies, and the options.
func (t *WordPiece) Fingerprint() string {
	return fmt.Sprintf("wordpiece %s %t %d", t.sum, t.opt.Cased, t.opt.Extra)
}

// Count returns the number of tokens of text, and Extra more.
func (t *WordPiece) Count(text string) int {
	n := t.opt.Extra
	t.each(text, func(int, string) { n++ })
	return n
}

// Starts appends the offset of every token; Extra adds none.
func (t *WordPiece) Starts(dst []int, text string) []int {
	t.each(text, func(start int, _ string) { dst = append(dst, start) })
	return dst
}

// Encode returns the ids of the tokens of text: line numbers of the vocabulary, from 0.
func (t *WordPiece) Encode(text string) []int {
	var ids []int
	t.each(text, func(_ int, token string) { ids = append(ids, t.vocab[token]) })
	return ids
}

// word gathers the normalized characters of one word with their places.
type word struct {
	text   []byte
	from   []int // per byte of text, the offset in the source
	length int   // characters
}

func (w *word) add(r rune, offset int) {
	n := len(w.text)
	w.text = utf8.AppendRune(w.text, r)
	for range len(w.text) - n {
		w.from = append(w.from, offset)
	}
	w.length++
}

func (w *word) reset() { w.text, w.from, w.length = w.text[:0], w.from[:0], 0 }

// each calls f for every token with its offset in text.
func (t *WordPiece) each(text string, f func(start int, token string)) {
	var w word
	flush := func() {
		t.pieces(&w, f)
		w.reset()
	}
	for i, r := range text {
		switch {
		case dropped(r):
		case unicode.IsSpace(r):
			flush()
		case isCJK(r):
			flush()
			for _, n := range t.normal(r) { // a compatibility ideograph stands for another
				w.add(n, i)
			}
			flush()
		default:
			for _, n := range t.normal(r) {
				if isPunctuation(n) {
					flush()
					w.add(n, i)
					flush()
				} else {
					w.add(n, i)
				}
			}
		}
	}
	flush()
}

// normal returns what stands for r: lower case without accents, unless cased.
func (t *WordPiece) normal(r rune) []rune {
	if t.opt.Cased {
		return []rune{r}
	}
	if r < utf8.RuneSelf {
		return []rune{unicode.ToLower(r)}
	}
	var out []rune
	for _, d := range norm.NFD.String(string(r)) {
		if !unicode.Is(unicode.Mn, d) {
			out = append(out, unicode.ToLower(d))
		}
	}
	return out
}

// pieces calls f for the pieces of one word: from the left, always the longest
// that the vocabulary holds, "##" before all but the first.
func (t *WordPiece) pieces(w *word, f func(int, string)) {
	if w.length == 0 {
		return
	}
	tokens, starts := t.spell(w)
	if tokens == nil {
		f(w.from[0], unknown)
		return
	}
	for i, token := range tokens {
		f(w.from[starts[i]], token)
	}
}

func (t *WordPiece) spell(w *word) (tokens []string, starts []int) {
	if w.length > maxWord {
		return nil, nil
	}
	s := string(w.text)
	for start := 0; start < len(s); {
		end := len(s)
		token := ""
		for ; end > start; _, end = shorten(s, end) {
			token = s[start:end]
			if start > 0 {
				token = "##" + token
			}
			if _, ok := t.vocab[token]; ok {
				break
			}
		}
		if end <= start {
			return nil, nil
		}
		tokens, starts = append(tokens, token), append(starts, start)
		start = end
	}
	return tokens, starts
}

// shorten returns s[:end] without its last character, and where it then ends.
func shorten(s string, end int) (string, int) {
	_, size := utf8.DecodeLastRuneInString(s[:end])
	return s[:end-size], end - size
}

// dropped reports whether BERT's cleaning removes r.
func dropped(r rune) bool {
	if r == '\t' || r == '\n' || r == '\r' {
		return false
	}
	return r == 0 || r == utf8.RuneError || unicode.Is(unicode.C, r)
}

func isPunctuation(r rune) bool {
	if r < utf8.RuneSelf {
		return unicode.IsPunct(r) || unicode.IsSymbol(r)
	}
	return unicode.IsPunct(r)
}

// isCJK reports whether BERT sets r apart as a word of its own.
func isCJK(r rune) bool {
	return r >= 0x4E00 && r <= 0x9FFF || r >= 0x3400 && r <= 0x4DBF || r >= 0x20000 && r <= 0x2A6DF || r >= 0x2A700 && r <= 0x2B73F ||
		r >= 0x2B740 && r <= 0x2B81F || r >= 0x2B920 && r <= 0x2CEAF || r >= 0xF900 && r <= 0xFAFF || r >= 0x2F800 && r <= 0x2FA1F
}
