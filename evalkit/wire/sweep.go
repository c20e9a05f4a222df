package wire

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/experiment"
)

// draft is the values of one Experiment before they are resolved.
type draft struct {
	config *Config
	values map[string]Value
	varied []string // "top_k=5", of the sweep
}

// choice is one value of an axis.
type choice struct {
	key   string
	value Value
}

// unfold returns the product of the axes that are (or are not) settings of one
// index, the first axis varying slowest.
func unfold(axes []Axis, settings bool) [][]choice {
	out := [][]choice{nil}
	for _, a := range axes {
		if (a.Key == "top_k" || a.Key == "window") != settings {
			continue
		}
		var next [][]choice
		for _, prefix := range out {
			for _, v := range a.Values {
				next = append(next, append(slices.Clone(prefix), choice{a.Key, v}))
			}
		}
		out = next
	}
	return out
}

func override(base map[string]Value, choices []choice) map[string]Value {
	out := make(map[string]Value, len(base)+len(choices))
	maps.Copy(out, base)
	for _, c := range choices {
		out[c.key] = c.value
	}
	return out
}

func describe(choices []choice) []string {
	var out []string
	for _, c := range choices {
		out = append(out, c.key+"="+c.value.Text)
	}
	return out
}

// refuseBeside refuses a key that stands beside a sweep of it, which would
// replace it without a word.
func (c *Config) refuseBeside() error {
	for _, a := range c.Sweep {
		keys := []string{a.Key}
		if a.Key == "window" {
			keys = []string{"neighbor_prev", "neighbor_next"}
		}
		for _, key := range keys {
			if v, ok := c.Scalar[key]; ok {
				return v.At(fmt.Errorf("%q stands beside sweep.%s of line %d, which would replace it: keep one of them", v.Text, a.Key, a.Values[0].Line))
			}
		}
	}
	return nil
}

// seen are the choices that led to a value so far.
type seen[K comparable] map[K][]choice

// add returns an error at the choice that leads to the same as one before it.
func (s seen[K]) add(k K, choices []choice) error {
	before, ok := s[k]
	if !ok {
		s[k] = choices
		return nil
	}
	at := slices.IndexFunc(choices, func(c choice) bool {
		return !slices.ContainsFunc(before, func(b choice) bool { return b.value.Path == c.value.Path })
	})
	at = max(at, 0) // values that no file holds have no place
	v, same := choices[at].value, before[at].value
	if v.Text == same.Text {
		return v.At(fmt.Errorf("%s %q: listed twice", choices[at].key, v.Text))
	}
	return v.At(fmt.Errorf("%s %q: listed twice: it is the same as %q", choices[at].key, v.Text, same.Text))
}

// identity is equal for groups of equal components. It holds the embedder
// whether or not it is used.
func (g *Group) identity() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%+v\n%s\n", g.Specs[0], g.Embedder)
	for _, role := range sortedKeys(g.Components) {
		fmt.Fprintf(&b, "%s=%s\n", role, g.Components[role])
	}
	return b.String()
}

func (d draft) text(key, def string) string {
	if v, ok := d.values[key]; ok {
		return v.Text
	}
	return def
}

// number reads a whole number of at least lo.
func (d draft) number(key string, def, lo int) (int, error) {
	v, ok := d.values[key]
	if !ok {
		return def, nil
	}
	n, err := strconv.Atoi(v.Text)
	if err != nil || n < lo {
		return 0, v.At(fmt.Errorf("%q is not a whole number of at least %d", v.Text, lo))
	}
	return n, nil
}

func (g *Group) addSetting(d draft) error {
	k, err := d.number("top_k", DefaultTopK, 1)
	if err != nil {
		return err
	}
	prev, err := d.number("neighbor_prev", 0, 0)
	if err != nil {
		return err
	}
	next, err := d.number("neighbor_next", 0, 0)
	if err != nil {
		return err
	}
	candidates, err := d.number("candidates", DefaultCandidates, 1)
	if err != nil {
		return err
	}
	candidates = max(candidates, k)
	w := evalkit.Window{Prev: prev, Next: next}
	if v, ok := d.values["window"]; ok {
		if w, err = ParseWindow(v.Text); err != nil {
			return v.At(err)
		}
	}
	s := g.Specs[0] // the one that group made for all
	s.TopK, s.NeighborPrev, s.NeighborNext, s.Candidates = k, w.Prev, w.Next, candidates
	s.Name = strings.Join(append([]string{d.config.Name.Text}, d.varied...), " ")
	if len(g.Settings) == 0 {
		g.Specs = g.Specs[:0]
	}
	g.Specs = append(g.Specs, s)
	g.Settings = append(g.Settings, experiment.Setting{TopK: k, Candidates: candidates, Window: w})
	return nil
}

// ParseWindow reads "prev/next".
func ParseWindow(s string) (evalkit.Window, error) {
	prev, next, ok := strings.Cut(strings.TrimPrefix(s, "±"), "/")
	p, perr := strconv.Atoi(prev)
	n, nerr := strconv.Atoi(next)
	if !ok || perr != nil || nerr != nil || p < 0 || n < 0 {
		return evalkit.Window{}, fmt.Errorf("window %q: want neighbor_prev/neighbor_next, such as 1/1", s)
	}
	return evalkit.Window{Prev: p, Next: n}, nil
}
