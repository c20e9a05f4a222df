package token

import (
	"fmt"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit"
)

// Parse reads a tokenizer; Parse(t.String()) is t:
//
//	cl100k                            byte-level BPE of OpenAI's models
//	wordpiece(vocab=PATH)             BERT's, with the vocabulary of a model
//	wordpiece(vocab=PATH,cased=true)  neither lower-cases nor strips accents
//	wordpiece(vocab=PATH,extra=2)     counts two more, for [CLS] and [SEP]
//	rune                              a Unicode code point is a token
//	word                              a run of characters that are not white space is a token
//
// PATH is a vocab.txt, one token a line, relative to the working directory.
func Parse(s string) (evalkit.Tokenizer, error) {
	t, err := parse(s)
	if err != nil {
		return nil, fmt.Errorf("parse tokenizer %q: %w", s, err)
	}
	return t, nil
}

func parse(s string) (evalkit.Tokenizer, error) {
	e, err := evalkit.ParseExpr(s)
	if err != nil {
		return nil, err
	}
	set := e.Settings()
	switch e.Name {
	case "cl100k":
		if err := set.Err(); err != nil {
			return nil, err
		}
		return NewCL100K()
	case "wordpiece":
		o := WordPieceOptions{Vocab: set.String("vocab", ""), Cased: set.Bool("cased", false), Extra: set.Int("extra", 0)}
		if err := set.Err(); err != nil {
			return nil, err
		}
		return NewWordPiece(o)
	case "rune":
		return Runes{}, set.Err()
	case "word":
		return Words{}, set.Err()
	}
	known := []string{"cl100k", "wordpiece", "rune", "word"}
	if best, ok := evalkit.Nearest(e.Name, known); ok {
		return nil, fmt.Errorf("unknown tokenizer %q: did you mean %q?", e.Name, best)
	}
	return nil, fmt.Errorf("unknown tokenizer %q: known are %s", e.Name, strings.Join(known, ", "))
}
