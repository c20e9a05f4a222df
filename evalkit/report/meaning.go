package report

import (
	"slices"

	"github.com/chunkeval/chunkeval/evalkit/compare"
)

// A meaning says what a column or row holds.
type meaning struct{ Name, Doc string }

// meanings explains metrics, each once and in their order; those of a notebook,
// which say nothing of themselves, are left out.
func meanings(metrics []string) []meaning {
	var out []meaning
	for _, name := range metrics {
		m := meaning{name, compare.InfoOf(name).Doc}
		if m.Doc != "" && !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return out
}

// Meanings explains the metrics that x measured.
func (x *Entry) Meanings() []meaning { return meanings(x.metrics()) }

func (x *Entry) metrics() []string {
	var names []string
	for _, m := range compare.Headline() { // the tables' own, in their order
		names = append(names, m.Metric)
	}
	var measured []string
	for _, s := range x.Overview.Strategies {
		for _, row := range s.Summary {
			measured = append(measured, row.Metric)
		}
	}
	for _, e := range x.Effective {
		if e.Answers != nil {
			for _, m := range e.Answers.Means {
				measured = append(measured, m.Metric)
			}
		}
	}
	names = slices.DeleteFunc(names, func(n string) bool { return !slices.Contains(measured, n) })
	return append(names, measured...)
}

// Meanings explains the metrics that are compared.
func (v compareView) Meanings() []meaning {
	var names []string
	for _, s := range v.Sheets {
		for _, r := range s.Rows {
			names = append(names, r.Metric)
		}
	}
	return meanings(names)
}

// Meanings explains all metrics of the report.
func (v technicalView) Meanings() []meaning {
	var names []string
	for _, x := range v.Experiments {
		names = append(names, x.metrics()...)
	}
	return meanings(names)
}
