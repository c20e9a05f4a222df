package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/chunkeval/chunkeval/evalkit/compare"
	"github.com/chunkeval/chunkeval/evalkit/report"
)

func trendCommand() *cobra.Command {
	var results, metric, name string
	var last int
	c := &cobra.Command{
		Use:   "trend OUT.html",
		Short: "Write a page with one metric over the last runs",
		Long: `Write a page with one metric over the last Experiments of a results folder, the
oldest first: each is a point with its interval, and what changed in the setup
since the one before stands at it. --name shows the runs of one Experiment of a sweep.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if last < 1 {
				return usage(fmt.Errorf("trend: --last %d: want at least 1", last))
			}
			in, notes := sources(results, true)
			for _, n := range notes {
				fmt.Fprintln(cmd.ErrOrStderr(), "warning:", n)
			}
			in = slices.DeleteFunc(in, func(x compare.Input) bool { return !strings.HasPrefix(x.ID, name) })
			if len(in) == 0 {
				return usage(fmt.Errorf("trend: no Experiment in %s whose id begins with %q", results, name))
			}
			m, _ := compare.ParseMeasure(longName(metric)) // one that a notebook defined is not known here
			_, err := replaceFile(args[0], func(w io.Writer) error { return report.Trend(w, in, m, last) })
			return err
		},
	}
	resultsFlag(c, &results)
	c.Flags().StringVar(&metric, "metric", "recall+", "metric, with a plus for the expanded view")
	c.Flags().StringVar(&name, "name", "", "how the ids of the Experiments begin")
	c.Flags().IntVar(&last, "last", 30, "runs to show")
	return c
}
