package onnx

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
)

func benchmark(b *testing.B, m *Model, texts []string) {
	b.Helper()
	_, err := m.Embed(b.Context(), evalkit.Passage, texts[:1]) // loads the model
	require.NoError(b, err)
	start := processorTime(b)
	for b.Loop() {
		if _, err := m.Embed(b.Context(), evalkit.Passage, texts); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*len(texts))/b.Elapsed().Seconds(), "texts/s")
	b.ReportMetric(float64(b.N*len(texts))/(processorTime(b)-start), "texts/cpu-s")
}

func BenchmarkEmbed(b *testing.B) {
	m := miniLM(b, "")
	for _, tokens := range []int{16, 64, 200} {
		b.Run(fmt.Sprint(tokens), func(b *testing.B) {
			texts := make([]string, 64)
			for i := range texts {
				texts[i] = exactly(tokens)
			}
			benchmark(b, m, texts)
		})
	}
}

// BenchmarkTexts is for scripts/bench_embed.py, which names a model's folder and
// a JSON list of texts.
func BenchmarkTexts(b *testing.B) {
	path := os.Getenv("EVALKIT_BENCH_TEXTS")
	if path == "" {
		b.Skip("EVALKIT_BENCH_TEXTS names no file of scripts/bench_embed.py")
	}
	data, err := os.ReadFile(path)
	require.NoError(b, err)
	var texts []string
	require.NoError(b, json.Unmarshal(data, &texts))
	m, err := New(Spec{Model: os.Getenv("EVALKIT_BENCH_MODEL"), Long: Cut})
	require.NoError(b, err)
	benchmark(b, m, texts)
}

func BenchmarkEncode(b *testing.B) {
	m := miniLM(b, "")
	text := exactly(200)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		m.encoder.encode(text)
	}
}
