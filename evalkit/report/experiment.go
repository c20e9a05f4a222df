package report

import (
	"fmt"
	"slices"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/chart"
	"github.com/chunkeval/chunkeval/evalkit/compare"
)

// experimentView is the detail of one Experiment.
type experimentView struct {
	*Entry
	Table  strategyTable
	Charts []*chart.Chart
	Sheet  sheetView // its strategies, compared
	Family compare.Family
}

func newExperiment(x *Entry, l *compare.Loaded, o compare.Options) (experimentView, error) {
	v := experimentView{Entry: x, Table: newStrategyTable(x, compare.Headline())}
	c, err := compare.New([]*compare.Loaded{l}, o)
	if err != nil {
		return v, err
	}
	whole, err := newCompare(c, []*Entry{x})
	if err != nil {
		return v, err
	}
	v.Sheet, v.Family = whole.Sheets[0], c.Family
	v.Charts, err = experimentCharts(x)
	return v, err
}

func curvesOfOne(all []*Entry) (*chart.Chart, error) { return curveChart(all, drawnCurve{}) }

func experimentCharts(x *Entry) ([]*chart.Chart, error) {
	var out []*chart.Chart
	for _, make := range []func([]*Entry) (*chart.Chart, error){curvesOfOne, attributionChart, waterfallChart} {
		c, err := make([]*Entry{x})
		if err != nil {
			return nil, err
		}
		if c != nil {
			out = append(out, c)
		}
	}
	return out, nil
}

// label names an arm in a chart: the strategy, and the window where it expands.
func label(strategy string, w evalkit.Window) string {
	name := display(strategy)
	if w != (evalkit.Window{}) {
		name += " " + w.String()
	}
	return name
}

// labelIn is label with the Experiment, where there are several of them.
func labelIn(all []*Entry, x *Entry, strategy string, w evalkit.Window) string {
	name := label(strategy, w)
	if len(all) == 1 {
		return name
	}
	name += " · " + x.Spec.Name
	for _, y := range all {
		if y != x && y.Spec.Name == x.Spec.Name {
			return name + " · " + x.ID
		}
	}
	return name
}

// Retriever names the retriever with its model, if it uses one.
func (x *Entry) Retriever() string {
	name := nameOf(x.Spec.Retriever)
	if x.Spec.Embedder != "" && name != "bm25" {
		name += " over " + x.Spec.Embedder
	}
	return name
}

// attributionChart parts the recall of expanded strategies by distance; nil if
// nothing was expanded.
func attributionChart(all []*Entry) (*chart.Chart, error) {
	t := chart.StackTable{
		Title: "Where the recall comes from", Axis: "recall", RowHead: "strategy",
		Note: "Gold text that a hit covers counts for the hits; the rest for the nearest neighbor.",
	}
	var expanded []*Look
	prev, next := 0, 0
	for _, x := range all {
		for _, l := range x.Looks {
			if l.Window != (evalkit.Window{}) && l.Err == nil {
				expanded = append(expanded, l)
				t.Rows = append(t.Rows, chart.StackRow{Name: labelIn(all, x, l.Strategy, l.Window)})
				prev, next = max(prev, l.Window.Prev), max(next, l.Window.Next)
			}
		}
	}
	if len(expanded) == 0 {
		return nil, nil
	}
	at := map[int]int{}
	for _, d := range distances(prev, next) {
		at[d] = len(t.Parts)
		t.Parts = append(t.Parts, partName(d))
	}
	for i, l := range expanded {
		t.Rows[i].Values = make([]*float64, len(t.Parts))
		for _, share := range l.Attribution {
			t.Rows[i].Values[at[share.Distance]] = &share.Recall
		}
	}
	return chart.Stack(t)
}

// distances returns 0, then the previous and the next ones by distance.
func distances(prev, next int) []int {
	out := []int{0}
	for d := 1; d <= max(prev, next); d++ {
		if d <= prev {
			out = append(out, -d)
		}
		if d <= next {
			out = append(out, d)
		}
	}
	return out
}

