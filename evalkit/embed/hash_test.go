package embed_test

import (
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/embed"
)

// FNV-1a-32 of "a" is 0xe40c292c and of "foobar" 0xbf9cf968, from the
// reference's own test vectors.
func TestHashPlaces(t *testing.T) {
	v := rows(t, embed.Hash{Dim: 512}, "A, a! foobar", "a", "", "東京", "FooBar")
	at := func(row int) map[int]float32 {
		out := map[int]float32{}
		for i, x := range v.Row(row) {
			if x != 0 {
				out[i] = x
			}
		}
		return out
	}
	a, foobar := 0xe40c292c%512, 0xbf9cf968%512
	assert.Equal(t, map[int]float32{a: float32(2 / math.Sqrt(5)), foobar: float32(1 / math.Sqrt(5))}, at(0))
	assert.Equal(t, map[int]float32{a: 1}, at(1))
	assert.Empty(t, at(2))
	assert.Equal(t, map[int]float32{0: 1}, at(3))
	assert.Equal(t, map[int]float32{foobar: 1}, at(4))
	assert.NotEqual(t, v.Data, rows(t, embed.Hash{Dim: 512, Seed: 1}, "A, a! foobar", "a", "", "東京", "FooBar").Data)
}

// golden is a file of the reference's results with the toy embedding. Spans
// are in code points, chunks counted over all corpora in their order.
type golden struct {
	Order []string            `json:"corpus_order"`
	Spans map[string][][2]int `json:"spans"`
	Top   [][]int             `json:"toy_top5_global_index_per_question"`
}

// The toy embedding of the reference's golden files is hash(dim=512): the same
// five chunks come first, by scores rounded to 9 decimals.
func TestHashIsTheToyEmbedding(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "shared", "data", "chroma")
	raw, err := os.ReadFile(filepath.Join(dir, "golden", "TokenText_400_0.json"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the reference's golden files are not beside the checkout")
	}
	require.NoError(t, err)
	var g golden
	require.NoError(t, json.Unmarshal(raw, &g))
	var chunks []string
	for _, name := range g.Order {
		text, err := os.ReadFile(filepath.Join(dir, "corpora", name+".md"))
		require.NoError(t, err)
		runes := []rune(string(text))
		for _, s := range g.Spans[name] {
			chunks = append(chunks, string(runes[s[0]:s[1]]))
		}
	}
	questions := readQuestions(t, filepath.Join(dir, "questions_df.csv"))
	require.Len(t, g.Top, len(questions))
	h := embed.Hash{Dim: 512}
	passages, asked := rows(t, h, chunks...), rows(t, h, questions...)
	for q := range questions {
		score := make([]float64, len(chunks))
		best := make([]int, len(chunks))
		for c := range chunks {
			// float32 rows are exact to some 1e-8: the reference's ties, at 9
			// decimals of float64, are ties at 7 decimals here
			score[c], best[c] = math.Round(cosine(asked.Row(q), passages.Row(c))*1e7)/1e7, c
		}
		slices.SortStableFunc(best, func(a, b int) int { return cmp.Compare(score[b], score[a]) })
		require.Equal(t, g.Top[q], best[:len(g.Top[q])], "question %d", q)
	}
}

func readQuestions(t *testing.T, name string) []string {
	t.Helper()
	f, err := os.Open(name)
	require.NoError(t, err)
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	at := slices.Index(records[0], "question")
	var out []string
	for _, r := range records[1:] {
		out = append(out, r[at])
	}
	return out
}

func TestParse(t *testing.T) {
	for in, want := range map[string]string{
		"lsa": "lsa(dim=256,seed=1)", "hash": "hash(dim=256,seed=0)", "lsa( seed = 7 )": "lsa(dim=256,seed=7)",
		"hash(dim=512)": "hash(dim=512,seed=0)",
	} {
		spec, err := embed.Parse(in)
		require.NoError(t, err)
		assert.Equal(t, want, spec.String())
	}
	for in, want := range map[string]string{
		"lsi":              `parse embedder "lsi": unknown embedder "lsi": did you mean "lsa"?`,
		"openai-large":     `parse embedder "openai-large": unknown embedder "openai-large": known are lsa, hash`,
		"lsa(dims=3)":      `parse embedder "lsa(dims=3)": unknown key "dims": did you mean "dim"?`,
		"lsa(dim=0)":       `parse embedder "lsa(dim=0)": dim: 0 is not from 1 to 65536`,
		"hash(seed=-1)":    `parse embedder "hash(seed=-1)": seed: -1 is below 0`,
		"hash(dim=many)":   `parse embedder "hash(dim=many)": dim: "many" is not an integer`,
		"hash(dim=3,dim=4": `parse embedder "hash(dim=3,dim=4": "hash(dim=3,dim=4": missing closing parenthesis`,
	} {
		_, err := embed.Parse(in)
		assert.EqualError(t, err, want)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"lsa", "hash(dim=3)", "lsa(dim=256,seed=1)", "hash(seed=99999999999999999999)", "x(", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		spec, err := embed.Parse(s)
		if err != nil {
			return
		}
		again, err := embed.Parse(spec.String())
		require.NoError(t, err)
		require.Equal(t, spec, again)
	})
}

func ExampleParse() {
	spec, err := embed.Parse("hash(dim=8)")
	if err != nil {
		fmt.Println(err)
		return
	}
	e, err := spec.Fit(context.Background(), embed.Env{})
	if err != nil {
		fmt.Println(err)
		return
	}
	v, err := e.Embed(context.Background(), evalkit.Question, []string{"To be, or not to be"})
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(spec, v.Len(), v.Dim)
	// Output: hash(dim=8,seed=0) 1 8
}
