package notebook

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/compare"
)

// armOf loads one strategy of an Experiment with its values of a measure.
func armOf(x any, strategy string, m compare.Measure) (*compare.Arm, error) {
	in, err := inputs([]any{x})
	if err != nil {
		return nil, err
	}
	loaded, err := compare.Load(in[0], compare.Options{Measures: []compare.Measure{m}})
	if err != nil {
		return nil, err
	}
	r, err := in[0].Source.Overview()
	if err != nil {
		return nil, err
	}
	i, err := strategyAt(r, strategy)
	if err != nil {
		return nil, err
	}
	if !loaded.Arms[i].Has(m) {
		return nil, fmt.Errorf("%s was not measured in %q", m, r.Record.Spec.Name)
	}
	return loaded.Arms[i], nil
}

// questionsTemplate is a table of questions.
var questionsTemplate = template.Must(template.New("questions").Parse(`<p class="muted">{{.Head}}</p>
<div class="scroll"><table><thead><tr><th>id</th><th>question</th>{{range .Columns}}<th class="num">{{.}}</th>{{end}}</tr></thead><tbody>
{{range .Rows}}<tr><td>{{.ID}}</td><td>{{.Text}}</td>{{range .Values}}<td class="num">{{printf "%.3f" .}}</td>{{end}}</tr>
{{end}}</tbody></table></div>`))

type questionTable struct {
	Head    string
	Columns []string
	Rows    []questionRow
}

type questionRow struct {
	ID     evalkit.QueryID
	Text   string
	Values []float64
}

func (t questionTable) ids() []evalkit.QueryID {
	var ids []evalkit.QueryID
	for _, row := range t.Rows {
		ids = append(ids, row.ID)
	}
	return ids
}

// Lowest shows the n questions that a strategy scored lowest on, by a measure such
// as recall of the expanded view; equal ones are in the order of the data set. It
// returns their ids.
func Lowest(x any, strategy string, m compare.Measure, n int) []evalkit.QueryID {
	t := Must(lowest(x, strategy, m, n))
	HTML(Must(render(questionsTemplate, t)))
	return t.ids()
}

func lowest(x any, strategy string, m compare.Measure, n int) (t questionTable, err error) {
	arm, err := armOf(x, strategy, m)
	if err != nil {
		return t, err
	}
	t.Columns = []string{m.String()}
	for j, q := range arm.Queries {
		if v, ok := arm.Value(m, j); ok {
			t.Rows = append(t.Rows, questionRow{q.ID, q.Text, []float64{v}})
		}
	}
	all := len(t.Rows)
	slices.SortStableFunc(t.Rows, func(a, b questionRow) int { return cmp.Compare(a.Values[0], b.Values[0]) })
	t.Rows = t.Rows[:min(n, all)]
	t.Head = fmt.Sprintf("%s: of %d questions with a value, the %d with the lowest %s", arm.Strategy, all, len(t.Rows), m)
	return t, nil
}

// Moved shows the n questions whose value differs most between two Experiments,
// for one strategy, the largest difference first. It returns their ids.
func Moved(base, other any, strategy string, m compare.Measure, n int) []evalkit.QueryID {
	t := Must(moved(base, other, strategy, m, n))
	HTML(Must(render(questionsTemplate, t)))
	return t.ids()
}

func moved(base, other any, strategy string, m compare.Measure, n int) (t questionTable, err error) {
	a, err := armOf(base, strategy, m)
	if err != nil {
		return t, err
	}
	b, err := armOf(other, strategy, m)
	if err != nil {
		return t, err
	}
	all := compare.Moved(a, b, m, len(a.Queries))
	up := 0
	for _, move := range all {
		if move.Delta > 0 {
			up++
		}
	}
	t.Head = fmt.Sprintf("%s of %s, %s against %s: %d questions higher, %d lower", m, a.Strategy, b.Experiment, a.Experiment, up, len(all)-up)
	t.Columns = []string{a.Experiment, b.Experiment, "change"}
	for _, move := range all[:min(n, len(all))] {
		before, _ := a.Value(m, move.Base)
		after, _ := b.Value(m, move.Arm)
		t.Rows = append(t.Rows, questionRow{move.Query, a.Queries[move.Base].Text, []float64{before, after, move.Delta}})
	}
	return t, nil
}
