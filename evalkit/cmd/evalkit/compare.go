package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/compare"
	"github.com/chunkeval/chunkeval/evalkit/report"
)

func compareCommand() *cobra.Command {
	var results, html string
	var asJSON, own bool
	var metrics []string
	var budgets []int
	c := &cobra.Command{
		Use:   "compare ID [ID…]",
		Short: "Compare Experiments, or the strategies of one, paired by question",
		Long: `Compare up to eight Experiments, strategy by strategy, or the strategies of one.
The first is the baseline. Differences are paired by question; p is that of a
sign-flip test, corrected by Holm over everything that is printed; the interval
is the wider of the one over questions and the one over documents.

A window sends more text, and more text finds more. --budget 1000,2000 prints what
each setting finds when it may send as many tokens as the others.

Name fewer metrics to test fewer hypotheses: --metric recall+ --metric IoU+
(a plus marks the expanded view).`,
		Args: cobra.RangeArgs(1, compare.MaxColumns),
		RunE: func(cmd *cobra.Command, args []string) error {
			o := compare.Options{}
			for _, name := range metrics {
				m, _ := compare.ParseMeasure(longName(name)) // one that a notebook defined is not known here
				if slices.Contains(o.Measures, m) {
					return usage(fmt.Errorf("--metric %s is given twice", name))
				}
				o.Measures = append(o.Measures, m)
			}
			if err := checkBudgets(budgets); err != nil {
				return usage(err)
			}
			switch {
			case len(budgets) > 0 && len(metrics) > 0:
				return usage(errors.New("--budget is about recall: leave out --metric"))
			case len(budgets) == 0 && own:
				return usage(errors.New("--window goes with --budget"))
			}
			in, err := openAll(results, args)
			if err != nil {
				return err
			}
			study, err := report.NewStudy(in, compare.Margin, o)
			if err != nil {
				return usage(err)
			}
			if err := measured(study.Comparison, o.Measures, metrics); err != nil {
				return usage(err)
			}
			if html != "" {
				if _, err := replaceFile(html, study.Compare); err != nil {
					return err
				}
			}
			if len(budgets) > 0 {
				return atBudgets(study, budgets, own).print(cmd.OutOrStdout(), asJSON)
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), study.Comparison)
			}
			return printComparison(cmd.OutOrStdout(), study.Comparison)
		},
	}
	resultsFlag(c, &results)
	c.Flags().StringVar(&html, "html", "", "write the page to this file as well")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().IntSliceVar(&budgets, "budget", nil, "print recall at these context tokens instead, for every strategy and window")
	c.Flags().BoolVar(&own, "window", false, "with --budget: compare each window with ±0/0 of the same strategy and retriever, not with the first row")
	c.Flags().StringArrayVar(&metrics, "metric", nil, "metric to compare, with a plus for the expanded view; repeatable")
	return c
}

// measureOf reads "recall" or "recall+".
// longName returns the metric that a head of the table of a run stands for.
func longName(head string) string {
	for _, c := range headline {
		if c.head == head {
			return (compare.Measure{Metric: c.metric, View: evalkit.View(c.view)}).String()
		}
	}
	return head
}

// measured reports the first of measures that no sheet of c has.
func measured(c *compare.Comparison, measures []compare.Measure, names []string) error {
	for i, m := range measures {
		if !slices.ContainsFunc(c.Sheets, func(s compare.Sheet) bool {
			return slices.ContainsFunc(s.Rows, func(r compare.Row) bool { return r.Measure == m })
		}) {
			_, err := compare.ParseMeasure(longName(names[i]))
			if err == nil {
				err = errors.New("none of these Experiments measured it")
			}
			return fmt.Errorf("--metric %s: %w; evalkit show ID lists what was measured", names[i], err)
		}
	}
	return nil
}

// printComparison prints a table per sheet, warnings first.
func printComparison(w io.Writer, c *compare.Comparison) error {
	p := &printer{w: w}
	for i, col := range c.Columns {
		badge := col.Badge
		if col.Muted {
			badge = "(" + badge + ")"
		}
		p.f("%s  %s  %s  %s\n", letter(i), badge, col.Name, col.ID)
	}
	for _, warning := range c.Warnings {
		p.f("warning: %s\n", warning.Text)
	}
	for _, s := range c.Sheets {
		p.f("\n%s · %d questions in common\n", s.Title, s.Common)
		if p.err == nil {
			p.err = printSheet(w, c, s)
		}
	}
	p.f("\n%s; intervals %.0f %%. A plus marks the expanded view. Detects: the smallest true difference that this many questions find, four times in five.\n", c.Family, 100*c.Family.Level)
	return p.err
}

// letter names a column: A, B, …
func letter(i int) string { return string(rune('A' + i%26)) }

func printSheet(w io.Writer, c *compare.Comparison, s compare.Sheet) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	across := s.Title == compare.AllStrategies
	fmt.Fprint(tw, "metric")
	for i, a := range s.Arms {
		name := letter(i)
		if a != nil && across {
			name = a.Strategy
			if len(c.Columns) > 1 {
				name = letter(a.Column) + " " + name
			}
		}
		fmt.Fprintf(tw, "\t%s", name)
		if i > 0 {
			fmt.Fprint(tw, "\tΔ\tinterval\tp\tbetter/equal/worse\tdetects\tverdict")
		}
	}
	fmt.Fprintln(tw)
	for _, r := range s.Rows {
		fmt.Fprint(tw, r.Measure)
		for i, cell := range r.Cells {
			fmt.Fprintf(tw, "\t%s", number(cell.Mean))
			if cell.Failed > 0 {
				fmt.Fprintf(tw, " (%d of %d failed)", cell.Failed, cell.N)
			}
			if i > 0 {
				printDelta(tw, cell.Delta)
			}
		}
		fmt.Fprintln(tw)
	}
	return tw.Flush()
}

func printDelta(w io.Writer, d *compare.Delta) {
	if d == nil || d.N == 0 {
		fmt.Fprint(w, "\t–\t–\t–\t–\t–\t–")
		return
	}
	fmt.Fprintf(w, "\t%+.4g\t", d.Mean)
	if i := d.Interval(); i != nil {
		fmt.Fprintf(w, "[%+.3g, %+.3g]", i.Lo, i.Hi)
	} else {
		fmt.Fprint(w, "–")
	}
	p := "–"
	if d.Holm != nil {
		if p = fmt.Sprintf("%.4f", *d.Holm); *d.Holm < 0.0001 {
			p = "<0.0001"
		}
	}
	detects := "–"
	if d.Detectable != nil {
		detects = fmt.Sprintf("%.2g", *d.Detectable)
	}
	fmt.Fprintf(w, "\t%s\t%d/%d/%d\t%s\t%s", p, d.Win, d.Tie, d.Loss, detects, d.Verdict)
}
