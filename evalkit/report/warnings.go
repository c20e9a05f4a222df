package report

import (
	"slices"
	"strings"
)

// FoldedWarnings returns the warnings of the run; those that say the same of
// several strategies are one, which names them all.
func (x *Entry) FoldedWarnings() []string {
	var texts []string // in the order of the first
	of := map[string][]string{}
	for _, w := range x.Warnings {
		strategy, text := "", w
		for _, e := range x.Effective {
			if rest, ok := strings.CutPrefix(w, e.Strategy+": "); ok {
				strategy, text = e.Strategy, rest
				break
			}
		}
		if of[text] == nil {
			texts = append(texts, text)
			of[text] = []string{}
		}
		if name := display(strategy); strategy != "" && !slices.Contains(of[text], name) {
			of[text] = append(of[text], name)
		}
	}
	out := []string{}
	for _, text := range texts {
		if names := of[text]; len(names) > 0 {
			text = strings.Join(names, ", ") + ": " + text
		}
		out = append(out, text)
	}
	return out
}
