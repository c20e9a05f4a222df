package notebook

import (
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
	for _, x := range flat(experiments) {
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

// Recommend shows which setting of the Experiments to ship, and how sure that is.
func Recommend(experiments ...any) { HTML(Must(recommendHTML(experiments))) }

func recommendHTML(xs []any) (template.HTML, error) {
	study, err := studyOf(xs)
	if err != nil {
		return "", err
	}
	return study.Recommended()
}
