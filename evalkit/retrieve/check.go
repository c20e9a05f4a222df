package retrieve

import (
	"errors"
	"fmt"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit"
)

// check returns an error that names the setting that is out of range.
func check(x evalkit.Indexer) error {
	switch x := x.(type) {
	case BM25:
		switch {
		case x.Analyzer == nil:
			return errNoAnalyzer()
		case !(x.K1 >= 0 && x.K1 <= maxNumber):
			return fmt.Errorf("k1: %v is not from 0 to %v", x.K1, maxNumber)
		case !(x.B >= 0 && x.B <= 1):
			return fmt.Errorf("b: %v is not from 0 to 1", x.B)
		}
	case Bleve:
		if x.Analyzer == nil {
			return errNoAnalyzer()
		}
		if _, ok := x.Analyzer.(bleveAnalyzer); !ok {
			return fmt.Errorf("analyzer: %v is not one of bleve's: write analyzer=en, or another of %s", x.Analyzer, strings.Join(Analyzers(), ", "))
		}
	case Dense:
		if x.Embedder == nil {
			return errors.New("dense retrieval needs an embedder: none given")
		}
	case Hybrid:
		switch x.Lexical.(type) {
		case BM25, Bleve:
		default:
			return fmt.Errorf("lexical: %v is not bm25 or bleve", x.Lexical)
		}
		if x.Depth < 1 {
			return fmt.Errorf("depth: %d is below 1", x.Depth)
		}
		return errors.Join(check(x.Lexical), check(x.Dense), checkFusion(x.Fusion))
	}
	return nil
}

func errNoAnalyzer() error {
	return errors.New("analyzer: none given: write analyzer=en, or another of " + strings.Join(Analyzers(), ", "))
}

// maxNumber bounds constants and weights, far above any use, so that no sum
// of scores overflows.
const maxNumber = 1e6

func checkFusion(f Fusion) error {
	switch f := f.(type) {
	case RRF:
		for _, v := range []struct {
			key   string
			value float64
		}{{"k", f.K}, {"lexical", f.Lexical}, {"dense", f.Dense}} {
			if !(v.value >= 0 && v.value <= maxNumber) {
				return fmt.Errorf("%s: %v is not from 0 to %v", v.key, v.value, maxNumber)
			}
		}
		if f.Lexical == 0 && f.Dense == 0 {
			return errors.New("lexical, dense: both weights are 0")
		}
	case Weighted:
		if f.Scale != MinMax && f.Scale != ZScore {
			return fmt.Errorf("scale: %q is not %s or %s", f.Scale, MinMax, ZScore)
		}
		if !(f.Dense >= 0 && f.Dense <= 1) {
			return fmt.Errorf("dense: %v is not from 0 to 1", f.Dense)
		}
	default:
		return fmt.Errorf("fusion %v is not rrf or weighted", f)
	}
	return nil
}
