package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/compare"
)

// A Renamed strategy of the baseline is held against one of the candidate that has
// other settings. Settings that are left out match any.
type Renamed struct{ Baseline, Candidate string }

// ParseRenamed reads OLD=NEW, such as
// "fixed_size(size=200)=fixed_size(size=120)".
func ParseRenamed(s string) (Renamed, error) {
	depth := 0
	for i, r := range s {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		case '=':
			if depth == 0 {
				return Renamed{s[:i], s[i+1:]}, nil
			}
		}
	}
	return Renamed{}, fmt.Errorf("%q: want OLD=NEW, such as fixed_size(size=200)=fixed_size(size=120)", s)
}

// pair gives strategies of the baseline the names of those of the candidate that
// took their place: the renamed ones, and then, where one of a kind is left on each
// side, that one. It returns a note for each of the latter.
func pair(loaded []*compare.Loaded, renamed []Renamed) (notes []string, err error) {
	base := *loaded[0]
	base.Arms = slices.Clone(base.Arms)
	rename := func(i int, to string) {
		arm := *base.Arms[i]
		arm.Strategy = to
		base.Arms[i] = &arm
	}
	for _, r := range renamed {
		i, err := only(&base, r.Baseline)
		if err != nil {
			return nil, err
		}
		j, err := only(loaded[1], r.Candidate)
		if err != nil {
			return nil, err
		}
		rename(i, loaded[1].Arms[j].Strategy)
	}
	gone, came := missing(&base, loaded[1]), missing(loaded[1], &base)
	for kind, i := range gone {
		if j, ok := came[kind]; ok && i >= 0 && j >= 0 {
			to := loaded[1].Arms[j].Strategy
			notes = append(notes, fmt.Sprintf("%s of the baseline is held against %s: no other %s is left", base.Arms[i].Strategy, to, kind))
			rename(i, to)
		}
	}
	slices.Sort(notes)
	loaded[0] = &base
	return notes, nil
}

// missing returns the arms of a that b does not have, by the name before the
// settings; −1 where there are several of that name.
func missing(a, b *compare.Loaded) map[string]int {
	out := map[string]int{}
	for i, x := range a.Arms {
		if slices.ContainsFunc(b.Arms, func(y *compare.Arm) bool { return y.Strategy == x.Strategy }) {
			continue
		}
		kind, _, _ := strings.Cut(x.Strategy, "(")
		if _, ok := out[kind]; ok {
			out[kind] = -1
		} else {
			out[kind] = i
		}
	}
	return out
}

// only returns the one arm of l that s selects.
func only(l *compare.Loaded, s string) (int, error) {
	e, err := evalkit.ParseExpr(s)
	if err != nil {
		return 0, fmt.Errorf("strategy %q: %w", s, err)
	}
	var found []int
	for i, a := range l.Arms {
		if selects(e, a.Strategy) {
			found = append(found, i)
		}
	}
	if len(found) != 1 {
		return 0, fmt.Errorf("strategy %q: %d of %s are meant, want one: it has %s", s, len(found), l.Column.ID, strategiesOf(l))
	}
	return found[0], nil
}
