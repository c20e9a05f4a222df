package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/expand"
	"github.com/chunkeval/chunkeval/evalkit/experiment"
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
				return showJSON(cmd.OutOrStdout(), x)
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

// showJSON prints the record with the summary beside it.
func showJSON(w io.Writer, x *store.Experiment) error {
	summary, err := x.Summary()
	if err != nil {
		return err
	}
	return printJSON(w, struct {
		experiment.Record
		Summary any `json:"summary"` // as export --jsonl summary has it
	}{x.Record, columns(reflect.ValueOf(summary))})
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
	showAnswers(tw, r)
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
	if math.Abs(*v) < 1e-12 {
		return "0" // what rounding left of it
	}
	return fmt.Sprintf("%.4g", *v)
}

// showQuery prints what one question retrieved, for every strategy, from the
// stored tree and flat list.
func showQuery(w io.Writer, x *store.Experiment, id string, asJSON bool) error {
	ds, err := x.Dataset()
	if err != nil {
		return err
	}
	at, err := findQuery(x.Record.ID, ds.Queries, id)
	if err != nil {
		return usage(err)
	}
	q := ds.Queries[at]
	texts, err := textsOf(x, ds)
	if err != nil {
		return err
	}
	if !asJSON {
		for _, g := range q.Qrels {
			fmt.Fprintf(w, "gold %s %v %s\n", g.Doc, g.Span, preview(texts.Text(g.Doc, g.Span)))
		}
		if q.Answer != "" {
			fmt.Fprintf(w, "answer %s\n", q.Answer)
		}
	}
	var responses []*expand.Response
	for i, e := range x.Record.Effective {
		s, err := x.Strategy(i)
		if err != nil {
			return err
		}
		response := responseOf(x.Record, e, q, &s.Queries[at], texts)
		if asJSON {
			responses = append(responses, response)
			continue
		}
		fmt.Fprintln(w, "\n"+strings.Repeat("─", 72))
		if err := errors.Join(printResponse(w, response), printScores(w, s.Queries[at].Scores), printAnswer(w, s.Queries[at].Answer)); err != nil {
			return err
		}
	}
	if asJSON {
		return printJSON(w, responses)
	}
	return nil
}

func findQuery(experiment string, queries []evalkit.Query, id string) (int, error) {
	var ids []string
	for i, q := range queries {
		if string(q.ID) == id {
			return i, nil
		}
		ids = append(ids, string(q.ID))
	}
	if best, ok := evalkit.Nearest(id, ids); ok {
		return 0, fmt.Errorf("experiment %q has no query %q: did you mean %q?", experiment, id, best)
	}
	return 0, fmt.Errorf("experiment %q has no query %q", experiment, id)
}

// responseOf returns the stored response of q.
func responseOf(rec experiment.Record, e experiment.Effective, q evalkit.Query, r *experiment.QueryResult, texts *evalkit.Texts) *expand.Response {
	req := expand.Request{Query: q.Text, Strategy: e.Strategy, TopK: rec.Spec.TopK, Window: evalkit.Window{Prev: e.NeighborPrev, Next: e.NeighborNext}}
	response := expand.NewResponse(req, r.Tree, r.Flat, texts)
	if e.Note != "" {
		response.Warnings = append(response.Warnings, e.Note)
	}
	return response
}

// printScores prints the values of one query.
func printScores(w io.Writer, scores []experiment.Score) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "metric\tview\tvalue")
	for _, s := range scores {
		value := fmt.Sprintf("%.4g", s.Value)
		if s.Reason != "" {
			value = "n/a (" + s.Reason + ")"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\n", s.Metric, s.View, value)
	}
	return tw.Flush()
}
