package embed

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit"
)

// A Spec is the written form of an embedder.
type Spec interface {
	fmt.Stringer // "lsa(dim=256,seed=1)"; Parse reads it
	// Fit returns the embedder. It may take seconds, and needs what env holds.
	Fit(ctx context.Context, env Env) (evalkit.Embedder, error)
}

// An Env holds what the string of an embedder does not say.
type Env struct {
	Analyzer evalkit.Analyzer // of lsa
	// Sentences returns the texts that lsa is fitted on: those of the data set,
	// never those of one strategy, whose chunks are to be compared.
	Sentences func() []string
}

// LSA is latent semantic analysis; see FitLSA.
type LSA struct {
	Dim  int    // wanted dimensions, 1 or more
	Seed uint64 // of the random projection
}

// Hash is feature hashing, for tests and as a lower mark: vectors say which
// words a text has, up to collisions, and nothing of their weight. See Embed.
type Hash struct {
	Dim  int    // 1 or more
	Seed uint64 // moves words to other places; 0 is the plain hash
}

// maxDim bounds the dimensions that Parse accepts.
const maxDim = 1 << 16

// Names returns the names that Parse knows.
func Names() []string { return []string{"lsa", "hash"} }

// Parse reads an embedder; nothing is fitted yet:
//
//	lsa(dim=256,seed=1)
//	hash(dim=256,seed=0)
//
// The values shown are the defaults.
func Parse(s string) (Spec, error) {
	spec, err := parse(s)
	if err != nil {
		return nil, fmt.Errorf("parse embedder %q: %w", s, err)
	}
	return spec, nil
}

func parse(s string) (Spec, error) {
	e, err := evalkit.ParseExpr(s)
	if err != nil {
		return nil, err
	}
	known := Names()
	defaultSeed := map[string]int{"lsa": 1}[e.Name]
	set := e.Settings()
	dim, seed := set.Int("dim", 256), set.Int("seed", defaultSeed)
	spec := map[string]Spec{"lsa": LSA{dim, uint64(seed)}, "hash": Hash{dim, uint64(seed)}}[e.Name]
	if spec == nil {
		if best, ok := evalkit.Nearest(e.Name, known); ok {
			return nil, fmt.Errorf("unknown embedder %q: did you mean %q?", e.Name, best)
		}
		return nil, fmt.Errorf("unknown embedder %q: known are %s", e.Name, strings.Join(known, ", "))
	}
	switch err := set.Err(); {
	case err != nil:
		return nil, err
	case dim < 1 || dim > maxDim:
		return nil, fmt.Errorf("dim: %d is not from 1 to %d", dim, maxDim)
	case seed < 0:
		return nil, fmt.Errorf("seed: %d is below 0", seed)
	}
	return spec, nil
}

// String returns "lsa(dim=256,seed=1)".
func (s LSA) String() string { return fmt.Sprintf("lsa(dim=%d,seed=%d)", s.Dim, s.Seed) }

// String returns "hash(dim=256,seed=0)".
func (s Hash) String() string { return fmt.Sprintf("hash(dim=%d,seed=%d)", s.Dim, s.Seed) }

// Fit returns FitLSA over env's sentences.
func (s LSA) Fit(ctx context.Context, env Env) (evalkit.Embedder, error) {
	if env.Analyzer == nil || env.Sentences == nil {
		return nil, fmt.Errorf("fit %s: %w", s, errors.New("needs an analyzer and the data set's sentences"))
	}
	m, err := FitLSA(ctx, s, env.Analyzer, env.Sentences())
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Fit returns s itself: hashing needs no fitting.
func (s Hash) Fit(context.Context, Env) (evalkit.Embedder, error) { return s, nil }
