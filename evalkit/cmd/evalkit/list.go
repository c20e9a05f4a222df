package main

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/chunkeval/chunkeval/evalkit/store"
)

func resultsFlag(c *cobra.Command, results *string) {
	c.Flags().StringVar(results, "results", "results", "folder of the stored Experiments")
}

func listCommand() *cobra.Command {
	var results string
	c := &cobra.Command{
		Use:   "list",
		Short: "List the stored Experiments",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, bad := store.List(results)
			if len(all) == 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "no Experiment in %s: run one, or name the folder with --results\n", results)
			}
			tw := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(tw, "id\tdate\tdataset\tstrategies\tk\t±P/N\tretriever")
			for _, x := range all {
				s := x.Record.Spec
				fmt.Fprintf(tw, "%s\t%.10s\t%s\t%d\t%d\t%s\t%s\n", x.Record.ID, x.Record.Provenance.Started, s.Dataset, len(s.Strategies), s.TopK, badge(x), s.Retriever)
			}
			if err := tw.Flush(); err != nil {
				return err
			}
			for _, err := range bad {
				fmt.Fprintln(cmd.ErrOrStderr(), "warning:", err)
			}
			return nil
		},
	}
	resultsFlag(c, &results)
	return c
}

// badge returns ±P/N, in brackets where fixed_size was not in the run.
func badge(x *store.Experiment) string {
	w := x.Record.Spec.Window()
	for _, s := range x.Record.Spec.Strategies {
		if strings.HasPrefix(s, "fixed_size(") {
			return w.String()
		}
	}
	return "(" + w.String() + ")"
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print what this program is",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			program, err := programDigest()
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "evalkit %s\nprogram %.12s\n", version(), program)
			return nil
		},
	}
}

// version is the module's version with its revision, as the build recorded them.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	if i := slices.IndexFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == "vcs.revision" }); i >= 0 {
		revision := info.Settings[i].Value
		v += " " + revision[:min(12, len(revision))]
	}
	return v
}
