package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/chunkeval/chunkeval/evalkit/compare"
	"github.com/chunkeval/chunkeval/evalkit/report"
	"github.com/chunkeval/chunkeval/evalkit/store"
)

func reportCommand() *cobra.Command {
	var results, out, questions string
	var managerial, technical bool
	var margin float64
	c := &cobra.Command{
		Use:   "report ID… [--managerial] [--technical]",
		Short: "Write the managerial and the technical report, a file each",
		Long: `Write reports over one or more Experiments of one data set, the first of which
is the baseline. Each is one HTML file that opens without a network.

--managerial: one page with the recommendation, how sure it is and what it costs.
--technical: everything, with n, interval and corrected p.
Without either, both are written.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			details, err := strconv.Atoi(questions)
			if questions == "all" {
				details, err = -1, nil
			}
			if err != nil || details < -1 || !(margin >= 0 && margin < 1) {
				return usage(fmt.Errorf("report: --questions %q, --margin %v: want a number or all, and a share of at least 0 and below 1", questions, margin))
			}
			in, err := openAll(results, args)
			if err != nil {
				return err
			}
			study, err := report.NewStudy(in, margin, compare.Options{})
			if err != nil {
				return usage(err)
			}
			if err := os.MkdirAll(out, 0o755); err != nil {
				return err
			}
			for _, r := range []struct {
				wanted bool
				name   string
				write  func(io.Writer) error
			}{
				{managerial || !technical, "managerial.html", study.Managerial},
				{technical || !managerial, "technical.html", func(w io.Writer) error { return study.Technical(w, details) }},
			} {
				if !r.wanted {
					continue
				}
				path := filepath.Join(out, r.name)
				if _, err := replaceFile(path, r.write); err != nil {
					return err
				}
				fmt.Fprintln(cmd.OutOrStdout(), path)
			}
			return nil
		},
	}
	resultsFlag(c, &results)
	c.Flags().BoolVar(&managerial, "managerial", false, "write managerial.html")
	c.Flags().BoolVar(&technical, "technical", false, "write technical.html")
	c.Flags().StringVar(&out, "out", "reports", "folder for the files")
	c.Flags().StringVar(&questions, "questions", "3", "questions per strategy that the technical report opens in full; all for all")
	c.Flags().Float64Var(&margin, "margin", compare.Margin, "loss of recall that the recommendation accepts")
	return c
}

// openAll opens Experiments by id.
func openAll(results string, ids []string) ([]compare.Input, error) {
	var in []compare.Input
	var errs []error
	for _, id := range ids {
		x, err := store.Open(results, id)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		in = append(in, compare.Input{ID: x.Record.ID, Source: x})
	}
	return in, usage(errors.Join(errs...))
}
