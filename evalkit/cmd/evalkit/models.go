package main

import (
	"path/filepath"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/embed/onnx"
	"github.com/chunkeval/chunkeval/evalkit/embed/openai"
	"github.com/chunkeval/chunkeval/evalkit/embed/vectorfile"
	"github.com/chunkeval/chunkeval/evalkit/store"
	"github.com/chunkeval/chunkeval/evalkit/wire"
)

// embedders returns the kinds of embedders that the command knows beside those
// of package embed.
func embedders() []wire.EmbedderKind {
	return []wire.EmbedderKind{
		{Name: "openai", Open: openai.Open},
		{Name: "onnx", Open: onnx.Open},
		{Name: "minilm", Open: onnx.Open},
		{Name: "precomputed", Open: vectorfile.Opener(readVectors)},
	}
}

// readVectors reads a file of vectors in any format.
func readVectors(path string) (evalkit.Vectors, []vectorfile.Key, error) {
	if isParquet(path) {
		return store.ReadVectors(path)
	}
	return vectorfile.Read(path)
}

func isParquet(path string) bool { return strings.EqualFold(filepath.Ext(path), ".parquet") }
