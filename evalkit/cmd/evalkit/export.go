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
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/metric"
	"github.com/chunkeval/chunkeval/evalkit/store"
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
--jsonl prints a table: queries, chunks, tree, retrieved, scores or summary.`,
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
		return usage(fmt.Errorf("export: unknown table %q: known are queries, chunks, tree, retrieved, scores, summary", table))
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
	ds, chunks, err := corpusOf(x, strategy, queries)
	if err != nil {
		return err
	}
	texts := evalkit.NewTexts(ds.Docs, nil)
	return writeTo(name, func(w io.Writer) error {
		for _, q := range ds.Queries {
			j := evalkit.Judgments{Query: q, Texts: texts, Chunks: chunks}
			if err := metric.WriteQrels(w, q.ID, metric.Grades(&j)); err != nil {
				return err
			}
		}
		return nil
	})
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

// chunksOf returns all chunks and what measures them.
// Documents are put together from their chunks: what lies between chunks is
// white space, and no piece of a context reaches over it.
func chunksOf(x *store.Experiment) (map[key]evalkit.Chunk, *evalkit.Texts, error) {
	out := map[key]evalkit.Chunk{}
	docs := map[string][]byte{}
	for row, err := range x.Chunks() {
		if err != nil {
			return nil, nil, err
		}
		out[key{row.Strategy, row.Doc, row.ChunkIndex}] = chunkOf(row)
		docs[row.Doc] = place(docs[row.Doc], row)
	}
	tok, err := tokenizer(x)
	if err != nil {
		return nil, nil, err
	}
	return out, evalkit.NewTexts(documents(docs), tok), nil
}

// corpusOf returns what one strategy's metrics need of the data set.
func corpusOf(x *store.Experiment, strategy string, queries []store.QueryRow) (*evalkit.Dataset, map[evalkit.DocID][]evalkit.Chunk, error) {
	chunks := map[evalkit.DocID][]evalkit.Chunk{}
	docs := map[string][]byte{}
	for row, err := range x.Chunks() {
		if err != nil {
			return nil, nil, err
		}
		if row.Strategy == strategy {
			chunks[evalkit.DocID(row.Doc)] = append(chunks[evalkit.DocID(row.Doc)], chunkOf(row))
		}
		docs[row.Doc] = place(docs[row.Doc], row)
	}
	ds := &evalkit.Dataset{}
	for _, q := range queries {
		out := evalkit.Query{ID: evalkit.QueryID(q.Query), Text: q.Question, Unanswerable: q.Unanswerable}
		for _, g := range q.Gold {
			docs[g.Doc] = place(docs[g.Doc], store.ChunkRow{Start: g.Start, End: g.End, Text: g.Text})
			out.Qrels = append(out.Qrels, evalkit.Qrel{Doc: evalkit.DocID(g.Doc), Span: evalkit.Span{Start: int(g.Start), End: int(g.End)}, Grade: g.Grade})
		}
		ds.Queries = append(ds.Queries, out)
	}
	ds.Docs = documents(docs)
	return ds, chunks, nil
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

// place copies the text of row to its place in a document.
func place(doc []byte, row store.ChunkRow) []byte {
	if n := int(row.End) - len(doc); n > 0 {
		doc = append(doc, slices.Repeat([]byte{' '}, n)...)
	}
	copy(doc[row.Start:row.End], row.Text)
	return doc
}

func documents(docs map[string][]byte) []evalkit.Document {
	var out []evalkit.Document
	for id, text := range docs {
		out = append(out, evalkit.Document{ID: evalkit.DocID(id), Text: string(text)})
	}
	slices.SortFunc(out, func(a, b evalkit.Document) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return out
}
