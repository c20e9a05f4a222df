package report

import (
	"html/template"

	"github.com/chunkeval/chunkeval/evalkit/chart"
	"github.com/chunkeval/chunkeval/evalkit/compare"
	"github.com/chunkeval/chunkeval/evalkit/experiment"
)

// Style is the style sheet that pieces of a page need, where they stand in
// another document such as a notebook. chart.Inline and chart.Script draw their
// charts.
func Style() string { return chart.Style() + styleSheet }

// Experiment returns an Experiment as a piece of a page: its warnings, a table
// of its strategies, and its charts.
func Experiment(src experiment.Source, o compare.Options) (template.HTML, error) {
	x, err := newEntry(src)
	if err != nil {
		return "", err
	}
	if _, err := x.load(o); err != nil {
		return "", err
	}
	v := experimentView{Entry: x, Table: newStrategyTable(x, compare.Headline())}
	if v.Charts, err = experimentCharts(x); err != nil {
		return "", err
	}
	return render("piece", v)
}

// QuestionOf returns what strategy i of an Experiment stored for the query at
// place q of its data set.
func QuestionOf(src experiment.Source, i, q int) (Question, error) {
	x, err := newEntry(src)
	if err != nil {
		return Question{}, err
	}
	o, err := x.open(i)
	if err != nil {
		return Question{}, err
	}
	return o.question(q), nil
}
