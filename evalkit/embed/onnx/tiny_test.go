package onnx

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tinyVocab has one token a word.
var tinyVocab = []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "ice", "drifts", "the", "buoy", "node", "listens", "##s", "."}

const tinyConfig = `{"model_type":"bert","hidden_act":"gelu","hidden_size":16,"intermediate_size":32,"layer_norm_eps":1e-12,
"max_position_embeddings":40,"num_attention_heads":2,"num_hidden_layers":2,"type_vocab_size":2,"vocab_size":13}`

// tinyFolder writes a model of random weights, with further files over it.
func tinyFolder(t testing.TB, seed uint64, more map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{
		"vocab.txt": strings.Join(tinyVocab, "\n") + "\n", "config.json": tinyConfig, "model.safetensors": tinyWeights(t, seed),
		"sentence_bert_config.json": `{"max_seq_length":10}`, "tokenizer_config.json": `{"tokenizer_class":"BertTokenizer","do_lower_case":true,"strip_accents":null}`,
	}
	maps.Copy(files, more)
	for name, content := range files {
		if content == "" {
			continue // not there
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	}
	return dir
}

// tinyWeights returns a safetensors file for tinyConfig.
func tinyWeights(t testing.TB, seed uint64) string {
	t.Helper()
	shapes := map[string][]int{
		"embeddings.word_embeddings.weight": {13, 16}, "embeddings.position_embeddings.weight": {40, 16},
		"embeddings.token_type_embeddings.weight": {2, 16}, "embeddings.LayerNorm.weight": {16}, "embeddings.LayerNorm.bias": {16},
	}
	for i := range 2 {
		at := fmt.Sprintf("encoder.layer.%d.", i)
		for _, name := range []string{"attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"} {
			shapes[at+name+".weight"], shapes[at+name+".bias"] = []int{16, 16}, []int{16}
		}
		shapes[at+"intermediate.dense.weight"], shapes[at+"intermediate.dense.bias"] = []int{32, 16}, []int{32}
		shapes[at+"output.dense.weight"], shapes[at+"output.dense.bias"] = []int{16, 32}, []int{16}
		for _, name := range []string{"attention.output.LayerNorm", "output.LayerNorm"} {
			shapes[at+name+".weight"], shapes[at+name+".bias"] = []int{16}, []int{16}
		}
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	header := map[string]any{"__metadata__": map[string]string{"format": "pt"}}
	var data bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(shapes)) {
		start, n := data.Len(), 1
		for _, s := range shapes[name] {
			n *= s
		}
		for range n {
			require.NoError(t, binary.Write(&data, binary.LittleEndian, float32(rng.NormFloat64()/2)))
		}
		header[name] = tensorInfo{"F32", shapes[name], [2]int{start, data.Len()}}
	}
	h, err := json.Marshal(header)
	require.NoError(t, err)
	return string(binary.LittleEndian.AppendUint64(nil, uint64(len(h)))) + string(h) + data.String()
}

// withCgo skips the test where no model can run.
func withCgo(t testing.TB) {
	t.Helper()
	if err := runnable(); err != nil {
		t.Skip(err)
	}
}

// withRuntime skips the test where onnxruntime is not there.
func withRuntime(t testing.TB) {
	t.Helper()
	withCgo(t)
	if dir, err := Folder(); err != nil || !isFile(filepath.Join(dir, runtimeFolder, libraryName(runtime.GOOS))) {
		t.Skip("onnxruntime is not there: get it with \"evalkit model pull runtime\"")
	}
}

// withoutRuntime lets models be opened, though not loaded.
func withoutRuntime(t testing.TB) {
	t.Helper()
	withCgo(t)
	path := filepath.Join(t.TempDir(), "library")
	require.NoError(t, os.WriteFile(path, nil, 0o644))
	t.Setenv("EVALKIT_ONNXRUNTIME", path)
}

// tiny opens a model of random weights with further settings.
func tiny(t testing.TB, dir, settings string) *Model {
	t.Helper()
	s, err := ParseSpec(fmt.Sprintf("onnx(model=%q%s)", dir, settings))
	require.NoError(t, err)
	m, err := New(s)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, m.Close()) })
	return m
}

// nanWeights returns weights with one number that is none.
func nanWeights(t testing.TB) string {
	b := []byte(tinyWeights(t, 1))
	binary.LittleEndian.PutUint32(b[len(b)-4:], math.Float32bits(float32(math.NaN())))
	return string(b)
}
