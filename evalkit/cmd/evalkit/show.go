package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/expand"
	"github.com/chunkeval/chunkeval/evalkit/store"
)

func showCommand() *cobra.Command {
	var results, query string
	var asJSON bool
	c := &cobra.Command{
		Use:   "show ID",
		Short: "Print one Experiment in full, or with --query one of its questions",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			x, err := store.Open(results, args[0])
			if err != nil {
				return usage(err)
			}
			for _, notice := range x.Notices {
				fmt.Fprintln(cmd.ErrOrStderr(), "warning:", notice)
			}
			if query != "" {
				return showQuery(cmd.OutOrStdout(), x, query, asJSON)
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), x.Record)
			}
			return showExperiment(cmd.OutOrStdout(), x)
		},
	}
	resultsFlag(c, &results)
	c.Flags().StringVar(&query, "query", "", "id of a question")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// showExperiment prints the record and every metric in both views.
func showExperiment(w io.Writer, x *store.Experiment) error {
	r := x.Record
	p := &printer{w: w}
	p.f("%s\n  name       %s\n  data set   %s, %d documents, %d questions, %d gold spans (%.12s)\n", r.ID, r.Spec.Name, r.Dataset.Name, r.Dataset.Docs, r.Dataset.Queries, r.Dataset.Gold, r.Dataset.Fingerprint)
	p.f("  retriever  %s\n  embedder   %s\n  tokenizer  %s\n  analyzer   %s\n", r.Spec.Retriever, orDash(r.Spec.Embedder), r.Spec.Tokenizer, r.Spec.Analyzer)
	p.f("  top_k      %d\n  neighbors  %s  neighbor_prev %d, neighbor_next %d\n", r.Spec.TopK, badge(x), r.Spec.NeighborPrev, r.Spec.NeighborNext)
	p.f("  run        %s, %.1f s, %d units restored, %s\n\n", r.Provenance.Started, r.Provenance.Seconds, r.Provenance.Restored, r.Provenance.Go)
	if p.err != nil {
		return p.err
	}
	if err := printTable(w, []*store.Experiment{x}); err != nil {
		return err
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "\nstrategy\tchunks\ttokens: mean\tmin\tmax\toversize\tunanswerable: tokens\ttokens+\tAUROC")
	for _, e := range r.Effective {
		c := e.Chunks
		fmt.Fprintf(tw, "%s\t%d\t%.1f\t%d\t%d\t%d", e.Strategy, c.N, c.MeanTokens, c.MinTokens, c.MaxTokens, c.Oversize)
		if u := e.Unanswerable; u != nil {
			fmt.Fprintf(tw, "\t%s\t%s\t%s", number(u.TokensHitOnly), number(u.TokensExpanded), number(u.AUROC))
		}
		fmt.Fprintln(tw)
	}
	summary, err := x.Summary()
	if err != nil {
		return err
	}
	last := ""
	for _, s := range summary {
		if s.Strategy != last {
			fmt.Fprintf(tw, "\n%s\nmetric\tview\tmean\tsd\tby document\tn\tundefined\tfailed\n", s.Strategy)
			last = s.Strategy
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%d\t%d\t%d\n", s.Metric, s.View, number(s.Mean), number(s.SD), number(s.MacroDoc), s.N, s.Undefined, s.Failed)
	}
	return tw.Flush()
}

func number(v *float64) string {
	if v == nil {
		return "n/a"
	}
	return fmt.Sprintf("%.4g", *v)
}

// showQuery prints what one question retrieved, for every strategy, from the
// stored tree and flat list.
func showQuery(w io.Writer, x *store.Experiment, id string, asJSON bool) error {
	q, err := findQuery(x, id)
	if err != nil {
		return usage(err)
	}
	responses, err := responsesOf(x, q)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(w, responses)
	}
	for _, g := range q.Gold {
		fmt.Fprintf(w, "gold %s [%d:%d) %s\n", g.Doc, g.Start, g.End, preview(g.Text))
	}
	if q.Answer != nil {
		fmt.Fprintf(w, "answer %s\n", *q.Answer)
	}
	for _, r := range responses {
		fmt.Fprintln(w, "\n"+strings.Repeat("─", 72))
		if err := printResponse(w, r); err != nil {
			return err
		}
		if err := printScores(w, x, r.Strategy, id); err != nil {
			return err
		}
	}
	return nil
}

