package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/expand"
	"github.com/chunkeval/chunkeval/evalkit/wire"
)

// queryFlags are the knobs of query.
type queryFlags struct {
	dataset, strategy, retriever, embedder string
	topK, prev, next                       int
	asJSON                                 bool
	cache                                  cacheFlags
}

func queryCommand() *cobra.Command {
	var f queryFlags
	c := &cobra.Command{
		Use:   "query --dataset DIR --strategy S QUESTION",
		Short: "Retrieve for one question and draw the expansion tree",
		Args:  cobra.ExactArgs(1),
		RunE:  func(cmd *cobra.Command, args []string) error { return query(cmd, args[0], f) },
	}
	c.Flags().StringVar(&f.dataset, "dataset", "", "folder of the data set (needed)")
	c.Flags().StringVar(&f.strategy, "strategy", "fixed_size(size=200)", "strategy")
	c.Flags().StringVar(&f.retriever, "retriever", wire.DefaultRetriever, "retriever")
	c.Flags().StringVar(&f.embedder, "embedder", "", "embedder (default lsa)")
	c.Flags().IntVar(&f.topK, "top-k", wire.DefaultTopK, "hits")
	c.Flags().IntVar(&f.prev, "neighbor-prev", 0, "previous neighbors of every hit; fixed_size only")
	c.Flags().IntVar(&f.next, "neighbor-next", 0, "next neighbors of every hit; fixed_size only")
	c.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
	f.cache.add(c)
	return c
}

func query(cmd *cobra.Command, question string, f queryFlags) (err error) {
	switch {
	case f.dataset == "":
		return usage(fmt.Errorf("query: --dataset is not given; name the folder of a data set"))
	case strings.TrimSpace(question) == "":
		return usage(fmt.Errorf("query: the question is empty"))
	case f.topK < 1 || f.prev < 0 || f.next < 0:
		return usage(fmt.Errorf("query: --top-k %d, --neighbor-prev %d, --neighbor-next %d: want at least 1, 0 and 0", f.topK, f.prev, f.next))
	}
	lab, err := f.cache.lab()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lab.Close()) }()
	config := &wire.Config{
		Dataset: wire.Value{Text: f.dataset}, Strategies: []wire.Value{{Text: f.strategy}},
		Scalar: map[string]wire.Value{"retriever": {Text: f.retriever}},
	}
	if f.embedder != "" {
		config.Scalar["embedder"] = wire.Value{Text: f.embedder}
	}
	groups, err := lab.Groups(config)
	if err != nil {
		return usage(err)
	}
	asker, err := groups[0].Asker(cmd.Context(), 0)
	if err != nil {
		return err
	}
	r, err := asker.Ask(cmd.Context(), evalkit.Query{ID: "query", Text: question}, f.topK, evalkit.Window{Prev: f.prev, Next: f.next})
	if err != nil {
		return err
	}
	if f.asJSON {
		e := json.NewEncoder(cmd.OutOrStdout())
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(r)
	}
	return printResponse(cmd.OutOrStdout(), r)
}

// printResponse draws the tree as an outline, then lists the context.
func printResponse(w io.Writer, r *expand.Response) error {
	p := &printer{w: w}
	p.f("question  %s\nstrategy  %s  top_k %d  ±%d/%d\n", r.Query, r.Strategy, r.TopK, r.NeighborPrev, r.NeighborNext)
	for _, warning := range r.Warnings {
		p.f("warning: %s\n", warning)
	}
	p.f("\nexpansion tree: %d hits\n", len(r.ExpansionTree))
	for _, e := range r.ExpansionTree {
		h := e.Hit
		p.f("\n%d. hit %s#%d [%d:%d)  score %s%s%s\n", h.Rank, h.Doc, h.ChunkIndex, h.Start, h.End, score(h.Score), leg("lexical", h.Lexical), leg("dense", h.Dense))
		for _, n := range e.NeighborsPrev {
			p.f("   ├─ prev %s\n", neighborLine(n))
		}
		p.f("   ● %s\n", preview(h.Text))
		for _, n := range e.NeighborsNext {
			p.f("   ├─ next %s\n", neighborLine(n))
		}
	}
	p.f("\ncontext: %d chunks, %d tokens\n", len(r.RetrievedChunks), r.Context.Tokens)
	for _, c := range r.RetrievedChunks {
		p.f("  %-8s %s#%d [%d:%d)\n", c.Label, c.Doc, c.ChunkIndex, c.Start, c.End)
	}
	p.f("\n%s\n", r.Context.Text)
	return p.err
}

// printer keeps the first error of a series of prints.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) f(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

func leg(name string, c *evalkit.Component) string {
	if c == nil {
		return "  " + name + " –"
	}
	return fmt.Sprintf("  %s #%d %s", name, c.Rank, score(c.Score))
}

// score prints four places, and no minus before a zero.
func score(v float64) string { return fmt.Sprintf("%.4f", math.Round(v*1e4)/1e4+0) }

func neighborLine(n expand.NeighborEntry) string {
	shared := ""
	if n.Shared {
		shared = " (shared)"
	}
	return fmt.Sprintf("%s#%d%s  %s", n.Doc, n.ChunkIndex, shared, preview(n.Text))
}

// preview is the start of a text on one line.
func preview(text string) string {
	const limit = 90
	line := strings.Join(strings.Fields(text), " ")
	if r := []rune(line); len(r) > limit {
		return string(r[:limit]) + "…"
	}
	return line
}
