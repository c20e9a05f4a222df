package compare

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/experiment"
)

// An Axis is a setting in which Experiments can differ, with its value.
type Axis struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// The axes that always warn when they differ.
const (
	AxisNeighbors = "Neighbor Expansion"
	AxisEmbedder  = "Embedding Model"
)

// AxisGold is the digest of the gold of the questions that all columns have.
const AxisGold = "gold"

// AxisData is the digest of documents and questions.
const AxisData = "data set fingerprint"

// axes returns what rec was run with, in a fixed order. Values are equal where
// the component was. The gold is left for builder.gold.
func axes(rec experiment.Record) []Axis {
	retriever, fusion := splitRetriever(rec.Spec.Retriever)
	spec := rec.Spec
	all := []Axis{
		{AxisData, short(rec.Dataset.Fingerprint)},
		{AxisGold, ""},
		{"tokenizer", spec.Tokenizer},
		{AxisEmbedder, withDigest(spec.Embedder, rec.Components["embedder"])},
		{"retriever", retriever},
		{"fusion", fusion},
		{"analyzer", spec.Analyzer},
		{"top_k", fmt.Sprint(spec.TopK)},
		{AxisNeighbors, spec.Window().String()},
		{"seed", fmt.Sprint(spec.Seed)},
	}
	for i := range all {
		all[i].Value = cmp.Or(all[i].Value, "none")
	}
	return all
}

// splitRetriever parts a retriever into what is an axis of its own and the
// rest; the analyzer in it is the Spec's.
func splitRetriever(s string) (retriever, fusion string) {
	e, err := evalkit.ParseExpr(s)
	if err != nil {
		return s, ""
	}
	var rest []evalkit.Arg
	for _, a := range e.Args {
		switch a.Key {
		case "fusion":
			fusion = a.Value
		case "analyzer":
		case "lexical":
			lexical, _ := splitRetriever(a.Value)
			rest = append(rest, evalkit.Arg{Key: a.Key, Value: lexical})
		default:
			rest = append(rest, a)
		}
	}
	e.Args = rest
	return e.String(), fusion
}

func withDigest(name, digest string) string {
	if name == "" || digest == "" || digest == name {
		return name
	}
	return name + " " + short(digest)
}

func short(digest string) string { return digest[:min(8, len(digest))] }

// goldDigest identifies the questions' texts and gold, whatever the documents.
func goldDigest(queries []evalkit.Query) string {
	sorted := slices.Clone(queries)
	slices.SortFunc(sorted, func(a, b evalkit.Query) int { return cmp.Compare(a.ID, b.ID) })
	b, err := json.Marshal(sorted)
	if err != nil {
		panic("compare: " + err.Error()) // only plain values are passed
	}
	sum := sha256.Sum256(b)
	return short(hex.EncodeToString(sum[:]))
}

// A Warning says why a difference may not mean what it seems to. It does not
// stop a Compare.
type Warning struct {
	Axis string `json:"axis,omitempty"` // the setting that differs, if it is about one
	Text string `json:"text"`
	// Columns: it is about settings that differ, so each Column has it too.
	Columns bool `json:"-"`
}

// differing returns the axes that differ between columns, each with its values.
func differing(columns [][]Axis) (names []string, values map[string][]string) {
	values = map[string][]string{}
	if len(columns) == 0 {
		return nil, values
	}
	for i, a := range columns[0] {
		var all []string
		for _, c := range columns {
			all = append(all, c[i].Value)
		}
		if distinct := slices.Compact(slices.Sorted(slices.Values(all))); len(distinct) > 1 {
			names = append(names, a.Name)
			values[a.Name] = all
		}
	}
	return names, values
}

// axisWarnings returns the soft warnings of columns that differ. Neighbor
// Expansion and Embedding Model always warn; others as soon as there is more
// than one of them, for then no cause can be told from another. also names what
// else differs.
func axisWarnings(columns [][]Axis, also ...string) []Warning {
	names, values := differing(columns)
	var out []Warning
	for _, name := range names {
		if name != AxisNeighbors && name != AxisEmbedder && name != AxisData && name != AxisGold {
			continue
		}
		out = append(out, Warning{Axis: name, Columns: true, Text: fmt.Sprintf("Experiments differ in %s: %s", name, strings.Join(values[name], " against "))})
	}
	if names = append(also, names...); len(names) > 1 {
		out = append(out, Warning{Columns: true, Text: fmt.Sprintf("differs in %s: the gain cannot be put down to one cause", and(names))})
	}
	return out
}

// and joins names for a sentence.
func and(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// Changes says in what b was run otherwise than a, the run before it; nothing if
// there was none. Gold is compared over the questions that both have.
func Changes(a, b *Loaded) []string {
	if a == nil {
		return nil
	}
	x := &builder{c: &Comparison{Columns: []Column{a.Column, b.Column}}, arms: [][]*Arm{a.Arms, b.Arms}}
	x.gold()
	names, values := differing([][]Axis{x.c.Columns[0].Axes, x.c.Columns[1].Axes})
	var out []string
	for _, n := range names {
		out = append(out, fmt.Sprintf("%s %s → %s", n, values[n][0], values[n][1]))
	}
	return out
}

// Describe returns the mean of one arm with its interval.
func Describe(a *Arm, m Measure, o Options) Cell {
	var c Cell
	fill(&c, a, m, o.withDefaults())
	return c
}
