package report

import (
	"slices"

	"github.com/chunkeval/chunkeval/evalkit"
)

// defaults are settings that readers need not see where they hold: most
// strategies have them, and their written form names all.
var defaults = []evalkit.Arg{{Key: "overlap", Value: "0"}, {Key: "unit", Value: "token"}}

// withDefaults are the strategies for which these are the defaults. One of a
// notebook may mean something else by them, so its form stays whole.
var withDefaults = []string{"fixed_size", "recursive", "sentence", "paragraph", "markdown", "page", "sentence_window", "parent"}

// display is a strategy as tables, charts and headings show it: without the
// settings that are at their defaults. Two strategies are never shown alike.
func display(strategy string) string {
	e, err := evalkit.ParseExpr(strategy)
	if err != nil || !slices.Contains(withDefaults, e.Name) {
		return strategy
	}
	e.Args = slices.DeleteFunc(e.Args, func(a evalkit.Arg) bool { return slices.Contains(defaults, a) })
	return e.String()
}
