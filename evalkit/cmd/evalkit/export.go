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
--jsonl prints a table: documents, queries, chunks, tree, retrieved, scores or summary.`,
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
		case "scores":
			return writeRows(b, x.Scores())
		}
		return usage(fmt.Errorf("export: unknown table %q: known are documents, queries, chunks, tree, retrieved, scores, summary", table))
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
	queries, err := x.Queries()
	if err != nil {
		return err
	}
	taken := map[string]bool{}
	for _, e := range x.Record.Effective {
		runs, err := runsOf(x, e.Strategy)
		if err != nil {
			return err
		}
		base := filepath.Join(dir, fileName(e.Strategy, taken))
		if err := writeTo(base+".run", func(w io.Writer) error { return metric.WriteRun(w, runs, "evalkit") }); err != nil {
			return err
		}
		if err := writeQrels(base+".qrels", x, e.Strategy, queries); err != nil {
			return err
		}
		fmt.Fprintf(w, "%s.run %s.qrels\n", base, base)
	}
	return nil
}

func runsOf(x *store.Experiment, strategy string) ([]metric.Run, error) {
	var runs []metric.Run
	for row, err := range x.Tree() {
		if err != nil {
			return nil, err
		}
		if row.Strategy != strategy {
			continue
		}
		if n := len(runs); n == 0 || string(runs[n-1].Query) != row.Query {
			runs = append(runs, metric.Run{Query: evalkit.QueryID(row.Query)})
		}
		r := &runs[len(runs)-1]
		r.Chunks = append(r.Chunks, evalkit.ChunkID{Doc: evalkit.DocID(row.Doc), Index: int(row.ChunkIndex)})
		r.Scores = append(r.Scores, row.Score)
	}
	return runs, nil
}

func writeQrels(name string, x *store.Experiment, strategy string, queries []store.QueryRow) error {
	texts, err := textsOf(x)
	if err != nil {
		return err
	}
	chunks := map[evalkit.DocID][]evalkit.Chunk{}
	for row, err := range x.Chunks() {
		if err != nil {
			return err
		}
		if c := chunkOf(row); row.Strategy == strategy {
			chunks[c.Doc] = append(chunks[c.Doc], c)
		}
	}
	return writeTo(name, func(w io.Writer) error {
		for _, q := range queries {
			j := evalkit.Judgments{Query: queryOf(q), Texts: texts, Chunks: chunks}
			if err := metric.WriteQrels(w, evalkit.QueryID(q.Query), metric.Grades(&j)); err != nil {
				return err
			}
		}
		return nil
	})
}

func queryOf(row store.QueryRow) evalkit.Query {
	q := evalkit.Query{ID: evalkit.QueryID(row.Query), Text: row.Question, Unanswerable: row.Unanswerable}
	for _, g := range row.Gold {
		q.Qrels = append(q.Qrels, evalkit.Qrel{Doc: evalkit.DocID(g.Doc), Span: evalkit.Span{Start: int(g.Start), End: int(g.End)}, Grade: g.Grade})
	}
	return q
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

// chunksOf returns all chunks.
func chunksOf(x *store.Experiment) (map[key]evalkit.Chunk, error) {
	out := map[key]evalkit.Chunk{}
	for row, err := range x.Chunks() {
		if err != nil {
			return nil, err
		}
		out[key{row.Strategy, row.Doc, row.ChunkIndex}] = chunkOf(row)
	}
	return out, nil
}

// textsOf returns what measures the documents of x.
func textsOf(x *store.Experiment) (*evalkit.Texts, error) {
	rows, err := x.Documents()
	if err != nil {
		return nil, err
	}
	tok, err := token.Parse(x.Record.Spec.Tokenizer)
	if err != nil {
		return nil, err
	}
	docs := make([]evalkit.Document, len(rows))
	for i, r := range rows {
		docs[i] = evalkit.Document{ID: evalkit.DocID(r.Doc), Text: r.Text}
	}
	return evalkit.NewTexts(docs, tok), nil
}

func chunkOf(row store.ChunkRow) evalkit.Chunk {
	c := evalkit.Chunk{
		Doc: evalkit.DocID(row.Doc), Index: int(row.ChunkIndex), Span: evalkit.Span{Start: int(row.Start), End: int(row.End)},
		Text: row.Text, Tokens: int(row.Tokens), Oversize: row.Oversize,
	}
	if row.Header != nil {
		c.Header = *row.Header
	}
	return c
}
