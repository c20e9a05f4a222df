package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/chunkeval/chunkeval/evalkit/experiment"
	"github.com/chunkeval/chunkeval/evalkit/llm"
	"github.com/chunkeval/chunkeval/evalkit/wire"
)

func readPrices(path string) (llm.Prices, error) {
	if path == "" {
		return llm.Prices{}, nil
	}
	return wire.ReadPrices(path)
}

// dryRun prints what a run would send.
func dryRun(cmd *cobra.Command, groups []*wire.Group, prices llm.Prices) error {
	estimates, notes, err := wire.Estimate(cmd.Context(), groups)
	if err != nil {
		return err
	}
	if len(estimates) == 0 {
		_, err := fmt.Fprintln(cmd.OutOrStdout(), "nothing would be sent to a model behind HTTP")
		return err
	}
	return printEstimates(cmd.OutOrStdout(), estimates, notes, prices)
}

// printEstimates prints a table with costs where prices are known.
func printEstimates(w io.Writer, estimates []llm.Estimate, notes []string, prices llm.Prices) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "at most, if no cache knows an answer\n\nwhat\tmodel\tcalls\ttokens read\ttokens written\tcost")
	total, known := 0.0, true
	for _, e := range estimates {
		text := "no price given"
		cost, ok := prices.Cost(e.Model, e.Prompt, e.Completion)
		if ok {
			text = money(cost, prices.Currency)
		}
		total, known = total+cost, known && ok
		fmt.Fprintf(tw, "%s\t%s\t%d\t%d\t%d\t%s\n", e.What, e.Model, e.Calls, e.Prompt, e.Completion, text)
	}
	if known {
		fmt.Fprintf(tw, "all\t\t\t\t\t%s\n", money(total, prices.Currency))
	}
	for _, n := range notes {
		fmt.Fprintln(tw, "note:", n)
	}
	return tw.Flush()
}

func money(v float64, currency string) string {
	if currency == "" {
		return fmt.Sprintf("%.4f", v)
	}
	return fmt.Sprintf("%.4f %s", v, currency)
}

// showAnswers prints what was answered, and what models behind HTTP took.
func showAnswers(w io.Writer, r experiment.Record) {
	for _, e := range r.Effective {
		a := e.Answers
		if a == nil {
			continue
		}
		fmt.Fprintf(w, "\nanswers, %s\t%d\tfailed %d\tabstained %d\ttokens %d + %d\n", e.Strategy, a.N, a.Failed, a.Abstained, a.PromptTokens, a.CompletionTokens)
		for _, m := range a.Means {
			fmt.Fprintf(w, "%s\t%s\tn %d\tundefined %d\n", m.Metric, number(m.Mean), m.N, m.Undefined)
		}
		for _, g := range a.Agreement {
			fmt.Fprintf(w, "kappa of two passes, %s\t%s\tpairs %d\t%s\n", g.Metric, number(g.Kappa), g.Pairs, g.Note)
		}
	}
	for _, u := range r.Provenance.Usage {
		fmt.Fprintf(w, "\nsent by %s, %s\t%d calls\t%d tried again\ttokens %d + %d", u.Role, u.Model, u.Calls, u.Retries, u.PromptTokens, u.CompletionTokens)
		if u.Cost != nil {
			fmt.Fprintf(w, "\t%s", money(*u.Cost, u.Currency))
		}
		if u.Note != "" {
			fmt.Fprintf(w, "\t%s", u.Note)
		}
		fmt.Fprintln(w)
	}
}

// printAnswer prints the answer to one query, with its scores and verdicts.
func printAnswer(w io.Writer, a *experiment.Answer) error {
	if a == nil {
		return nil
	}
	p := &printer{w: w}
	switch {
	case a.Text == "":
		p.f("\nno answer: %s\n", a.Failed)
	case a.Failed != "":
		p.f("\nanswer: %s\n%s\n", a.Text, a.Failed)
	default:
		p.f("\nanswer: %s\n", a.Text)
	}
	for _, s := range a.Scores {
		if s.Reason != "" {
			p.f("  %s n/a (%s)\n", s.Metric, s.Reason)
			continue
		}
		p.f("  %s %.4g\n", s.Metric, s.Value)
	}
	for _, v := range a.Verdicts {
		p.f("  %s, pass %d of %s: %s: %s\n", v.Metric, v.Pass, v.Judge, v.Verdict, preview(v.Raw))
	}
	return p.err
}
