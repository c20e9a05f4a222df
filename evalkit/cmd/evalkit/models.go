package main

import (
	"github.com/chunkeval/chunkeval/evalkit/embed/onnx"
	"github.com/chunkeval/chunkeval/evalkit/embed/openai"
	"github.com/chunkeval/chunkeval/evalkit/embed/vectorfile"
	"github.com/chunkeval/chunkeval/evalkit/wire"
)

// embedders returns the kinds of embedders that the command knows beside those
// of package embed.
func embedders() []wire.EmbedderKind {
	return []wire.EmbedderKind{
		{Name: "openai", Open: openai.Open},
		{Name: "onnx", Open: onnx.Open},
		{Name: "minilm", Open: onnx.Open},
		{Name: "precomputed", Open: vectorfile.Open},
	}
}
