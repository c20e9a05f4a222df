package onnx

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
)

func words(n int) string { return strings.TrimSpace(strings.Repeat("ice drifts the buoy ", n/4+1)) }

// exactly returns a text of n tokens.
func exactly(n int) string { return strings.Join(strings.Fields(words(n))[:n], " ") }

// The vector of a text is the same to the last bit, whatever stands beside it
// and however many processors there are.
func TestVectorDependsOnItsTextAlone(t *testing.T) {
	withRuntime(t)
	check := func(m *Model, texts []string) {
		all, err := m.Embed(t.Context(), evalkit.Passage, texts)
		require.NoError(t, err)
		for i, text := range texts {
			one, err := m.Embed(t.Context(), evalkit.Passage, []string{text})
			require.NoError(t, err)
			require.Equal(t, one.Row(0), all.Row(i), "%.40q", text)
			square := 0.0
			for _, x := range all.Row(i) {
				square += float64(x) * float64(x)
			}
			require.InDelta(t, 1, square, 1e-6)
		}
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		alone, err := m.Embed(t.Context(), evalkit.Passage, texts)
		require.NoError(t, err)
		require.Equal(t, all, alone)
	}
	texts := []string{}
	for i := range 60 {
		texts = append(texts, exactly(1+i%14)+strings.Repeat(" node", i%3))
	}
	check(tiny(t, tinyFolder(t, 1, nil), ""), texts)
	if !testing.Short() {
		check(miniLM(t, ""), append(texts[:14], exactly(13), exactly(13), exactly(300), exactly(120), exactly(120)))
	}
}

// An export and the weights that it was made of give the same vectors.
func TestExportEqualsWeights(t *testing.T) {
	withRuntime(t)
	dir := tinyFolder(t, 1, nil)
	weights, err := readTensors(filepath.Join(dir, "model.safetensors"))
	require.NoError(t, err)
	x, err := readExport(dir)
	require.NoError(t, err)
	g, err := bertGraph(x.config, weights)
	require.NoError(t, err)
	export := tinyFolder(t, 1, map[string]string{"model.safetensors": "", "onnx/model.onnx": string(g)})
	texts := []string{"the ice drifts", "the node listens.", "[MASK] ice [SEP]"}
	a, err := tiny(t, dir, "").Embed(t.Context(), evalkit.Passage, texts)
	require.NoError(t, err)
	b, err := tiny(t, export, "").Embed(t.Context(), evalkit.Passage, texts)
	require.NoError(t, err)
	assert.Equal(t, a, b)
	cls, err := tiny(t, export, ",pooling=cls").Embed(t.Context(), evalkit.Passage, texts)
	require.NoError(t, err)
	assert.NotEqual(t, a, cls)
}

func TestPrefixesAreForTheirKind(t *testing.T) {
	withRuntime(t)
	dir := tinyFolder(t, 1, nil)
	m, plain := tiny(t, dir, `,query_prefix="the node ",passage_prefix="buoy: "`), tiny(t, dir, "")
	get := func(m *Model, kind evalkit.TextKind, text string) []float32 {
		v, err := m.Embed(t.Context(), kind, []string{text})
		require.NoError(t, err)
		return v.Row(0)
	}
	assert.Equal(t, get(plain, evalkit.Question, "the node listens"), get(m, evalkit.Question, "listens"))
	assert.Equal(t, get(plain, evalkit.Passage, "buoy: listens"), get(m, evalkit.Passage, "listens"))
	assert.Equal(t, get(plain, evalkit.Passage, "listens"), get(plain, evalkit.Question, "listens"))
}

func TestEmbedStopsWithItsContext(t *testing.T) {
	withRuntime(t)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	_, err := tiny(t, tinyFolder(t, 1, nil), "").Embed(ctx, evalkit.Passage, []string{"ice"})
	assert.ErrorIs(t, err, context.Canceled)
}

func TestHO_EM_04_NoVectorAndNoNumber(t *testing.T) {
	withRuntime(t)
	v, err := tiny(t, tinyFolder(t, 1, nil), "").Embed(t.Context(), evalkit.Question, []string{"ice", "", " \n\ufeff", "\u200b\x01"})
	require.NoError(t, err)
	assert.NotEqual(t, make([]float32, 16), v.Row(0))
	for i := 1; i < 4; i++ {
		assert.Equal(t, make([]float32, 16), v.Row(i), "a text without a token has no vector")
	}
	_, err = tiny(t, tinyFolder(t, 1, map[string]string{"model.safetensors": nanWeights(t)}), "").Embed(t.Context(), evalkit.Passage, []string{"", "ice"})
	assert.ErrorContains(t, err, "text 1: the model gives a vector of length NaN")
}

