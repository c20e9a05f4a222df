package report

import (
	"github.com/chunkeval/chunkeval/evalkit/compare"
	"github.com/chunkeval/chunkeval/evalkit/experiment"
)

// answerTable sums up what was answered.
type answerTable struct {
	Heads  []answerHead
	Kappas []string
	Rows   []answerRow
}

type answerHead struct{ Name, Doc string }

type answerRow struct {
	Strategy string
	*experiment.AnswerSummary
}

// AnswerTable returns a row per strategy; nil if nothing was answered.
func (x *Entry) AnswerTable() *answerTable {
	var t *answerTable
	for _, e := range x.Effective {
		if e.Answers == nil {
			continue
		}
		if t == nil {
			t = &answerTable{}
			for _, m := range e.Answers.Means {
				t.Heads = append(t.Heads, answerHead{m.Metric, compare.InfoOf(m.Metric).Doc})
			}
			for _, a := range e.Answers.Agreement {
				t.Kappas = append(t.Kappas, a.Metric)
			}
		}
		t.Rows = append(t.Rows, answerRow{e.Strategy, e.Answers})
	}
	return t
}
