package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/compare"
	"github.com/chunkeval/chunkeval/evalkit/report"
)

// budgetTable is recall at equal context tokens, and where it comes from.
type budgetTable struct {
	Rows  []budgetRow  `json:"rows"`
	Looks []budgetLook `json:"looks"`
}

// budgetRow is one strategy with one window and one retriever.
type budgetRow struct {
	Strategy  string           `json:"strategy"`
	Window    evalkit.Window   `json:"window"`
	Retriever string           `json:"retriever"`
	Points    []compare.Point  `json:"points"` // per budget
	Deltas    []*compare.Delta `json:"deltas"` // per budget, to the baseline; null in a baseline
}

// budgetLook is what one strategy of one Experiment finds at its top_k.
type budgetLook struct {
	Strategy    string           `json:"strategy"`
	Window      evalkit.Window   `json:"window"` // in force
	Retriever   string           `json:"retriever"`
	TopK        compare.Point    `json:"top_k"` // recall and tokens
	Attribution []compare.Share  `json:"attribution"`
	Placebo     *compare.Placebo `json:"placebo"` // null without neighbors
	Boundary    compare.Boundary `json:"boundary"`
}

// atBudgets computes the table; own: the baseline of a window is the strategy
// without one, else it is the first row.
func atBudgets(study *report.Study, budgets []int, own bool) budgetTable {
	curves, retrievers := study.Curves()
	base := make([]int, len(curves))
	if own {
		first := map[string]int{} // the curve without a window comes first
		for i, c := range curves {
			key := c.Strategy + "\n" + retrievers[i]
			if _, ok := first[key]; !ok {
				first[key] = i
			}
			base[i] = first[key]
		}
	}
	t := budgetTable{Looks: []budgetLook{}}
	for i, r := range compare.AtBudgets(curves, base, budgets, compare.Options{}) {
		t.Rows = append(t.Rows, budgetRow{r.Curve.Strategy, r.Curve.Window, retrievers[i], r.Points, r.Deltas})
	}
	for _, x := range study.Experiments {
		for _, l := range x.Looks {
			if l.Err != nil {
				continue
			}
			c := l.Curves[len(l.Curves)-1]
			t.Looks = append(t.Looks, budgetLook{l.Strategy, l.Window, x.Retriever(), c.Points[min(x.Spec.TopK, len(c.Points))-1], l.Attribution, l.Placebo, l.Boundary})
		}
	}
	return t
}

func (t budgetTable) print(w io.Writer, asJSON bool) error {
	if asJSON {
		return printJSON(w, t)
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(tw, "strategy\t±P/N\tretriever")
	for _, p := range t.Rows[0].Points {
		fmt.Fprintf(tw, "\t%d tokens\tΔ\tinterval\tp", p.Budget)
	}
	fmt.Fprintln(tw)
	small, large := false, false
	for _, r := range t.Rows {
		fmt.Fprintf(tw, "%s\t%s\t%s", r.Strategy, r.Window, r.Retriever)
		for i, p := range r.Points {
			mark := ""
			switch {
			case p.Comparable():
			case p.Nothing > p.Ended:
				mark, small = "°", true
			default:
				mark, large = "*", true
			}
			fmt.Fprintf(tw, "\t%.3f%s", p.Recall, mark)
			if r.Deltas == nil {
				fmt.Fprint(tw, "\t–\t–\t–")
				continue
			}
			d := r.Deltas[i]
			if d.P == nil {
				fmt.Fprint(tw, "\t–\t–\t–")
				continue
			}
			interval, holm := "–", "–"
			if x := d.Interval(); x != nil {
				interval = fmt.Sprintf("[%+.3f, %+.3f]", x.Lo, x.Hi)
			}
			if d.Holm != nil {
				holm = fmt.Sprintf("%.4f", *d.Holm)
			}
			fmt.Fprintf(tw, "\t%+.3f\t%s\t%s", d.Mean, interval, holm)
		}
		fmt.Fprintln(tw)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	p := &printer{w: w}
	p.f("\nEach question is sent as many hits, with their neighbors, as fit, in rank order. Differences are to the row without one above, paired; p corrected by Holm over the table.\n")
	if small {
		p.f("° too small: for most questions not even one hit with its neighbors fits.\n")
	}
	if large {
		p.f("* too large: for most questions all stored candidates fit; run with more of them (candidates: in the configuration).\n")
	}
	return p.err
}

// checkBudgets refuses budgets that say nothing, or the same twice.
func checkBudgets(budgets []int) error {
	seen := map[int]bool{}
	for _, b := range budgets {
		switch {
		case b < 1:
			return fmt.Errorf("--budget %d: want at least 1 token", b)
		case seen[b]:
			return fmt.Errorf("--budget %d is given twice", b)
		}
		seen[b] = true
	}
	return nil
}
