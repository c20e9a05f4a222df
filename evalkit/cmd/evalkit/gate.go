package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/chunkeval/chunkeval/evalkit/compare"
	"github.com/chunkeval/chunkeval/evalkit/gate"
	"github.com/chunkeval/chunkeval/evalkit/report"
	"github.com/chunkeval/chunkeval/evalkit/store"
)

// gateFlags are the flags of gate.
type gateFlags struct {
	results, baseline, candidate, policy string
	markdown, junit, json, html          string
	changed                              bool
	renamed                              []string
}

func gateCommand() *cobra.Command {
	var f gateFlags
	c := &cobra.Command{
		Use:   "gate --baseline ID|FILE --candidate ID",
		Short: "Say whether a candidate is worse than the baseline",
		Long: `Hold an Experiment against a baseline, which is another Experiment or a file that
"evalkit baseline save" wrote.

Exit status: 0 pass, 1 fail, 3 inconclusive (the text says how many questions
would be needed), 2 bad input or data that cannot be compared.

A policy file names metrics and margins:

  alpha: 0.05
  significant: beyond    # the margin; fail: however small; pass: only the margin decides
  metrics:
    - {metric: recall+, margin: 0.02}
    - {metric: context_tokens+, margin: 10%}
  strategies: [markdown(size=200)]   # default: all
  seconds: 50%           # growth of the run's time; one measurement, no test

A strategy whose settings were changed is held against the one of its kind, if one
is left on each side; else --map "fixed_size(size=200)=fixed_size(size=120)" says
what took its place.

At least 20 questions are needed. Without a policy: recall+ 0.02, full_evidence+ 0.03, context_tokens+ 10 %. A loss counts
only if it holds after Holm's correction over all checks, and for whole documents.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runGate(cmd, f) },
	}
	resultsFlag(c, &f.results)
	c.Flags().StringVar(&f.baseline, "baseline", "", "Experiment or file to hold against (needed)")
	c.Flags().StringVar(&f.candidate, "candidate", "", "Experiment to judge (needed)")
	c.Flags().StringVar(&f.policy, "policy", "", "policy file")
	c.Flags().StringVar(&f.markdown, "markdown", "", "write the verdict for a pull request to this file")
	c.Flags().StringVar(&f.junit, "junit", "", "write JUnit XML to this file")
	c.Flags().StringVar(&f.json, "json", "", "write JSON to this file")
	c.Flags().StringVar(&f.html, "html", "", "write the Compare page to this file")
	c.Flags().StringArrayVar(&f.renamed, "map", nil, "OLD=NEW: hold this strategy of the baseline against that one; repeatable")
	c.Flags().BoolVar(&f.changed, "allow-changed-data", false, "compare although the data set or its gold changed")
	return c
}

func runGate(cmd *cobra.Command, f gateFlags) error {
	if f.baseline == "" || f.candidate == "" {
		return usage(errors.New("gate: give --baseline and --candidate"))
	}
	policy := gate.DefaultPolicy()
	if f.policy != "" {
		var err error
		if policy, err = gate.ReadPolicy(f.policy); err != nil {
			return usage(err)
		}
	}
	baseline, reason, err := openBaseline(cmd, f.results, f.baseline)
	if err != nil {
		return usage(err)
	}
	candidate, err := openStored(cmd, f.results, f.candidate)
	if err != nil {
		return usage(err)
	}
	o := gate.Options{ChangedData: f.changed}
	for _, s := range f.renamed {
		r, err := gate.ParseRenamed(s)
		if err != nil {
			return usage(fmt.Errorf("--map %w", err))
		}
		o.Renamed = append(o.Renamed, r)
	}
	v, err := gate.Decide(baseline, candidate, policy, o)
	if err != nil {
		return usage(err)
	}
	v.Reason = reason
	for _, out := range []struct {
		path  string
		write func(io.Writer) error
	}{
		{f.markdown, v.Markdown},
		{f.junit, v.JUnit},
		{f.json, func(w io.Writer) error { return printJSON(w, v) }},
		{f.html, func(w io.Writer) error { return gatePage(w, baseline, candidate, policy) }},
	} {
		if out.path == "" {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(out.path), 0o755); err != nil {
			return err
		}
		if _, err := replaceFile(out.path, out.write); err != nil {
			return err
		}
	}
	if err := v.Text(cmd.OutOrStdout()); err != nil {
		return err
	}
	switch v.State {
	case gate.Fail:
		if !slices.ContainsFunc(v.Checks, func(k gate.Check) bool { return k.State == gate.Fail && k.Delta != nil }) {
			return &statusError{exitFailed, errors.New("the candidate lacks what the baseline has")}
		}
		return &statusError{exitFailed, errors.New("the candidate is worse than the baseline")}
	case gate.Inconclusive:
		return &statusError{exitInconclusive, errors.New("not enough evidence to say")}
	}
	return nil
}

// gatePage writes the Compare page of the policy's metrics.
func gatePage(w io.Writer, baseline, candidate compare.Input, p gate.Policy) error {
	o := compare.Options{Level: 1 - p.Alpha, Seed: p.Seed, Measures: p.Measures()}
	study, err := report.NewStudy([]compare.Input{baseline, candidate}, compare.Margin, o)
	if err != nil {
		return err
	}
	return study.Compare(w)
}

// openBaseline opens a file, or else the Experiment of that id.
func openBaseline(cmd *cobra.Command, results, name string) (in compare.Input, reason string, err error) {
	if info, err := os.Stat(name); err == nil && !info.IsDir() {
		b, err := gate.ReadBaseline(name)
		if err != nil {
			return in, "", err
		}
		return compare.Input{ID: b.ID, Source: b}, b.Reason, nil
	}
	if in, err = openStored(cmd, results, name); err != nil {
		err = fmt.Errorf("baseline %q: neither a file nor: %w", name, err)
	}
	return in, "", err
}

// openStored opens an Experiment and says what of it cannot be read.
func openStored(cmd *cobra.Command, results, id string) (compare.Input, error) {
	x, err := store.Open(results, id)
	if err != nil {
		return compare.Input{}, err
	}
	for _, n := range x.Notices {
		fmt.Fprintln(cmd.ErrOrStderr(), "warning:", n)
	}
	return compare.Input{ID: x.Record.ID, Source: x}, nil
}

func baselineCommand() *cobra.Command {
	c := &cobra.Command{Use: "baseline", Short: "Keep the state that candidates are held against"}
	c.AddCommand(baselineSave("save", "Write an Experiment as a baseline file, which must not exist", false),
		baselineSave("update", "Replace a baseline file", true), baselineShow())
	return c
}

func baselineSave(name, short string, replace bool) *cobra.Command {
	var results, reason, policy string
	c := &cobra.Command{
		Use: name + " ID FILE --reason TEXT", Short: short,
		Long: short + `.

The file holds the summary, every question's values of the policy's metrics and
the fingerprints, a line each, for version control. The reason is recorded in it.
Without a policy, update keeps the metrics that the file has.`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if reason == "" {
				return usage(fmt.Errorf("baseline %s: say why with --reason; it is recorded", name))
			}
			_, err := os.Stat(args[1])
			switch {
			case err == nil && !replace:
				return usage(fmt.Errorf("baseline save: %s exists; use baseline update to replace it", args[1]))
			case err != nil && replace:
				return usage(fmt.Errorf("baseline update: %w", err))
			}
			old, write := "", createFile
			if replace {
				old, write = args[1], replaceFile
			}
			measures, err := baselineMeasures(policy, old)
			if err != nil {
				return usage(fmt.Errorf("baseline %s: %w", name, err))
			}
			x, err := store.Open(results, args[0])
			if err != nil {
				return usage(err)
			}
			n, err := write(args[1], func(w io.Writer) error { return gate.Save(w, x, reason, measures) })
			if err != nil {
				return fmt.Errorf("baseline %s: %w", name, err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %s, %d strategies, %d questions, %d kB\n", args[1], x.Record.ID, len(x.Record.Effective), x.Record.Dataset.Queries, n/1000)
			return nil
		},
	}
	resultsFlag(c, &results)
	c.Flags().StringVar(&reason, "reason", "", "why this state is the one to hold on to (needed)")
	c.Flags().StringVar(&policy, "policy", "", "policy file; its metrics are kept")
	return c
}

// createFile writes a file that must not exist. It gets its name when it is
// closed, and of several writers one.
func createFile(path string, write func(io.Writer) error) (int64, error) {
	part := fmt.Sprintf("%s.%d", path, os.Getpid())
	n, err := replaceFile(part, write)
	if err != nil {
		return 0, err
	}
	return n, errors.Join(os.Link(part, path), os.Remove(part))
}

// baselineMeasures are those of a policy file, else of the old baseline, else of
// the default policy.
func baselineMeasures(policy, old string) ([]compare.Measure, error) {
	p := gate.DefaultPolicy()
	switch {
	case policy != "":
		var err error
		if p, err = gate.ReadPolicy(policy); err != nil {
			return nil, err
		}
	case old != "":
		b, err := gate.ReadBaseline(old)
		if err != nil {
			return nil, fmt.Errorf("%w; or name the metrics with --policy", err)
		}
		return b.Measures, nil
	}
	return p.Measures(), nil
}

func baselineShow() *cobra.Command {
	return &cobra.Command{
		Use: "show FILE", Short: "Print what a baseline file holds", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := gate.ReadBaseline(args[0])
			if err != nil {
				return usage(err)
			}
			x, err := b.Overview()
			if err != nil {
				return err
			}
			p := &printer{w: cmd.OutOrStdout()}
			p.f("%s\n  reason    %s\n  data set  %s (%.12s)\n  retriever %s\n", b.ID, b.Reason, x.Record.Dataset.Name, x.Record.Dataset.Fingerprint, x.Record.Spec.Retriever)
			for _, s := range x.Strategies {
				p.f("  %s %s\n", s.Strategy, s.Window)
				for _, row := range s.Summary {
					p.f("    %s %s\n", compare.Measure{Metric: row.Metric, View: row.View}, number(row.Mean))
				}
			}
			return p.err
		},
	}
}
