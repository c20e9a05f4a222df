package openai

import (
	"context"
	"errors"
	"fmt"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/embed"
	"github.com/chunkeval/chunkeval/evalkit/llm"
	"github.com/chunkeval/chunkeval/evalkit/token"
)

// What becomes of a text beyond the model's window.
const (
	LongError = "error" // nothing is sent
	LongCut   = "cut"   // its beginning is embedded
	LongSplit = "split" // it is embedded in parts; the vector is their mean, weighted by tokens
)

// A Spec is the written form of an embedder.
type Spec struct {
	llm.Config
	Dimensions    int    // wanted; 0: the model's own
	Window        int    // most tokens that the model reads, prefix included; 0: not known, nothing is counted
	Long          string // LongError, LongCut or LongSplit
	Tokenizer     string // counts against Window
	QueryPrefix   string // before every question
	PassagePrefix string // before every passage
	Batch         int    // most texts per call
	Parallel      int    // most calls at a time
}

var _ embed.Spec = Spec{}

// The settings in force where nothing is given, and the largest accepted.
const (
	defaultBatch     = 64
	defaultParallel  = 4
	defaultTokenizer = "cl100k"
	maxDimensions    = 1 << 16
)

// Parse reads an embedder; nothing is sent yet. The values shown are the
// defaults; model must be given:
//
//	openai(base_url="https://api.openai.com/v1",model=NAME,dimensions=0,window=0,long=error,tokenizer=cl100k,
//	       query_prefix="",passage_prefix="",key_env=OPENAI_API_KEY,key_header="",timeout=60,tries=5,batch=64,parallel=4)
//
// An error does not repeat s, which may hold a key by mistake.
func Parse(s string) (Spec, error) {
	if err := llm.RefuseSecret(s); err != nil {
		return Spec{}, fmt.Errorf("parse embedder openai: %w", err)
	}
	e, err := evalkit.ParseExpr(s)
	if err != nil {
		return Spec{}, errors.New("parse embedder openai: not of the form openai(key=value,…)")
	}
	spec, err := parse(e)
	if err != nil {
		return Spec{}, fmt.Errorf("parse embedder openai: %w", err)
	}
	return spec, nil
}

func parse(e evalkit.Expr) (Spec, error) {
	if e.Name != "openai" {
		return Spec{}, errors.New("want openai(…)")
	}
	set := e.Settings()
	c, cerr := llm.ReadConfig(set)
	spec := Spec{
		Config: c, Dimensions: set.Int("dimensions", 0), Window: set.Int("window", 0), Long: set.Enum("long", LongError, LongError, LongCut, LongSplit),
		Tokenizer: set.String("tokenizer", defaultTokenizer), QueryPrefix: set.String("query_prefix", ""), PassagePrefix: set.String("passage_prefix", ""),
		Batch: set.Int("batch", defaultBatch), Parallel: set.Int("parallel", defaultParallel),
	}
	if err := set.Err(); err != nil {
		return Spec{}, err
	}
	if cerr != nil {
		return Spec{}, cerr
	}
	return spec, spec.check()
}

func (s Spec) check() error {
	switch {
	case s.Dimensions < 0 || s.Dimensions > maxDimensions:
		return fmt.Errorf("dimensions: %d is not from 0 to %d", s.Dimensions, maxDimensions)
	case s.Window < 0:
		return fmt.Errorf("window: %d is below 0", s.Window)
	case s.Batch < 1:
		return fmt.Errorf("batch: %d is below 1", s.Batch)
	case s.Parallel < 1:
		return fmt.Errorf("parallel: %d is below 1", s.Parallel)
	}
	if _, err := token.Parse(s.Tokenizer); err != nil {
		return fmt.Errorf("tokenizer: %w", err)
	}
	return nil
}

// identity is what changes vectors.
func (s Spec) identity() string {
	return fmt.Sprintf("%s,dimensions=%d,window=%d,long=%s,tokenizer=%s,query_prefix=%q,passage_prefix=%q",
		s.Identity(), s.Dimensions, s.Window, s.Long, s.Tokenizer, s.QueryPrefix, s.PassagePrefix)
}

// String returns the form that Parse reads: all that changes vectors, the name
// of the key's variable, and what else is not the default. It holds no key.
func (s Spec) String() string {
	out := "openai(" + s.identity() + s.Rest()
	if s.Batch != defaultBatch {
		out += fmt.Sprintf(",batch=%d", s.Batch)
	}
	if s.Parallel != defaultParallel {
		out += fmt.Sprintf(",parallel=%d", s.Parallel)
	}
	return out + ")"
}

// Fit returns New's embedder: the model is fitted already.
func (s Spec) Fit(context.Context, embed.Env) (evalkit.Embedder, error) {
	return New(s, llm.Options{})
}

// Open returns the embedder of an Expr, as New does. It is what a program names
// to know this kind of embedder.
func Open(e evalkit.Expr) (evalkit.Embedder, error) {
	spec, err := Parse(e.String())
	if err != nil {
		return nil, err
	}
	return New(spec, llm.Options{})
}
