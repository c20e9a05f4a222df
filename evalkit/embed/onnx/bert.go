package onnx

import (
	"fmt"
	"strconv"
)

// bertConfig is what config.json says of a BERT encoder.
type bertConfig struct {
	Type         string  `json:"model_type"`
	Act          string  `json:"hidden_act"`
	Hidden       int     `json:"hidden_size"`
	Dim          int     `json:"dim"` // what DistilBERT calls it
	Inner        int     `json:"intermediate_size"`
	Epsilon      float32 `json:"layer_norm_eps"`
	MaxPositions int     `json:"max_position_embeddings"`
	Heads        int     `json:"num_attention_heads"`
	Layers       int     `json:"num_hidden_layers"`
	Positions    string  `json:"position_embedding_type"`
	Types        int     `json:"type_vocab_size"`
	Vocab        int     `json:"vocab_size"`
}

func (c bertConfig) check() error {
	switch {
	case c.Type != "bert":
		return fmt.Errorf("config.json: model_type %q: weights are read for bert only; put an export model.onnx into the folder", c.Type)
	case c.Act != "gelu":
		return fmt.Errorf("config.json: hidden_act %q: want gelu", c.Act)
	case c.Positions != "" && c.Positions != "absolute":
		return fmt.Errorf("config.json: position_embedding_type %q: want absolute", c.Positions)
	case min(c.Hidden, c.Inner, c.MaxPositions, c.Heads, c.Layers, c.Types, c.Vocab) < 1 || c.Hidden%c.Heads != 0:
		return fmt.Errorf("config.json: sizes %+v do not make an encoder", c)
	}
	return nil
}

// The names of what goes into a model and what comes out of it.
const (
	inputIDs  = "input_ids"
	inputMask = "attention_mask"
	inputType = "token_type_ids"
	hiddenOut = "last_hidden_state"
)

// bertGraph writes the encoder of Devlin et al. 2019 as an ONNX model:
// input_ids (batch × length, int32) to last_hidden_state (batch × length ×
// hidden). It has no mask: all texts of a batch have one length. It is written
// with onnxruntime's fused operators.
//
// Note: the vector of token type 0, which every token has, is added to the
// positions here instead of at each run.
func bertGraph(c bertConfig, t *tensors) ([]byte, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	b := &bertBuilder{config: c, tensors: t}
	if t.has("bert.embeddings.word_embeddings.weight") {
		b.prefix = "bert."
	}
	b.value(fieldInput, inputIDs, typeInt32, "batch", "length")
	x := b.embeddings()
	for i := range c.Layers {
		x = b.layer(i, x)
	}
	b.node("", "Identity", []string{x}, []string{hiddenOut})
	b.value(fieldOutput, hiddenOut, typeFloat, "batch", "length", c.Hidden)
	return b.model("bert"), b.err
}

// A bertBuilder keeps the first error of a missing tensor.
type bertBuilder struct {
	graph
	config  bertConfig
	tensors *tensors
	prefix  string
	err     error
}

func (b *bertBuilder) get(name string, shape ...int) []float32 {
	data, err := b.tensors.get(b.prefix+name, shape...)
	if err != nil && b.err == nil {
		b.err = err
	}
	if err != nil {
		n := 1
		for _, s := range shape {
			n *= s
		}
		return make([]float32, n)
	}
	return data
}

// vector adds a constant of one dimension and returns its name.
func (b *bertBuilder) vector(name string, n int) string {
	b.weights(name, b.get(name, n), n)
	return name
}

// matrix adds the weights of a linear layer, turned to in × out.
func (b *bertBuilder) matrix(name string, out, in int) string {
	b.weights(name, transpose(b.get(name, out, in), out, in), in, out)
	return name
}

func transpose(w []float32, rows, cols int) []float32 {
	t := make([]float32, len(w))
	for i := range rows {
		for j := range cols {
			t[j*rows+i] = w[i*cols+j]
		}
	}
	return t
}

func (b *bertBuilder) embeddings() string {
	c := b.config
	const words, positions = "embeddings.word_embeddings.weight", "embeddings.position_embeddings.weight"
	b.weights(words, b.get(words, c.Vocab, c.Hidden), c.Vocab, c.Hidden)
	places := b.get(positions, c.MaxPositions, c.Hidden)
	types := b.get("embeddings.token_type_embeddings.weight", c.Types, c.Hidden)
	for i := range places {
		places[i] += types[i%c.Hidden]
	}
	b.weights(positions, places, c.MaxPositions, c.Hidden)
	gamma, beta := b.norm("embeddings.LayerNorm")
	b.node(contribName, "EmbedLayerNormalization", []string{inputIDs, "", words, positions, "", gamma, beta},
		[]string{"embedded", "embedded_mask"}, attr{"epsilon", c.Epsilon})
	return "embedded"
}

func (b *bertBuilder) norm(name string) (gamma, beta string) {
	return b.vector(name+".weight", b.config.Hidden), b.vector(name+".bias", b.config.Hidden)
}

// layer adds one layer of attention and feed-forward and returns its output.
func (b *bertBuilder) layer(i int, x string) string {
	c := b.config
	at := "encoder.layer." + strconv.Itoa(i) + "."
	qkv, bias := b.joined(at + "attention.self.")
	b.node(contribName, "Attention", []string{x, qkv, bias}, []string{at + "context"}, attr{"num_heads", c.Heads})
	x = b.addNorm(at+"attention.output.", at+"context", x, c.Hidden)

	inner := b.matrix(at+"intermediate.dense.weight", c.Inner, c.Hidden)
	b.node("", "MatMul", []string{x, inner}, []string{at + "inner"})
	b.node(contribName, "BiasGelu", []string{at + "inner", b.vector(at+"intermediate.dense.bias", c.Inner)}, []string{at + "gelu"})
	return b.addNorm(at+"output.", at+"gelu", x, c.Inner)
}

// addNorm projects in, of the given width, adds skip and normalizes.
func (b *bertBuilder) addNorm(at, in, skip string, width int) string {
	w := b.matrix(at+"dense.weight", b.config.Hidden, width)
	b.node("", "MatMul", []string{in, w}, []string{at + "projected"})
	bias := b.vector(at+"dense.bias", b.config.Hidden)
	gamma, beta := b.norm(at + "LayerNorm")
	b.node(contribName, "SkipLayerNormalization", []string{at + "projected", skip, gamma, beta, bias},
		[]string{at + "normalized"}, attr{"epsilon", b.config.Epsilon})
	return at + "normalized"
}

// joined adds query, key and value weights side by side, and their biases.
func (b *bertBuilder) joined(at string) (weights, bias string) {
	h := b.config.Hidden
	all, biases := make([]float32, 3*h*h), make([]float32, 0, 3*h)
	for part, name := range []string{"query", "key", "value"} {
		w := b.get(at+name+".weight", h, h)
		for out := range h {
			for in := range h {
				all[in*3*h+part*h+out] = w[out*h+in]
			}
		}
		biases = append(biases, b.get(at+name+".bias", h)...)
	}
	b.weights(at+"weight", all, h, 3*h)
	b.weights(at+"bias", biases, 3*h)
	return at + "weight", at + "bias"
}
