package notebook

import (
	"cmp"
	"fmt"

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

// strategyAt returns the place of a strategy in an Experiment. Its name alone is
// enough where only one strategy has it.
func strategyAt(r *experiment.Result, name string) (int, error) {
	at, same := -1, 0
	for i, s := range r.Strategies {
		if s.Strategy == name {
			return i, nil
		}
		if e, err := evalkit.ParseExpr(s.Strategy); err == nil && e.Name == name {
			at, same = i, same+1
		}
	}
	if same == 1 {
		return at, nil
	}
	var known []string
	for _, s := range r.Strategies {
		known = append(known, s.Strategy)
	}
	if same > 1 {
		return 0, fmt.Errorf("strategy %q: %d strategies have this name; write one of %q", name, same, known)
	}
	return 0, fmt.Errorf("no strategy %q in %q; it has %q", name, r.Record.Spec.Name, known)
}
