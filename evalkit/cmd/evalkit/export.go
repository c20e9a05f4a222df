package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/spf13/cobra"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/experiment"
	"github.com/chunkeval/chunkeval/evalkit/metric"
	"github.com/chunkeval/chunkeval/evalkit/store"
	"github.com/chunkeval/chunkeval/evalkit/token"
)

func exportCommand() *cobra.Command {
	var results, table, out string
	var trec bool
	c := &cobra.Command{
		Use:   "export ID (--trec | --jsonl TABLE)",
		Short: "Write run and qrels files for trec_eval, or a table as JSON lines",
		Long: `Write what was stored in other programs' formats.

--trec writes, for each strategy, STRATEGY.run and STRATEGY.qrels below --out.
A line's document is a chunk; scores fall strictly, so ties keep their order.
--jsonl prints a table: documents, queries, chunks, tree, retrieved, candidates, scores,
summary or answers.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			x, err := store.Open(results, args[0])
			switch {
			case err != nil:
				return usage(err)
			case trec == (table != ""):
				return usage(errors.New("export: give either --trec or --jsonl TABLE"))
			case trec:
				return exportTREC(cmd.OutOrStdout(), x, out)
			}
			return exportTable(cmd.OutOrStdout(), x, table)
		},
	}
	resultsFlag(c, &results)
	c.Flags().BoolVar(&trec, "trec", false, "write run and qrels files")
	c.Flags().StringVar(&table, "jsonl", "", "print this table as JSON lines")
	c.Flags().StringVar(&out, "out", ".", "folder for --trec")
	return c
}

func exportTable(w io.Writer, x *store.Experiment, table string) error {
	b := bufio.NewWriter(w)
	err := func() error {
		switch table {
		case "documents":
			rows, err := x.Documents()
			return errors.Join(err, writeRows(b, each(rows)))
		case "queries":
			rows, err := x.Queries()
			return errors.Join(err, writeRows(b, each(rows)))
		case "summary":
			rows, err := x.Summary()
			return errors.Join(err, writeRows(b, each(rows)))
		case "chunks":
			return writeRows(b, x.Chunks())
		case "tree":
			return writeRows(b, x.Tree())
		case "retrieved":
			return writeRows(b, x.Retrieved())
		case "candidates":
			return writeRows(b, x.Candidates())
		case "scores":
			return writeRows(b, x.Scores())
		case "answers":
			return writeRows(b, x.Answers())
		}
		return usage(fmt.Errorf("export: unknown table %q: known are documents, queries, chunks, tree, retrieved, candidates, scores, summary, answers", table))
	}()
	return errors.Join(err, b.Flush())
}

func each[T any](rows []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, r := range rows {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// writeRows writes a row a line; keys are the columns of the table.
func writeRows[T any](w io.Writer, rows iter.Seq2[T, error]) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for row, err := range rows {
		if err != nil {
			return err
		}
		if err := e.Encode(columns(reflect.ValueOf(row))); err != nil {
			return err
		}
	}
	return nil
}

// columns turns a row into a value whose keys are its column names.
func columns(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return columns(v.Elem())
	case reflect.Slice:
		out := make([]any, v.Len())
		for i := range out {
			out[i] = columns(v.Index(i))
		}
		return out
	case reflect.Struct:
		out := map[string]any{}
		for i := range v.NumField() {
			out[v.Type().Field(i).Tag.Get("arrow")] = columns(v.Field(i))
		}
		return out
	}
	return v.Interface()
}

// exportTREC writes a run and a qrels file per strategy.
func exportTREC(w io.Writer, x *store.Experiment, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	ds, err := x.Dataset()
	if err != nil {
		return err
	}
	texts, err := textsOf(x, ds)
	if err != nil {
		return err
	}
	taken := map[string]bool{}
	for i := range x.Record.Effective {
		s, err := x.Strategy(i)
		if err != nil {
			return err
		}
		base := filepath.Join(dir, fileName(s.Strategy, taken))
		if err := writeTo(base+".run", func(w io.Writer) error { return metric.WriteRun(w, runsOf(s), "evalkit") }); err != nil {
			return err
		}
		if err := writeTo(base+".qrels", func(w io.Writer) error { return writeQrels(w, ds, s, texts) }); err != nil {
			return err
		}
		fmt.Fprintf(w, "%s.run %s.qrels\n", base, base)
	}
	return nil
}

func runsOf(s *experiment.StrategyResult) []metric.Run {
	var runs []metric.Run
	for _, q := range s.Queries {
		r := metric.Run{Query: q.Query}
		for _, e := range q.Tree {
			r.Chunks = append(r.Chunks, e.Hit.Chunk.ID())
			r.Scores = append(r.Scores, e.Hit.Score)
		}
		runs = append(runs, r)
	}
	return runs
}

func writeQrels(w io.Writer, ds *evalkit.Dataset, s *experiment.StrategyResult, texts *evalkit.Texts) error {
	chunks := map[evalkit.DocID][]evalkit.Chunk{}
	for _, c := range s.Chunks {
		chunks[c.Doc] = append(chunks[c.Doc], c)
	}
	for _, q := range ds.Queries {
		j := evalkit.Judgments{Query: q, Texts: texts, Chunks: chunks}
		if err := metric.WriteQrels(w, q.ID, metric.Grades(&j)); err != nil {
			return err
		}
	}
	return nil
}

// writeTo creates a file, which must not exist, and checks its Close.
func writeTo(name string, write func(io.Writer) error) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// fileName is a name for a strategy's files that no other has.
func fileName(strategy string, taken map[string]bool) string {
	name := strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '-'
	}, strategy), "-")
	name = name[:min(len(name), 80)]
	base := name
	for n := 2; taken[name]; n++ {
		name = fmt.Sprintf("%s.%d", base, n)
	}
	taken[name] = true
	return name
}

// textsOf returns what measures the documents of x.
func textsOf(x *store.Experiment, ds *evalkit.Dataset) (*evalkit.Texts, error) {
	tok, err := token.Parse(x.Record.Spec.Tokenizer)
	if err != nil {
		return nil, err
	}
	return evalkit.NewTexts(ds.Docs, tok), nil
}
