package notebook

import (
	"fmt"
	"html/template"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/chart"
	"github.com/chunkeval/chunkeval/evalkit/compare"
)

// lookAt opens one strategy of an Experiment with its chunks and candidates.
func lookAt(x any, strategy string) (*compare.Look, error) {
	src, err := sourceOf(x)
	if err != nil {
		return nil, err
	}
	r, err := src.Overview()
	if err != nil {
		return nil, err
	}
	i, err := strategyAt(r, strategy)
	if err != nil {
		return nil, err
	}
	s, err := src.Strategy(i)
	if err != nil {
		return nil, err
	}
	ds, err := src.Dataset()
	if err != nil {
		return nil, err
	}
	return compare.NewLook(r.Record, s, ds)
}

// Windows shows what windows of Neighbor Expansion bring at equal cost, for one
// strategy: recall against context tokens as more hits are sent, and recall at
// each budget of tokens. Hits do not depend on the window, so one Experiment is
// enough. Strategies other than fixed_size have a window of 0/0 only.
func Windows(x any, strategy string, budgets []int, windows ...evalkit.Window) {
	HTML(Must(windowsHTML(x, strategy, budgets, windows)))
}

// budgetTable is recall per window and budget.
var budgetTable = template.Must(template.New("budgets").Parse(`<div class="scroll"><table><thead><tr><th>window</th>{{range .Budgets}}<th class="num">{{.}} tokens</th>{{end}}</tr></thead><tbody>
{{range .Rows}}<tr><td><span class="badge">{{.Window}}</span></td>{{range .Recall}}<td class="num">{{printf "%.3f" .}}</td>{{end}}</tr>
{{end}}</tbody></table></div><p class="muted small">Recall of what is sent, when every question is sent as many whole hits with their neighbors as fit.</p>`))

type budgetRow struct {
	Window string
	Recall []float64
}

func windowsHTML(x any, strategy string, budgets []int, windows []evalkit.Window) (template.HTML, error) {
	l, err := lookAt(x, strategy)
	if err != nil {
		return "", err
	}
	t := chart.CurveTable{
		Title: "Windows at equal tokens: " + l.Strategy, XAxis: "mean context tokens", YAxis: "recall of what is sent", SeriesHead: "window",
		Note: "Each point sends one hit more, with its neighbors. The higher of two curves at the same number of tokens is the better window.",
	}
	var rows []budgetRow
	for _, w := range windows {
		c := l.Curve(w, compare.Options{})
		s := chart.CurveSeries{Name: w.String()}
		for _, p := range c.Points {
			s.Points = append(s.Points, chart.CurvePoint{X: p.Tokens, Y: &p.Recall, Label: fmt.Sprintf("k=%d %s", p.Depth, w)})
		}
		t.Series = append(t.Series, s)
		row := budgetRow{Window: w.String()}
		for _, b := range budgets {
			row.Recall = append(row.Recall, c.AtBudget(b, compare.Options{}).Recall)
		}
		rows = append(rows, row)
	}
	drawn, err := chart.Curve(t)
	if err != nil {
		return "", err
	}
	table, err := render(budgetTable, map[string]any{"Budgets": budgets, "Rows": rows})
	return chart.HTML(drawn) + table, err
}

// Placebo sets the neighbors of an expanded strategy beside as many random chunks
// of the same documents.
func Placebo(x any, strategy string) { HTML(Must(placeboHTML(x, strategy))) }

func placeboHTML(x any, strategy string) (template.HTML, error) {
	l, err := lookAt(x, strategy)
	if err != nil {
		return "", err
	}
	p := l.Placebo(compare.Options{})
	if p == nil {
		return "", fmt.Errorf("%s: no neighbor was added to any question", l.Strategy)
	}
	bar := func(v float64) []chart.Value { return []chart.Value{{Value: &v}} }
	note := fmt.Sprintf("%.0f context tokens with the neighbors, %.0f with random chunks.", p.RealTokens, p.RandomTokens)
	if i := p.Delta.Interval(); i != nil {
		note = fmt.Sprintf("Neighbors minus random: %+.3f [%.3f, %.3f]. ", p.Delta.Mean, i.Lo, i.Hi) + note
	}
	c, err := chart.Bars(chart.BarTable{
		Title: "Neighbors against random chunks: " + l.Strategy + " " + l.Window.String(), Note: note, Axis: "recall of what is sent",
		GroupHead: "what is sent", Groups: []string{"recall"}, SeriesHead: "context",
		Series: []chart.BarSeries{
			{Name: "hits alone", Values: bar(p.HitOnly)},
			{Name: "hits and neighbors", Values: bar(p.Real)},
			{Name: "hits and random chunks of the same documents", Values: bar(p.Random)},
		},
	})
	if err != nil {
		return "", err
	}
	return chart.HTML(c), nil
}
