package embed

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"

	"github.com/chunkeval/chunkeval/evalkit"
)

// Embed returns one row per text. A word is a longest run of the ASCII letters
// and digits, in lower case; each adds 1 at
//
//	FNV-1a-32(seed, word) mod Dim
//
// and the row is divided by its length. The seed is hashed as 8 bytes, little
// endian, before the word; seed 0 as none. A text without a word has 1 at place
// 0, but a blank text has an all-zero row. The two kinds of text are alike.
func (s Hash) Embed(ctx context.Context, _ evalkit.TextKind, texts []string) (evalkit.Vectors, error) {
	if s.Dim < 1 {
		return evalkit.Vectors{}, fmt.Errorf("embed %s: dim is below 1", s)
	}
	v := evalkit.Vectors{Dim: s.Dim, Data: make([]float32, len(texts)*s.Dim)}
	counts := make([]float64, s.Dim)
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return evalkit.Vectors{}, err
		}
		clear(counts)
		if !evalkit.Blank(text) {
			s.count(counts, text)
		}
		unit(v.Row(i), counts)
	}
	return v, nil
}

func (s Hash) count(counts []float64, text string) {
	seed := []byte{}
	if s.Seed != 0 {
		seed = binary.LittleEndian.AppendUint64(seed, s.Seed)
	}
	word, words := []byte{}, 0
	for i := 0; i <= len(text); i++ {
		if c, ok := wordByte(text, i); ok {
			word = append(word, c)
			continue
		}
		if len(word) > 0 {
			h := fnv.New32a()
			h.Write(seed) // never an error
			h.Write(word)
			counts[h.Sum32()%uint32(len(counts))]++
			words++
			word = word[:0]
		}
	}
	if words == 0 {
		counts[0] = 1
	}
}

// wordByte returns byte i of text in lower case, and whether it is part of a word.
func wordByte(text string, i int) (byte, bool) {
	if i == len(text) {
		return 0, false
	}
	c := text[i]
	if c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c, c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
}

// noise is the length below which a sum of unit vectors says nothing: float32
// entries are exact to some 1e-7.
const noise = 1e-6

// unit sets row to v divided by its length, or to zeros if that is noise.
func unit(row []float32, v []float64) {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	length := math.Sqrt(sum)
	if length < noise {
		clear(row)
		return
	}
	for i, x := range v {
		row[i] = float32(x / length)
	}
}
