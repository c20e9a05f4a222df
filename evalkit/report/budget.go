package report

import (
	"github.com/chunkeval/chunkeval/evalkit/compare"
)

// budgets are the context tokens at which settings are held beside each other.
var budgets = [...]int{250, 500, 1000, 2000, 4000}

// budgetRow is the recall of one curve at each budget. A budget that no question
// could fill is nil: a larger one buys nothing there.
type budgetRow struct {
	Strategy string
	Badge    Badge
	Cells    []*compare.Point
}

func newBudgetRow(c *compare.Curve, o compare.Options) budgetRow {
	row := budgetRow{Strategy: c.Strategy, Badge: strategyBadge(c.Strategy, c.Window)}
	most := 0.0
	if n := len(c.Points); n > 0 {
		most = c.Points[n-1].Tokens
	}
	for i, b := range budgets {
		if i > 0 && float64(budgets[i-1]) > most {
			row.Cells = append(row.Cells, nil)
			continue
		}
		p := c.AtBudget(b, o)
		row.Cells = append(row.Cells, &p)
	}
	return row
}

// studyBudgets is a budgetRow with the retriever of its curve.
type studyBudgets struct {
	budgetRow
	Retriever string
}

// budgets returns a row for each curve of s, each once.
func (s *Study) budgets() []studyBudgets {
	var out []studyBudgets
	seen := map[string]bool{}
	for _, x := range s.Experiments {
		for _, row := range x.BudgetRows() {
			if key := label(row.Strategy, row.Badge.Window) + " " + x.Retriever(); !seen[key] {
				seen[key] = true
				out = append(out, studyBudgets{row, x.Retriever()})
			}
		}
	}
	return out
}

// Budgets returns the heads of the table.
func (technicalView) Budgets() []int { return budgets[:] }

// Budgets returns the heads of the table.
func (*Entry) Budgets() []int { return budgets[:] }

// BudgetRows returns the curves of all strategies of x.
func (x *Entry) BudgetRows() []budgetRow {
	var out []budgetRow
	for _, l := range x.Looks {
		out = append(out, l.Budgets...)
	}
	return out
}

// FailedQuestions names what failed, a line per strategy and question.
func (x *Entry) FailedQuestions() []string {
	var out []string
	for _, a := range x.loaded.Arms {
		for i, failed := range a.Failed {
			if failed {
				out = append(out, display(a.Strategy)+": "+string(a.Queries[i].ID)+" "+a.Queries[i].Text)
			}
		}
	}
	return out
}
