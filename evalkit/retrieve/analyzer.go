package retrieve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/keyword"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/simple"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/standard"
	"github.com/blevesearch/bleve/v2/analysis/lang/ar"
	"github.com/blevesearch/bleve/v2/analysis/lang/cjk"
	"github.com/blevesearch/bleve/v2/analysis/lang/ckb"
	"github.com/blevesearch/bleve/v2/analysis/lang/da"
	"github.com/blevesearch/bleve/v2/analysis/lang/de"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/analysis/lang/es"
	"github.com/blevesearch/bleve/v2/analysis/lang/fa"
	"github.com/blevesearch/bleve/v2/analysis/lang/fi"
	"github.com/blevesearch/bleve/v2/analysis/lang/fr"
	"github.com/blevesearch/bleve/v2/analysis/lang/hi"
	"github.com/blevesearch/bleve/v2/analysis/lang/hr"
	"github.com/blevesearch/bleve/v2/analysis/lang/hu"
	"github.com/blevesearch/bleve/v2/analysis/lang/it"
	"github.com/blevesearch/bleve/v2/analysis/lang/nl"
	"github.com/blevesearch/bleve/v2/analysis/lang/no"
	"github.com/blevesearch/bleve/v2/analysis/lang/pl"
	"github.com/blevesearch/bleve/v2/analysis/lang/pt"
	"github.com/blevesearch/bleve/v2/analysis/lang/ro"
	"github.com/blevesearch/bleve/v2/analysis/lang/ru"
	"github.com/blevesearch/bleve/v2/analysis/lang/sv"
	"github.com/blevesearch/bleve/v2/analysis/lang/tr"
	"github.com/blevesearch/bleve/v2/registry"

	"github.com/chunkeval/chunkeval/evalkit"
)

// languages are the analyzers that bleve ships for a language, by its BCP 47
// subtag. Each is named, so that its package is linked in.
func languages() []string {
	return []string{
		ar.AnalyzerName, ckb.AnalyzerName, da.AnalyzerName, de.AnalyzerName, en.AnalyzerName, es.AnalyzerName,
		fa.AnalyzerName, fi.AnalyzerName, fr.AnalyzerName, hi.AnalyzerName, hr.AnalyzerName, hu.AnalyzerName,
		it.AnalyzerName, nl.AnalyzerName, no.AnalyzerName, pl.AnalyzerName, pt.AnalyzerName, ro.AnalyzerName,
		ru.AnalyzerName, sv.AnalyzerName, tr.AnalyzerName,
	}
}

// Analyzers returns the names that NewAnalyzer knows, sorted.
//
//   - A language code ("en", "de", "ru", …): bleve's chain for the language:
//     words, lower case, its stop words, its stemmer.
//   - cjk: width folded, lower case, pairs of neighboring ideographs; the only one
//     that finds a part of a Chinese, Japanese or Korean sentence.
//   - standard: Unicode words, lower case, English stop words.
//   - simple: runs of letters, lower case, no stop words.
//   - keyword: the whole text as one term.
func Analyzers() []string {
	names := append(languages(), cjk.AnalyzerName, standard.Name, simple.Name, keyword.Name)
	slices.Sort(names)
	return names
}

// AnalyzerFor returns the name of the analyzer for a language given as a BCP
// 47 tag: its code where bleve ships a chain for it ("en-GB" is en), cjk for
// Chinese, Japanese and Korean, no for both written forms of Norwegian,
// otherwise standard. Case does not matter.
func AnalyzerFor(language string) string {
	base, _, _ := strings.Cut(strings.ReplaceAll(strings.ToLower(strings.TrimSpace(language)), "_", "-"), "-")
	switch base {
	case "zh", "ja", "ko":
		return cjk.AnalyzerName
	case "nb", "nn":
		return no.AnalyzerName
	}
	if slices.Contains(languages(), base) {
		return base
	}
	return standard.Name
}

// NewAnalyzer returns the analyzer of that name; see Analyzers. None of them
// folds accents. An unknown name is refused with the nearest known one.
func NewAnalyzer(name string) (evalkit.Analyzer, error) {
	known := Analyzers()
	if !slices.Contains(known, name) {
		if best, ok := evalkit.Nearest(name, known); ok {
			return nil, fmt.Errorf("analyzer %q: unknown: did you mean %q?", name, best)
		}
		return nil, fmt.Errorf("analyzer %q: unknown: known are %s", name, strings.Join(known, ", "))
	}
	chain, err := registry.NewCache().AnalyzerNamed(name)
	if err != nil {
		return nil, fmt.Errorf("analyzer %q: %w", name, err)
	}
	return bleveAnalyzer{name, chain}, nil
}

type bleveAnalyzer struct {
	name  string
	chain analysis.Analyzer
}

func (a bleveAnalyzer) String() string { return a.name }

// Terms returns the terms of text in order of occurrence.
func (a bleveAnalyzer) Terms(text string) []string {
	tokens := a.chain.Analyze([]byte(text))
	terms := make([]string, len(tokens))
	for i, t := range tokens {
		terms[i] = string(t.Term)
	}
	return terms
}
