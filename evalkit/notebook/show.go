package notebook

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/compare"
	"github.com/chunkeval/chunkeval/evalkit/expand"
	"github.com/chunkeval/chunkeval/evalkit/report"
)

// Show shows Experiments: warnings, a table of the strategies, and charts.
func Show(experiments ...any) {
	for _, x := range experiments {
		HTML(Must(experimentHTML(x)))
	}
}

func experimentHTML(x any) (template.HTML, error) {
	in, err := inputs([]any{x})
	if err != nil {
		return "", err
	}
	return report.Experiment(in[0].Source, compare.Options{})
}

// Compare shows Experiments side by side, paired by question: badges, warnings,
// charts, and differences from the first one with their intervals. One Experiment
// compares its strategies with its first.
func Compare(experiments ...any) { HTML(Must(compareHTML(experiments))) }

func compareHTML(xs []any) (template.HTML, error) {
	study, err := studyOf(xs)
	if err != nil {
		return "", err
	}
	return study.Fragment()
}

// Query shows what a question retrieved: the expansion tree, and the flat list
// that an LLM would see. Gold is highlighted in both.
func Query(r *expand.Response, gold ...report.Gold) { HTML(Must(queryHTML(r, gold))) }

func queryHTML(r *expand.Response, gold []report.Gold) (template.HTML, error) {
	return report.Question{Response: r, Gold: gold}.Fragment()
}

// Question shows what a strategy of an Experiment retrieved for one of its
// questions, with the metrics of that question.
func Question(x any, strategy string, id evalkit.QueryID) {
	HTML(Must(questionHTML(x, strategy, id)))
}

func questionHTML(x any, strategy string, id evalkit.QueryID) (template.HTML, error) {
	src, err := sourceOf(x)
	if err != nil {
		return "", err
	}
	r, err := src.Overview()
	if err != nil {
		return "", err
	}
	i, err := strategyAt(r, strategy)
	if err != nil {
		return "", err
	}
	ds, err := src.Dataset()
	if err != nil {
		return "", err
	}
	q := slices.IndexFunc(ds.Queries, func(q evalkit.Query) bool { return q.ID == id })
	if q < 0 {
		return "", fmt.Errorf("no question %q in %q", id, ds.Name)
	}
	question, err := report.QuestionOf(src, i, q)
	if err != nil {
		return "", err
	}
	return question.Fragment()
}

// lowTemplate is a table of questions.
var lowTemplate = template.Must(template.New("questions").Parse(`<p class="muted">{{.N}} questions of {{.All}} with a value, the lowest {{.Measure}} first, of <code>{{.Strategy}}</code></p>
<div class="scroll"><table><thead><tr><th>id</th><th>question</th><th class="num">{{.Measure}}</th></tr></thead><tbody>
{{range .Rows}}<tr><td>{{.ID}}</td><td>{{.Text}}</td><td class="num">{{printf "%.3f" .Value}}</td></tr>
{{end}}</tbody></table></div>`))

type lowRow struct {
	evalkit.Query
	Value float64
}

// Lowest shows the n questions that a strategy scored lowest on, by a measure such
// as recall of the expanded view; equal ones are in the order of the data set. It
// returns their ids.
func Lowest(x any, strategy string, m compare.Measure, n int) []evalkit.QueryID {
	html, ids, err := lowestHTML(x, strategy, m, n)
	Check(err)
	HTML(html)
	return ids
}

func lowestHTML(x any, strategy string, m compare.Measure, n int) (template.HTML, []evalkit.QueryID, error) {
	src, err := sourceOf(x)
	if err != nil {
		return "", nil, err
	}
	loaded, err := compare.Load(compare.Input{Source: src}, compare.Options{Measures: []compare.Measure{m}})
	if err != nil {
		return "", nil, err
	}
	r, err := src.Overview()
	if err != nil {
		return "", nil, err
	}
	i, err := strategyAt(r, strategy)
	if err != nil {
		return "", nil, err
	}
	arm := loaded.Arms[i]
	if !arm.Has(m) {
		return "", nil, fmt.Errorf("%s was not measured", m)
	}
	var rows []lowRow
	for j, q := range arm.Queries {
		if v, ok := arm.Value(m, j); ok {
			rows = append(rows, lowRow{q, v})
		}
	}
	all := len(rows)
	slices.SortStableFunc(rows, func(a, b lowRow) int { return cmp.Compare(a.Value, b.Value) })
	rows = rows[:min(n, all)]
	var ids []evalkit.QueryID
	for _, row := range rows {
		ids = append(ids, row.ID)
	}
	html, err := render(lowTemplate, map[string]any{"Rows": rows, "N": len(rows), "All": all, "Measure": m.String(), "Strategy": arm.Strategy})
	return html, ids, err
}
