package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/chunk"
	"github.com/chunkeval/chunkeval/evalkit/dataset"
	"github.com/chunkeval/chunkeval/evalkit/token"
	"github.com/chunkeval/chunkeval/evalkit/wire"
)

func datasetCommand() *cobra.Command {
	c := &cobra.Command{Use: "dataset", Short: "Check, import, generate and synthesize data sets"}
	c.AddCommand(checkCommand(), importCommand(), generateCommand(), synthesizeCommand(), reviewCommand())
	return c
}

// checkStrategies are what dataset check cuts with where none is named: the
// largest chunks that are in common use.
var checkStrategies = []string{"fixed_size(size=400)", "recursive(size=400)"}

func checkCommand() *cobra.Command {
	var names []string
	c := &cobra.Command{
		Use:   "check DIR",
		Short: "Verify a data set and warn of what makes it a weak judge",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ds, err := dataset.Load(args[0])
			if err != nil {
				return usage(err)
			}
			strategies, err := parseStrategies(names)
			if err != nil {
				return usage(err)
			}
			warnings := append(ds.Warnings, dataset.Check(cmd.Context(), ds, strategies...)...)
			describe(cmd.OutOrStdout(), ds)
			for _, w := range warnings {
				fmt.Fprintln(cmd.OutOrStdout(), "warning:", w)
			}
			return cmd.Context().Err()
		},
	}
	c.Flags().StringArrayVar(&names, "strategy", checkStrategies, "strategies whose chunks are checked against the documents")
	return c
}

func parseStrategies(names []string) ([]evalkit.Strategy, error) {
	tok, err := token.Parse(wire.DefaultTokenizer)
	if err != nil {
		return nil, err
	}
	noModel := func(string) (evalkit.Embedder, error) {
		return nil, errors.New("a strategy that needs an embedder cannot be used here")
	}
	var out []evalkit.Strategy
	for _, n := range names {
		s, err := chunk.Parse(n, chunk.Env{Tokenizer: tok, Embedder: noModel})
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// describe prints what a data set holds.
func describe(w io.Writer, ds *evalkit.Dataset) {
	bytes, gold, unanswerable := 0, 0, 0
	for _, d := range ds.Docs {
		bytes += len(d.Text)
	}
	for _, q := range ds.Queries {
		gold += len(q.Qrels)
		if q.Unanswerable {
			unanswerable++
		}
	}
	fmt.Fprintf(w, "%s: %d documents, %d bytes, %d questions (%d unanswerable), %d gold spans\n", ds.Name, len(ds.Docs), bytes, len(ds.Queries), unanswerable, gold)
	fmt.Fprintf(w, "language %s, licence %s, fingerprint %.12s\n", orDash(ds.Language), orDash(ds.Licence), ds.Fingerprint)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func importCommand() *cobra.Command {
	var opt dataset.ImportOptions
	c := &cobra.Command{
		Use:   "import FORMAT SRC DST",
		Short: "Import a public format into the new folder DST",
		Long:  "Import a public format into the new folder DST. Formats: " + strings.Join(dataset.Formats(), ", ") + ".",
		Args:  cobra.ExactArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			ds, err := dataset.Import(args[0], args[1], args[2], opt)
			if err != nil {
				return usage(err)
			}
			describe(cmd.OutOrStdout(), ds)
			for _, w := range ds.Warnings {
				fmt.Fprintln(cmd.OutOrStdout(), "warning:", w)
			}
			return nil
		},
	}
	c.Flags().StringVar(&opt.Name, "name", "", "name of the data set (default: from the source)")
	c.Flags().StringVar(&opt.Language, "language", "", "BCP 47 code, such as de")
	c.Flags().StringVar(&opt.Licence, "licence", "", "licence of the texts (default: from the source)")
	c.Flags().StringVar(&opt.Split, "split", "", "of beir: the qrels file to use (default: all)")
	return c
}

func generateCommand() *cobra.Command {
	var opt dataset.GenerateOptions
	c := &cobra.Command{
		Use:   "generate DST",
		Short: "Make a seeded corpus with planted gold, for tests of scale",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ds, err := dataset.Generate(opt)
			if err != nil {
				return usage(err)
			}
			if err := dataset.Write(args[0], ds); err != nil {
				return err
			}
			describe(cmd.OutOrStdout(), ds)
			return nil
		},
	}
	c.Flags().StringVar(&opt.Name, "name", "", "name of the data set (default: generated)")
	c.Flags().IntVar(&opt.Documents, "documents", 100, "documents")
	c.Flags().IntVar(&opt.Questions, "questions", 200, "questions")
	c.Flags().IntVar(&opt.Bytes, "bytes", 1_000_000, "size of all documents together, about")
	c.Flags().Uint64Var(&opt.Seed, "seed", 1, "seed; equal seeds give equal bytes")
	return c
}
