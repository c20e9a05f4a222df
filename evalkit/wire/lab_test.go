package wire

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
)

// toy writes a data set of one document.
func toy(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "dataset.yaml"), "name: toy\nlanguage: en\nlicence: CC0-1.0\n")
	write(t, filepath.Join(dir, "documents", "a.md"), "The buoy drifts with the ice. The node listens on the seabed. The gateway forwards what it hears.\n")
	write(t, filepath.Join(dir, "queries.jsonl"), `{"id":"q","question":"What drifts?","gold":[{"doc":"a.md","quote":"The buoy drifts with the ice."}]}`)
	return dir
}

func groups(t *testing.T, lab *Lab, text string) ([]*Group, error) {
	t.Helper()
	file := write(t, filepath.Join(t.TempDir(), "x.yaml"), "dataset: "+toy(t)+"\n"+text)
	c, err := ReadConfig(file)
	require.NoError(t, err)
	return lab.Groups(c)
}

func TestGroupsUnfoldASweep(t *testing.T) {
	gs, err := groups(t, &Lab{}, "strategies: [page, fixed_size]\nmetrics: [recall]\nsweep:\n  retriever: [bm25, hybrid]\n  top_k: [1, 2]\n  window: [0/0, 1/2]\n")
	require.NoError(t, err)
	require.Len(t, gs, 2, "one index serves all top_k and windows")
	seen := map[string]bool{}
	for _, g := range gs {
		require.Len(t, g.Specs, 4)
		for i, s := range g.Specs {
			seen[g.Fingerprint(i)] = true
			assert.Equal(t, evalkit.Window{Prev: s.NeighborPrev, Next: s.NeighborNext}, g.Settings[i].Window)
		}
	}
	assert.Len(t, seen, 8, "every Experiment has a fingerprint of its own")
	assert.Equal(t, "x retriever=bm25 top_k=1 window=1/2", gs[0].Specs[1].Name)
	assert.Empty(t, gs[0].Specs[0].Embedder, "bm25 uses none")
	assert.Equal(t, "lsa(dim=256,seed=1)", gs[1].Specs[0].Embedder)
}

func TestGroupsRefuse(t *testing.T) {
	for text, want := range map[string]string{
		"strategies: [page, page]\n":                                       "x.yaml:2: strategies[1]: strategy page(size=1000,unit=token): listed twice",
		"strategies: [page]\nmetrics: [recall, recall]\n":                  "x.yaml:3: metrics[1]: metric recall: listed twice",
		"strategies: [page]\nretriever: bm25\nfusion: rrf\n":               "x.yaml:4: fusion: retriever bm25 does not fuse",
		"strategies: [page]\ntop_k: 0\n":                                   `x.yaml:3: top_k: "0" is not a whole number of at least 1`,
		"strategies: [page]\nneighbor_prev: -1\n":                          "x.yaml:3: neighbor_prev:",
		"strategies: [page]\nsweep: {window: [1]}\n":                       "x.yaml:3: sweep.window[0]:",
		"strategies: [page]\nembedder: lsb\n":                              "x.yaml:3: embedder:",
		"strategies: ['page(size=5))']\n":                                  `x.yaml:2: strategies[0]: parse strategy: "page(size=5))": ')' does not match`,
		"strategies:\n  - page(size=5\n":                                   `x.yaml:3: strategies[0]: parse strategy: "page(size=5": missing closing parenthesis`,
		"strategies: [page]\nqueries: ['[']\n":                             "x.yaml:3: queries[0]:",
		"strategies: [page]\nretriever: hybrid(fusion=rrf)\nfusion: rrf\n": "given here and in retriever",
	} {
		_, err := groups(t, &Lab{}, text)
		assert.ErrorContains(t, err, want)
	}
}

func TestAskerIgnoresWindowsOfOthers(t *testing.T) {
	gs, err := groups(t, &Lab{CacheDir: t.TempDir()}, "strategies: [fixed_size(size=8), semantic]\nretriever: bm25\n")
	require.NoError(t, err)
	w := evalkit.Window{Prev: 1, Next: 1}
	for i, expands := range []bool{true, false} {
		a, err := gs[0].Asker(t.Context(), i)
		require.NoError(t, err)
		r, err := a.Ask(t.Context(), evalkit.Query{ID: "x", Text: "node"}, 1, w)
		require.NoError(t, err)
		assert.Equal(t, expands, len(r.RetrievedChunks) > 1)
		assert.Equal(t, expands, r.NeighborPrev == 1)
		assert.Equal(t, !expands, len(r.Warnings) == 1)
	}
}

// TestChunkCache cuts once, and again when the file is damaged.
func TestChunkCache(t *testing.T) {
	dir := t.TempDir()
	lab := &Lab{CacheDir: dir}
	gs, err := groups(t, lab, "strategies: [semantic]\n")
	require.NoError(t, err)
	s, doc := gs[0].Setup.Strategies[0], gs[0].Setup.Dataset.Docs[0]
	want, err := s.Split(t.Context(), doc)
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(dir, "chunks", "*.chunks"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	got, err := s.Split(t.Context(), doc)
	require.NoError(t, err)
	assert.Equal(t, want, got)
	write(t, files[0], "damaged")
	got, err = s.Split(t.Context(), doc)
	require.NoError(t, err)
	assert.Equal(t, want, got)
	require.NoError(t, lab.Close())
}
