package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/chunkeval/chunkeval/evalkit/experiment"
	"github.com/chunkeval/chunkeval/evalkit/gate"
)

func reproduceCommand() *cobra.Command {
	var f runFlags
	var page string
	var update bool
	c := &cobra.Command{
		Use:   "reproduce FILE…",
		Short: "Run configurations and hold their numbers to what is expected",
		Long: `Run the configuration that each FILE names and compare its numbers with those
expected there: OK, OK within tolerance, or FAIL, per number and per metric. Exit
status 1 if any fails.

--update writes the numbers of this run into the files instead: say in
reports/CHANGES.md what moved them. --page writes the page that shows them.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if page != "" && !update {
				_, err := replaceFile(page, func(w io.Writer) error { return gate.Page(w, args) })
				return err
			}
			failed := 0
			for _, path := range args {
				n, err := reproduce(cmd, path, f, update)
				if err != nil {
					return err
				}
				failed += n
			}
			if page != "" {
				if _, err := replaceFile(page, func(w io.Writer) error { return gate.Page(w, args) }); err != nil {
					return err
				}
			}
			if failed > 0 {
				return fmt.Errorf("%d numbers differ from what is expected", failed)
			}
			return nil
		},
	}
	resultsFlag(c, &f.results)
	c.Flags().StringVar(&page, "page", "", "write the expected numbers as Markdown to this file; alone, it runs nothing")
	c.Flags().BoolVar(&update, "update", false, "write the numbers of this run into the files")
	c.Flags().BoolVar(&f.quiet, "quiet", false, "no progress, and only what is not OK")
	f.cache.add(c)
	return c
}

func reproduce(cmd *cobra.Command, path string, f runFlags, update bool) (failed int, err error) {
	e, err := gate.ReadExpected(path)
	if err != nil {
		return 0, usage(err)
	}
	all, err := resultsOf(cmd, filepath.Join(filepath.Dir(path), filepath.FromSlash(e.Config)), f)
	if err != nil {
		return 0, err
	}
	if update {
		e.Update(all, func(s experiment.Spec) bool { return strings.HasPrefix(s.Retriever, "bm25(") }, 0.01)
		_, err := replaceFile(path, e.Write)
		return 0, err
	}
	outcomes, _ := e.Reproduce(all)
	p := &printer{w: cmd.OutOrStdout()}
	counts := map[string]int{}
	for _, o := range outcomes {
		counts[o.Text]++
		if o.Text == "FAIL" || !f.quiet {
			p.f("%-19s  %s  %s  %s  expected %.6f ±%v, got %s\n", o.Text, o.Experiment, o.Strategy, o.Metric, o.Value, o.Tolerance, inFull(o.Got))
		}
	}
	p.f("%s: %d OK, %d OK within tolerance, %d FAIL\n", path, counts["OK"], counts["OK within tolerance"], counts["FAIL"])
	if p.err == nil {
		p.err = printByMetric(p.w, outcomes)
	}
	return counts["FAIL"], p.err
}

// inFull prints as many places as an expected number has.
func inFull(v *float64) string {
	if v == nil {
		return "n/a"
	}
	return fmt.Sprintf("%.6f", *v)
}

// printByMetric prints the worst outcome of every metric.
func printByMetric(w io.Writer, outcomes []gate.Outcome) error {
	type tally struct {
		worst   string
		numbers int
		off     float64
	}
	badness := []string{"OK", "OK within tolerance", "FAIL"}
	metrics, of := []string{}, map[string]*tally{}
	for _, o := range outcomes {
		t := of[o.Metric]
		if t == nil {
			t = &tally{worst: "OK"}
			metrics, of[o.Metric] = append(metrics, o.Metric), t
		}
		t.numbers++
		if slices.Index(badness, o.Text) > slices.Index(badness, t.worst) {
			t.worst = o.Text
		}
		if o.Got != nil {
			t.off = max(t.off, math.Abs(*o.Got-o.Value))
		}
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, m := range metrics {
		fmt.Fprintf(tw, "  %s\t%s\t%d numbers\tlargest difference %.1g\n", of[m].worst, m, of[m].numbers, of[m].off)
	}
	return tw.Flush()
}

// resultsOf runs a configuration and returns the overviews of its Experiments.
func resultsOf(cmd *cobra.Command, path string, f runFlags) (all []*experiment.Result, err error) {
	lab, err := f.cache.lab()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lab.Close()) }()
	groups, err := groupsOf(lab, path, f)
	if err != nil {
		return nil, usage(err)
	}
	program, err := programDigest()
	if err != nil {
		return nil, err
	}
	p := newProgress(cmd.ErrOrStderr(), f.quiet)
	defer p.end()
	s := &session{lab: lab, flags: f, program: program, profile: &experiment.Profile{}, progress: p.report, out: cmd.ErrOrStderr()}
	done, err := s.all(cmd.Context(), groups)
	if err != nil {
		return nil, err
	}
	for _, x := range done {
		r, err := x.Overview()
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}