func partName(distance int) string {
	switch {
	case distance < 0:
		return fmt.Sprintf("previous %d", -distance)
	case distance > 0:
		return fmt.Sprintf("next %d", distance)
	}
	return "hits"
}

func waterfallChart(all []*Entry) (*chart.Chart, error) {
	t := chart.WaterfallTable{
		Title: "Where recall is lost", Axis: "recall", SeriesHead: "strategy",
		Note:   "From what the chunking allows, over what the retriever found, to what a perfect order of it and the real order send.",
		Levels: []string{"chunking allows", "retriever found", "perfect order", "hits"},
	}
	retrievers, ks, seen := map[string]bool{}, map[int]bool{}, map[string]bool{}
	for _, x := range all {
		retrievers[x.Retriever()], ks[x.Spec.TopK] = true, true
	}
	for _, x := range all {
		for _, l := range x.Looks {
			name := display(l.Strategy)
			if len(retrievers) > 1 {
				name += " · " + x.Retriever()
			}
			if len(ks) > 1 {
				name += fmt.Sprintf(" · top_k %d", x.Spec.TopK)
			}
			if w := l.Waterfall; l.Err == nil && !seen[name] { // hits do not depend on the window
				seen[name] = true
				t.Series = append(t.Series, chart.WaterfallSeries{Name: name, Values: pointers(w.Segmentation, w.Candidates, w.Oracle, w.Actual)})
			}
		}
	}
	if len(t.Series) == 0 {
		return nil, nil
	}
	return chart.Waterfall(t)
}

func pointers(values ...float64) []*float64 {
	out := make([]*float64, len(values))
	for i := range values {
		out[i] = &values[i]
	}
	return out
}

// scoresData is what the script of an Experiment's questions reads.
type scoresData struct {
	ID         string           `json:"id"`
	Strategies []scoredStrategy `json:"strategies"`
	Measures   []string         `json:"measures"`
	Higher     []bool           `json:"higher"`
	Queries    [][2]string      `json:"queries"` // id, text
	Kinds      []string         `json:"kinds"`   // "", "unanswerable" or "no gold"
	PerPage    int              `json:"per_page"`
}

type scoredStrategy struct {
	Name   string       `json:"name"`
	Label  string       `json:"label"` // as it is shown
	Badge  string       `json:"badge"`
	Values [][]*float64 `json:"values"` // per measure and query; null: no value
	Failed []int        `json:"failed"` // queries, by place
}

// perPage is the number of questions in one file of fragments.
const perPage = 25

func newScores(x *Entry, l *compare.Loaded) scoresData {
	d := scoresData{ID: x.ID, PerPage: perPage}
	measures := costFirst(compare.Headline())
	for _, m := range compare.OfAnswers() {
		if slices.ContainsFunc(l.Arms, func(a *compare.Arm) bool { return a.Has(m) }) {
			measures = append(measures, m)
		}
	}
	for _, m := range measures {
		d.Measures, d.Higher = append(d.Measures, m.String()), append(d.Higher, compare.InfoOf(m.Metric).Higher)
	}
	for i, a := range l.Arms {
		s := scoredStrategy{Name: a.Strategy, Label: display(a.Strategy), Badge: a.Window.String(), Failed: []int{}}
		for j, q := range a.Queries {
			if a.Failed[j] {
				s.Failed = append(s.Failed, j)
			}
			if i == 0 {
				d.Queries, d.Kinds = append(d.Queries, [2]string{string(q.ID), q.Text}), append(d.Kinds, kindOf(q))
			}
		}
		for _, m := range measures {
			values := make([]*float64, len(a.Queries))
			for j := range a.Queries {
				if v, ok := a.Value(m, j); ok {
					values[j] = rounded(v)
				}
			}
			s.Values = append(s.Values, values)
		}
		d.Strategies = append(d.Strategies, s)
	}
	return d
}

func kindOf(q evalkit.Query) string {
	switch {
	case q.Unanswerable:
		return "unanswerable"
	case len(q.Gold()) == 0:
		return "no gold"
	}
	return ""
}