func TestHO_EM_05_AnotherModelHasAnotherFingerprint(t *testing.T) {
	withoutRuntime(t)
	dir := tinyFolder(t, 1, nil)
	seen := map[string]string{}
	for _, settings := range []string{"", ",window=9", ",pooling=cls", ",long=split", `,query_prefix="q "`, `,passage_prefix="q "`} {
		seen[tiny(t, dir, settings).Fingerprint()] = settings
	}
	for name, more := range map[string]map[string]string{
		"weights":   {"model.safetensors": tinyWeights(t, 2)},
		"vocab":     {"vocab.txt": strings.Join(tinyVocab, "\n") + "\nnew\n"},
		"case":      {"tokenizer_config.json": `{"do_lower_case":false}`},
		"heads":     {"config.json": strings.Replace(tinyConfig, `heads":2`, `heads":4`, 1)},
		"data file": {"model.onnx": "x", "model.onnx_data": "1"}, "other data": {"model.onnx": "x", "model.onnx_data": "2"},
	} {
		seen[tiny(t, tinyFolder(t, 1, more), "").Fingerprint()] = name
	}
	assert.Len(t, seen, 12, "%v", seen)
	assert.Contains(t, seen, tiny(t, tinyFolder(t, 1, nil), "").Fingerprint(), "wherever the folder lies")
}

func TestHO_EM_06_TextBeyondTheWindow(t *testing.T) {
	withoutRuntime(t)
	dir := tinyFolder(t, 1, nil) // a window of 10: 8 tokens and two around them
	texts := []string{exactly(8), exactly(9), exactly(20), "", "ice [SEP] ices."}
	want := Reach{Texts: 5, Long: 2, Tokens: 8 + 9 + 20 + 0 + 5, Lost: 1 + 12}
	for policy, lost := range map[string]int{Cut: 13, Error: 13, Split: 0} {
		m := tiny(t, dir, ",long="+policy)
		r, err := m.Reach(t.Context(), evalkit.Passage, texts)
		require.NoError(t, err)
		want.Lost = lost
		assert.Equal(t, want, r, policy)
		assert.Empty(t, m.Unread(texts[:1]))
	}
	assert.Equal(t, "2 of 5 passages are cut at the model's window of 10 tokens: 31.0 % of all tokens are not read by the embedder", tiny(t, dir, "").Unread(texts))
	assert.Contains(t, tiny(t, dir, ",long=split").Unread(texts), "embedded in parts")
	assert.Contains(t, tiny(t, dir, ",long=error").Unread(texts), "the run will fail")

	_, err := tiny(t, dir, ",long=error").plan(t.Context(), evalkit.Passage, texts)
	assert.ErrorContains(t, err, `text 1, "ice drifts the buoy ice drifts the buoy ": 9 tokens, and the model reads 8: make chunks smaller, or set long=cut or long=split`)
	lengths := func(m *Model) (out []string) {
		all, err := m.plan(t.Context(), evalkit.Passage, texts)
		require.NoError(t, err)
		for _, w := range all {
			out = append(out, fmt.Sprintf("%d:%d", w.text, len(w.ids)))
		}
		return out
	}
	assert.Equal(t, []string{"0:10", "1:10", "2:10", "4:7"}, lengths(tiny(t, dir, "")))
	assert.Equal(t, []string{"0:10", "1:10", "1:3", "2:10", "2:10", "2:6", "4:7"}, lengths(tiny(t, dir, ",long=split")))
	assert.Equal(t, []string{"0:10", "0:6", "1:10", "1:7", "2:10", "2:10", "2:10", "2:6", "4:9"}, lengths(tiny(t, dir, `,long=split,passage_prefix="the node "`)), "each part has the prefix")
	_, err = tiny(t, dir, `,long=split,passage_prefix="the node the node the node the node "`).plan(t.Context(), evalkit.Passage, texts)
	assert.ErrorContains(t, err, "leaves no room in a window of 10")
}

// A text in parts has the mean of its parts, weighted by tokens.
func TestHO_EM_06_SplitIsTheMean(t *testing.T) {
	v := evalkit.Vectors{Dim: 2, Data: make([]float32, 4)}
	all := []window{{1, make([]int32, 9)}, {1, make([]int32, 3)}}
	require.NoError(t, join(v, all, [][]float32{{1, 0}, {0, 1}}))
	assert.InDeltaSlice(t, []float64{0, 0, 0.948683298, 0.316227766}, []float64{float64(v.Data[0]), float64(v.Data[1]), float64(v.Data[2]), float64(v.Data[3])}, 1e-7) // (9,3)/√90
}

func TestSpecRoundTrips(t *testing.T) {
	for in, want := range map[string]string{
		"minilm":                   "onnx(model=all-MiniLM-L6-v2)",
		"minilm(window=128)":       "onnx(model=all-MiniLM-L6-v2,window=128)",
		`onnx(model="a b/c,d")`:    `onnx(model="a b/c,d")`,
		"onnx(model=./x,long=cut)": "onnx(model=./x)",
		"onnx(model=x,long=split)": "onnx(model=x,long=split)",
		`onnx(model=x,pooling=cls,query_prefix="query: ",passage_prefix="passage: ")`: `onnx(model=x,pooling=cls,query_prefix="query: ",passage_prefix="passage: ")`,
	} {
		s, err := ParseSpec(in)
		require.NoError(t, err)
		assert.Equal(t, want, s.String())
		again, err := ParseSpec(s.String())
		require.NoError(t, err)
		assert.Equal(t, s, again)
	}
	for in, want := range map[string]string{
		"onnx":                      "model: not given; name one, such as all-MiniLM-L6-v2",
		"onnx(model=x,window=2)":    "window: 2 leaves no room",
		"onnx(model=x,pooling=max)": `pooling: "max" is not one of mean, cls`,
		"onnx(model=x,long=skip)":   `long: "skip" is not one of cut, error, split`,
		"onnx(model=x,windw=3)":     `unknown key "windw": did you mean "window"?`,
		"other(model=x)":            `unknown embedder "other"`,
		"onnx(model=":               "missing closing parenthesis",
	} {
		_, err := ParseSpec(in)
		assert.ErrorContains(t, err, want, in)
		assert.ErrorContains(t, err, "parse embedder", in)
	}
}

