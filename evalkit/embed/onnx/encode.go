package onnx

import (
	"fmt"
	"os"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit/token"
)

// An encoder turns texts into ids: WordPiece, and the special tokens where a
// text spells them out, as Hugging Face's tokenizers do.
type encoder struct {
	pieces  *token.WordPiece
	special map[string]int32
	cls     int32
	sep     int32
}

// specials are BERT's; a text that holds one has it as a token.
var specials = [...]string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}

func newEncoder(vocab string, cased bool) (*encoder, error) {
	pieces, err := token.NewWordPiece(token.WordPieceOptions{Vocab: vocab, Cased: cased})
	if err != nil {
		return nil, err
	}
	e := &encoder{pieces: pieces, special: map[string]int32{}}
	lines, err := os.ReadFile(vocab)
	if err != nil {
		return nil, err
	}
	id := int32(0)
	for line := range strings.Lines(string(lines)) {
		line = strings.TrimRight(line, "\r\n")
		for _, s := range specials {
			if line == s {
				e.special[s] = id
			}
		}
		id++
	}
	for _, s := range []string{"[CLS]", "[SEP]"} {
		if _, ok := e.special[s]; !ok {
			return nil, fmt.Errorf("vocab: %s: has no %s", vocab, s)
		}
	}
	e.cls, e.sep = e.special["[CLS]"], e.special["[SEP]"]
	return e, nil
}

// encode returns the ids of text, without [CLS] and [SEP] around them.
func (e *encoder) encode(text string) []int32 {
	var ids []int32
	e.walk(text, func(_ int, plain, special string) { ids = e.appendIDs(ids, plain, special) })
	return ids
}

// locate returns the ids of text, and the byte at which each starts.
func (e *encoder) locate(text string) (ids []int32, starts []int) {
	e.walk(text, func(at int, plain, special string) {
		ids = e.appendIDs(ids, plain, special)
		for _, s := range e.pieces.Starts(nil, plain) {
			starts = append(starts, at+s)
		}
		if special != "" {
			starts = append(starts, at+len(plain))
		}
	})
	return ids, starts
}

func (e *encoder) appendIDs(ids []int32, plain, special string) []int32 {
	for _, id := range e.pieces.Encode(plain) {
		ids = append(ids, int32(id))
	}
	if special != "" {
		ids = append(ids, e.special[special])
	}
	return ids
}

// walk calls f with each stretch of text without a special token, where it
// starts, and the special token after it, empty at the end.
func (e *encoder) walk(text string, f func(at int, plain, special string)) {
	for at := 0; at < len(text); {
		n, special := e.nextSpecial(text[at:])
		f(at, text[at:at+n], special)
		at += n + len(special)
	}
}

// nextSpecial returns the first special token of text and where it starts, or
// the end of text and no name.
func (e *encoder) nextSpecial(text string) (at int, name string) {
	if !strings.Contains(text, "[") {
		return len(text), ""
	}
	at = len(text)
	for s := range e.special { // no two start at one place
		if i := strings.Index(text, s); i >= 0 && i < at {
			at, name = i, s
		}
	}
	return at, name
}

// framed returns ids between [CLS] and [SEP].
func (e *encoder) framed(ids ...[]int32) []int32 {
	out := []int32{e.cls}
	for _, part := range ids {
		out = append(out, part...)
	}
	return append(out, e.sep)
}
