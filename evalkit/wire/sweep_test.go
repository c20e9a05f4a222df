package wire

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSweepRefusesEqualValues runs no Experiment twice, however it is written.
func TestSweepRefusesEqualValues(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"same", "  top_k: [5, 5]\n", `x.yaml:4: sweep.top_k[1]: top_k "5": listed twice`},
		{"number", "  top_k: [5, 7, 05]\n", `x.yaml:4: sweep.top_k[2]: top_k "05": listed twice: it is the same as "5"`},
		{"window", "  window: [0/0, 1/1, '±1/1']\n", `x.yaml:4: sweep.window[2]: window "±1/1": listed twice: it is the same as "1/1"`},
		{"zeros", "  top_k: [1, 2]\n  window: [1/1, 01/1]\n", `x.yaml:5: sweep.window[1]: window "01/1": listed twice`},
		{"retriever", "  retriever:\n    - bm25\n    - hybrid\n    - bm25: {k1: 1.2}\n", `x.yaml:7: sweep.retriever[2].bm25: retriever "bm25(k1=1.2)": listed twice: it is the same as "bm25"`},
		{"fusion", "  top_k: [1, 2]\n  retriever: [hybrid, 'hybrid(depth=50)']\n  fusion: [rrf, rrf(k=60)]\n", `x.yaml:6: sweep.fusion[1]: fusion "rrf(k=60)": listed twice: it is the same as "rrf"`},
		{"embedder", "  retriever: [dense]\n  embedder: [lsa, 'lsa(dim=256,seed=1)']\n", `x.yaml:5: sweep.embedder[1]: embedder "lsa(dim=256,seed=1)": listed twice`},
		{"embedder not used", "  retriever: [bm25]\n  embedder: [hash, hash(dim=256)]\n", `x.yaml:5: sweep.embedder[1]: embedder "hash(dim=256)": listed twice`},
		{"analyzer", "  analyzer: [en, de, en]\n", `x.yaml:4: sweep.analyzer[2]: analyzer "en": listed twice`},
		{"tokenizer", "  tokenizer: [word, word]\n", `x.yaml:4: sweep.tokenizer[1]: tokenizer "word": listed twice`},
		{"answerer", "  answerer: [none, extractive, extractive(sentences=1)]\n", `x.yaml:4: sweep.answerer[2]: answerer "extractive(sentences=1)": listed twice`},
		{"seed", "  seed: [1, 2, 01]\n", `x.yaml:4: sweep.seed[2]: seed "01": listed twice`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := groups(t, &Lab{}, "strategies: [page]\nsweep:\n"+c.text)
			require.ErrorContains(t, err, c.want)
		})
	}
	gs, err := groups(t, &Lab{}, "strategies: [page]\nsweep: {retriever: [bm25, hybrid], embedder: [hash, hash(dim=8)], window: [0/1, 1/0]}\n")
	require.NoError(t, err, "an embedder that one of the retrievers does not use")
	assert.Len(t, gs, 4)
}

// TestSweepRefusesKeyBesideIt would ignore what stands beside.
func TestSweepRefusesKeyBesideIt(t *testing.T) {
	for text, want := range map[string]string{
		"top_k: 9\nsweep:\n  top_k: [3, 4]\n":            `x.yaml:3: top_k: "9" stands beside sweep.top_k of line 5, which would replace it: keep one of them`,
		"sweep: {retriever: [bm25]}\nretriever: dense\n": `x.yaml:4: retriever: "dense" stands beside sweep.retriever of line 3`,
		"neighbor_prev: 1\nsweep: {window: [0/0]}\n":     `x.yaml:3: neighbor_prev: "1" stands beside sweep.window of line 4`,
		"neighbor_next: 0\nsweep: {window: [0/0]}\n":     `x.yaml:3: neighbor_next: "0" stands beside sweep.window of line 4`,
		"seed: 1\nsweep: {seed: [1, 2]}\n":               `x.yaml:3: seed: "1" stands beside sweep.seed of line 4`,
	} {
		_, err := groups(t, &Lab{}, "strategies: [page]\n"+text)
		require.ErrorContains(t, err, want)
	}
	_, err := groups(t, &Lab{}, "strategies: [page]\nneighbor_prev: 1\nsweep: {top_k: [1, 2]}\n")
	require.NoError(t, err)
}
