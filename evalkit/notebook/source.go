package notebook

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/compare"
	"github.com/chunkeval/chunkeval/evalkit/experiment"
)

// sourceOf returns the Experiment that x is.
func sourceOf(x any) (experiment.Source, error) {
	switch x := x.(type) {
	case *experiment.Result:
		return x.Source(), nil
	case experiment.Source:
		return x, nil
	}
	return nil, fmt.Errorf("%T is no Experiment: give an *experiment.Result or an experiment.Source", x)
}

// inputs returns Experiments as package compare takes them, each under an id of
// its own: that of the store, or the name with the setting.
func inputs(xs []any) ([]compare.Input, error) {
	xs = flat(xs)
	out := make([]compare.Input, len(xs))
	seen := map[string]int{}
	for i, x := range xs {
		src, err := sourceOf(x)
		if err != nil {
			return nil, err
		}
		r, err := src.Overview()
		if err != nil {
			return nil, err
		}
		id := cmp.Or(r.Record.ID, fmt.Sprintf("%s %s", r.Record.Spec.Name, r.Record.Spec.Window()))
		if seen[id]++; seen[id] > 1 {
			id = fmt.Sprintf("%s (%d)", id, seen[id])
		}
		out[i] = compare.Input{ID: id, Source: named{src, id}}
	}
	return out, nil
}

// flat puts the Experiments of a run, which come as a slice, in its place.
func flat(xs []any) []any {
	var out []any
	for _, x := range xs {
		run, ok := x.([]*experiment.Result)
		if !ok {
			out = append(out, x)
		}
		for _, r := range run {
			out = append(out, r)
		}
	}
	return out
}

// named is an Experiment under an id.
type named struct {
	experiment.Source
	id string
}

func (n named) Overview() (*experiment.Result, error) {
	r, err := n.Source.Overview()
	if err != nil {
		return nil, err
	}
	copied := *r
	copied.Record.ID = n.id
	return &copied, nil
}

// strategyAt returns the place of a strategy in an Experiment: by its whole string,
// or by a name and as many settings as only one strategy has, such as "markdown" or
// "fixed_size(size=100)".
func strategyAt(r *experiment.Result, wanted string) (int, error) {
	var fit, known []string
	at := 0
	for i, s := range r.Strategies {
		if s.Strategy == wanted {
			return i, nil
		}
		known = append(known, s.Strategy)
		if fits(s.Strategy, wanted) {
			at, fit = i, append(fit, s.Strategy)
		}
	}
	switch len(fit) {
	case 1:
		return at, nil
	case 0:
		return 0, fmt.Errorf("no strategy %q in %q; it has %q", wanted, r.Record.Spec.Name, known)
	}
	return 0, fmt.Errorf("strategy %q: it may be any of %q", wanted, fit)
}

// fits reports whether a strategy has the name and all the settings of wanted.
func fits(strategy, wanted string) bool {
	s, err := evalkit.ParseExpr(strategy)
	if err != nil {
		return false
	}
	w, err := evalkit.ParseExpr(wanted)
	return err == nil && s.Name == w.Name && !slices.ContainsFunc(w.Args, func(a evalkit.Arg) bool { return !slices.Contains(s.Args, a) })
}