func findQuery(x *store.Experiment, id string) (store.QueryRow, error) {
	queries, err := x.Queries()
	if err != nil {
		return store.QueryRow{}, err
	}
	var ids []string
	for _, q := range queries {
		if q.Query == id {
			return q, nil
		}
		ids = append(ids, q.Query)
	}
	if best, ok := evalkit.Nearest(id, ids); ok {
		return store.QueryRow{}, fmt.Errorf("experiment %q has no query %q: did you mean %q?", x.Record.ID, id, best)
	}
	return store.QueryRow{}, fmt.Errorf("experiment %q has no query %q", x.Record.ID, id)
}

// responsesOf returns the stored response of q for every strategy.
func responsesOf(x *store.Experiment, q store.QueryRow) ([]*expand.Response, error) {
	chunks, err := chunksOf(x)
	if err != nil {
		return nil, err
	}
	texts, err := textsOf(x)
	if err != nil {
		return nil, err
	}
	var out []*expand.Response
	for _, e := range x.Record.Effective {
		var tree []evalkit.ExpandedHit
		var flat []evalkit.RetrievedChunk
		get := func(doc string, index int32) evalkit.Chunk { return chunks[key{e.Strategy, doc, index}] }
		for row, err := range x.Tree() {
			if err != nil {
				return nil, err
			}
			if row.Strategy == e.Strategy && row.Query == q.Query {
				tree = append(tree, treeEntry(row, get))
			}
		}
		for row, err := range x.Retrieved() {
			if err != nil {
				return nil, err
			}
			if row.Strategy == e.Strategy && row.Query == q.Query {
				flat = append(flat, evalkit.RetrievedChunk{
					Chunk: get(row.Doc, row.ChunkIndex), Role: evalkit.Role(row.Label), Rank: int(row.Rank), Score: row.Score, Distance: int(row.Distance),
				})
			}
		}
		r := expand.Request{Query: q.Question, Strategy: e.Strategy, TopK: x.Record.Spec.TopK, Window: evalkit.Window{Prev: e.NeighborPrev, Next: e.NeighborNext}}
		response := expand.NewResponse(r, tree, flat, texts)
		if e.Note != "" {
			response.Warnings = append(response.Warnings, e.Note)
		}
		out = append(out, response)
	}
	return out, nil
}

// key identifies a chunk of an Experiment.
type key struct {
	strategy, doc string
	index         int32
}

func treeEntry(row store.TreeRow, get func(string, int32) evalkit.Chunk) evalkit.ExpandedHit {
	h := evalkit.Hit{Chunk: get(row.Doc, row.ChunkIndex), Rank: int(row.Rank), Score: row.Score, Lexical: component(row.LexicalRank, row.LexicalScore), Dense: component(row.DenseRank, row.DenseScore)}
	e := evalkit.ExpandedHit{Hit: h, NeighborsPrev: []evalkit.Chunk{}, NeighborsNext: []evalkit.Chunk{}}
	for _, n := range row.NeighborsPrev {
		e.NeighborsPrev = append(e.NeighborsPrev, get(row.Doc, n.ChunkIndex))
	}
	for _, n := range row.NeighborsNext {
		e.NeighborsNext = append(e.NeighborsNext, get(row.Doc, n.ChunkIndex))
	}
	return e
}

func component(rank *int32, score *float64) evalkit.Component {
	if rank == nil || score == nil {
		return evalkit.Component{}
	}
	return evalkit.Component{Rank: int(*rank), Score: *score}
}

// printScores prints the values of one query.
func printScores(w io.Writer, x *store.Experiment, strategy, query string) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "metric\tview\tvalue")
	for row, err := range x.Scores() {
		if err != nil {
			return err
		}
		if row.Strategy != strategy || row.Query != query {
			continue
		}
		value := number(row.Value)
		if row.Reason != nil {
			value += " (" + *row.Reason + ")"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\n", row.Metric, row.View, value)
	}
	return tw.Flush()
}
