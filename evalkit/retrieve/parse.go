package retrieve

import (
	"fmt"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit"
)

// An Env holds what the string of a retriever does not say.
type Env struct {
	Analyzer evalkit.Analyzer // of the lexical legs that name none, or this one
	Embedder evalkit.Embedder // of the dense legs
}

// Parse reads a retriever:
//
//	bm25(k1=1.2,b=0.75,analyzer=en)
//	bleve(analyzer=en)
//	dense
//	hybrid(lexical=bm25,fusion=rrf(k=60,lexical=1,dense=1),depth=100)
//	hybrid(lexical=bleve,fusion=weighted(scale=minmax,dense=0.5),depth=100)
//	oracle
//
// The values shown are the defaults, but for the analyzer, which is env's.
// String prints every setting in force, and Parse reads it back under the same
// env. The score of bm25 is
//
//	Σ over the terms t of the query, each as often as the query has it:
//	idf(t) · tf·(k1+1) / (tf + k1·(1 − b + b·len/avg))
//	idf(t) = ln(1 + (N − df + 0.5)/(df + 0.5))
//
// with len and avg counted exactly in terms. A query without a term that the
// index holds finds nothing; there is no query syntax.
func Parse(s string, env Env) (evalkit.Indexer, error) {
	x, err := parse(s, env)
	if err != nil {
		return nil, fmt.Errorf("parse retriever %q: %w", s, err)
	}
	return x, nil
}

func parse(s string, env Env) (evalkit.Indexer, error) {
	e, err := evalkit.ParseExpr(s)
	if err != nil {
		return nil, err
	}
	set := e.Settings()
	var x evalkit.Indexer
	switch e.Name {
	case "bm25", "bleve":
		x, err = parseLexical(e.Name, set, env)
	case "dense":
		x = Dense{env.Embedder}
	case "hybrid":
		x, err = parseHybrid(set, env)
	case "oracle":
		x = Oracle{}
	default:
		return nil, unknown("retriever", e.Name, "bm25", "bleve", "dense", "hybrid", "oracle")
	}
	if err == nil {
		err = set.Err()
	}
	if err != nil {
		return nil, err
	}
	return x, check(x)
}

func unknown(what, name string, known ...string) error {
	if best, ok := evalkit.Nearest(name, known); ok {
		return fmt.Errorf("unknown %s %q: did you mean %q?", what, name, best)
	}
	return fmt.Errorf("unknown %s %q: known are %s", what, name, strings.Join(known, ", "))
}

func parseLexical(name string, set *evalkit.Settings, env Env) (evalkit.Indexer, error) {
	k1, b := 0.0, 0.0
	if name == "bm25" {
		k1, b = set.Float("k1", 1.2), set.Float("b", 0.75)
	}
	a := env.Analyzer
	def := ""
	if a != nil {
		def = a.String()
	}
	if named := set.String("analyzer", def); named != def {
		var err error
		if a, err = NewAnalyzer(named); err != nil {
			return nil, err
		}
	}
	if name == "bleve" {
		return Bleve{a}, nil
	}
	return BM25{k1, b, a}, nil
}

func parseHybrid(set *evalkit.Settings, env Env) (evalkit.Indexer, error) {
	lexical, err := parse(set.String("lexical", "bm25"), env)
	if err != nil {
		return nil, fmt.Errorf("lexical: %w", err)
	}
	fusion, err := ParseFusion(set.String("fusion", "rrf"))
	if err != nil {
		return nil, fmt.Errorf("fusion: %w", err)
	}
	return Hybrid{lexical, Dense{env.Embedder}, fusion, set.Int("depth", 100)}, nil
}

// ParseFusion reads a fusion: rrf(k=60,lexical=1,dense=1) or
// weighted(scale=minmax,dense=0.5); the values shown are the defaults. The
// other scale is zscore.
func ParseFusion(s string) (Fusion, error) {
	e, err := evalkit.ParseExpr(s)
	if err != nil {
		return nil, err
	}
	set := e.Settings()
	var f Fusion
	switch e.Name {
	case "rrf":
		f = RRF{set.Float("k", 60), set.Float("lexical", 1), set.Float("dense", 1)}
	case "weighted":
		f = Weighted{Scale(set.Enum("scale", string(MinMax), string(MinMax), string(ZScore))), set.Float("dense", 0.5)}
	default:
		return nil, unknown("fusion", e.Name, "rrf", "weighted")
	}
	if err := set.Err(); err != nil {
		return nil, err
	}
	return f, checkFusion(f)
}