func TestFoldersAreRefusedWithTheReason(t *testing.T) {
	withoutRuntime(t)
	for want, more := range map[string]map[string]string{
		"holds neither model.onnx nor":            {"model.safetensors": ""},
		"holds no vocab.txt":                      {"vocab.txt": ""},
		"has no [SEP]":                            {"vocab.txt": "[UNK]\n[CLS]\n"},
		`model_type "roberta": weights are read`:  {"config.json": strings.Replace(tinyConfig, `"bert"`, `"roberta"`, 1)},
		`hidden_act "relu": want gelu`:            {"config.json": strings.Replace(tinyConfig, `"gelu"`, `"relu"`, 1)},
		"do not make an encoder":                  {"config.json": strings.Replace(tinyConfig, `heads":2`, `heads":3`, 1)},
		"says no hidden_size":                     {"config.json": "{}"},
		"config.json: invalid character":          {"config.json": "{'"},
		`"XLMRobertaTokenizer": want one with`:    {"tokenizer_config.json": `{"tokenizer_class":"XLMRobertaTokenizer"}`},
		"strip_accents differs":                   {"tokenizer_config.json": `{"strip_accents":false}`},
		"tokenize_chinese_chars is false":         {"tokenizer_config.json": `{"tokenize_chinese_chars":false}`},
		`models.Dense": not supported`:            {"modules.json": `[{"type":"sentence_transformers.models.Dense"}]`},
		"want pooling by mean or cls alone":       {"1_Pooling/config.json": `{"pooling_mode_max_tokens":true}`},
		"window: 90 is more than the 40 position": {"sentence_bert_config.json": `{"max_seq_length":90}`},
	} {
		_, err := New(Spec{Model: tinyFolder(t, 1, more), Long: Cut})
		assert.ErrorContains(t, err, want)
	}
	x, err := readExport(tinyFolder(t, 1, map[string]string{"1_Pooling/config.json": `{"pooling_mode":"cls"}`, "sentence_bert_config.json": ""}))
	require.NoError(t, err)
	assert.Equal(t, poolCLS, x.pooling)
	assert.Equal(t, 40, x.window)
}

func TestMissingModelAndRuntimeNameTheCommand(t *testing.T) {
	withCgo(t)
	t.Setenv("EVALKIT_MODELS", t.TempDir())
	t.Setenv("EVALKIT_ONNXRUNTIME", "")
	_, err := New(Spec{Model: MiniLM})
	assert.ErrorContains(t, err, `get it with "evalkit model pull all-MiniLM-L6-v2"`)
	_, err = New(Spec{Model: "mine"})
	assert.ErrorContains(t, err, "put its folder there, or name the folder with a path such as ./mine")
	_, err = New(Spec{Model: tinyFolder(t, 1, nil)})
	assert.ErrorContains(t, err, `get it with "evalkit model pull runtime"`)
	t.Setenv("EVALKIT_ONNXRUNTIME", filepath.Join(t.TempDir(), "none"))
	_, err = New(Spec{Model: tinyFolder(t, 1, nil)})
	assert.ErrorContains(t, err, "which is no file")
}

func TestBrokenFilesAreErrors(t *testing.T) {
	withRuntime(t)
	for name, more := range map[string]map[string]string{
		"not safetensors": {"model.safetensors": "123456789"},
		"not ONNX":        {"model.onnx": "123456789"},
		"other layers":    {"config.json": strings.Replace(tinyConfig, `layers":2`, `layers":3`, 1)},
		"other sizes":     {"config.json": strings.Replace(tinyConfig, `"intermediate_size":32`, `"intermediate_size":31`, 1)},
	} {
		_, err := tiny(t, tinyFolder(t, 1, more), "").Embed(t.Context(), evalkit.Passage, []string{"ice"})
		assert.ErrorContains(t, err, "embedder", name)
	}
}

func FuzzParseTensors(f *testing.F) {
	f.Add([]byte(tinyWeights(f, 1)))
	f.Add([]byte("\x02\x00\x00\x00\x00\x00\x00\x00{}"))
	f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\xff{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := parseTensors(data)
		if err != nil {
			return
		}
		for name, info := range p.header {
			if got, err := p.get(name, info.Shape...); err == nil {
				require.Len(t, got, (info.Offsets[1]-info.Offsets[0])/4)
			}
		}
	})
}
