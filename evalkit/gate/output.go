package gate

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/chunkeval/chunkeval/evalkit/expand"
)

// Text writes a short verdict for a log.
func (v *Verdict) Text(w io.Writer) error {
	fmt.Fprintf(w, "%s: %s against baseline %s\n", strings.ToUpper(string(v.State)), v.Candidate, v.Baseline)
	for _, x := range v.Warnings {
		fmt.Fprintf(w, "warning: %s\n", x)
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "state\tstrategy\tmetric\tbaseline\tcandidate\tΔ\tinterval\tp\tmargin\twhy")
	for _, k := range v.Checks {
		delta, interval, p := k.delta()
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", k.State, k.Strategy, k.Metric, number(k.Baseline), number(k.Value), delta, interval, p, k.margin(), k.Text)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "%s; intervals %.0f %%\n", v.Family, 100*v.Family.Level)
	if len(v.Regressed) == 0 {
		return nil
	}
	fmt.Fprintln(w, "\nquestions that lost most:")
	for _, r := range v.Regressed {
		if _, err := io.WriteString(w, r.text()); err != nil {
			return err
		}
	}
	return nil
}

// text tells of a question, with its tree.
func (r Regressed) text() string {
	return fmt.Sprintf("\n%s  %s\n  %s  %s %.3g → %.3g\n%s", r.Query, r.Question, r.Strategy, r.Metric, r.Baseline, r.Value, tree(r.Response, "  "))
}

// delta prints the difference, its interval and the corrected p of a check.
func (k Check) delta() (delta, interval, p string) {
	delta, interval, p = "–", "–", "–"
	if k.Delta == nil {
		return
	}
	delta = fmt.Sprintf("%+.4g", k.Delta.Mean)
	if i := k.Delta.Interval(); i != nil {
		interval = fmt.Sprintf("[%+.3g, %+.3g]", i.Lo, i.Hi)
	}
	if k.Delta.Holm != nil {
		p = pvalue(*k.Delta.Holm)
	}
	return
}

// margin prints the margin of what has one.
func (k Check) margin() string {
	if k.Baseline == nil {
		return "–"
	}
	return fmt.Sprintf("%.4g", k.Margin)
}

func number(v *float64) string {
	if v == nil {
		return "n/a"
	}
	return fmt.Sprintf("%.4g", *v)
}

// tree draws a stored expansion tree as an outline.
func tree(r *expand.Response, indent string) string {
	if r == nil {
		return ""
	}
	var b strings.Builder
	for _, e := range r.ExpansionTree {
		fmt.Fprintf(&b, "%s%d. hit %s#%d  score %.4f\n", indent, e.Hit.Rank, e.Hit.Doc, e.Hit.ChunkIndex, e.Hit.Score)
		for _, n := range e.NeighborsPrev {
			fmt.Fprintf(&b, "%s   ├─ prev %s#%d  %s\n", indent, n.Doc, n.ChunkIndex, preview(n.Text))
		}
		fmt.Fprintf(&b, "%s   ● %s\n", indent, preview(e.Hit.Text))
		for _, n := range e.NeighborsNext {
			fmt.Fprintf(&b, "%s   ├─ next %s#%d  %s\n", indent, n.Doc, n.ChunkIndex, preview(n.Text))
		}
	}
	if len(r.ExpansionTree) == 0 {
		fmt.Fprintf(&b, "%snothing was retrieved\n", indent)
	}
	return b.String()
}

// preview is the start of a text on one line.
func preview(text string) string {
	line := strings.Join(strings.Fields(text), " ")
	if r := []rune(line); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return line
}

// Markdown writes the verdict for a pull request.
func (v *Verdict) Markdown(w io.Writer) error {
	var b strings.Builder
	mark := map[State]string{Pass: "✓", Inconclusive: "?", Fail: "✗"}
	fmt.Fprintf(&b, "## %s Retrieval: %s\n\n`%s` against baseline `%s`", mark[v.State], v.State, v.Candidate, v.Baseline)
	if v.Reason != "" {
		fmt.Fprintf(&b, " (%s)", cell(v.Reason))
	}
	b.WriteString(".\n\n")
	for _, x := range v.Warnings {
		fmt.Fprintf(&b, "> **Warning** %s\n\n", cell(x))
	}
	b.WriteString("| | strategy | metric | baseline | candidate | Δ | interval | p | margin | |\n|---|---|---|--:|--:|--:|---|--:|--:|---|\n")
	for _, k := range v.Checks {
		delta, interval, p := k.delta()
		fmt.Fprintf(&b, "| %s %s | `%s` | %s | %s | %s | %s | %s | %s | %s | %s |\n", mark[k.State], k.State, cell(k.Strategy), cell(k.Metric), number(k.Baseline), number(k.Value), delta, interval, p, k.margin(), cell(k.Text))
	}
	fmt.Fprintf(&b, "\n%s; intervals %.0f %%.\n", v.Family, 100*v.Family.Level)
	if len(v.Regressed) > 0 {
		fmt.Fprintf(&b, "\n<details><summary>%d questions that lost most</summary>\n\n", len(v.Regressed))
		for _, r := range v.Regressed {
			fmt.Fprintf(&b, "**%s** %s — `%s`, %s %.3g → %.3g\n\n%s\n", cell(string(r.Query)), cell(r.Question), cell(r.Strategy), cell(r.Metric), r.Baseline, r.Value, fenced(tree(r.Response, "")))
		}
		b.WriteString("</details>\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// cell makes a text safe for a table of Markdown.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;", ">", "&gt;", "`", "'").Replace(s)
}

// fenced puts a text into a fence that it does not hold.
func fenced(s string) string {
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence + "\n" + s + fence + "\n"
}

type testSuite struct {
	XMLName  xml.Name   `xml:"testsuite"`
	Name     string     `xml:"name,attr"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Skipped  int        `xml:"skipped,attr"`
	Cases    []testCase `xml:"testcase"`
	Out      string     `xml:"system-out,omitempty"`
}

type testCase struct {
	Class   string   `xml:"classname,attr"`
	Name    string   `xml:"name,attr"`
	Failure *message `xml:"failure,omitempty"`
	Skipped *message `xml:"skipped,omitempty"`
}

type message struct {
	Text string `xml:"message,attr"`
	Body string `xml:",chardata"`
}

// JUnit writes the verdict as JUnit XML: a check is a test case, one that is
// inconclusive is skipped. The questions that lost most stand with their check,
// and in the output of the suite with all the rest.
func (v *Verdict) JUnit(w io.Writer) error {
	s := testSuite{Name: "evalkit gate " + v.Candidate, Tests: len(v.Checks)}
	for _, k := range v.Checks {
		c := testCase{Class: clean(k.Strategy), Name: clean(k.Metric)}
		delta, interval, p := k.delta()
		var body strings.Builder
		body.WriteString(fmt.Sprintf("baseline %s, candidate %s, Δ %s %s, p %s, margin %s\n", number(k.Baseline), number(k.Value), delta, interval, p, k.margin()))
		for _, r := range v.Regressed {
			if r.Strategy == k.Strategy && r.Metric == k.Metric {
				body.WriteString(r.text())
			}
		}
		m := &message{Text: clean(k.Text), Body: clean(body.String())}
		switch k.State {
		case Fail:
			c.Failure = m
			s.Failures++
		case Inconclusive:
			c.Skipped = m
			s.Skipped++
		}
		s.Cases = append(s.Cases, c)
	}
	var out strings.Builder
	if err := v.Text(&out); err != nil {
		return err
	}
	s.Out = clean(out.String())
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(s); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// clean drops characters that XML 1.0 cannot hold.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' || r >= ' ' && r != '\ufffe' && r != '\uffff' {
			return r
		}
		return '\ufffd'
	}, s)
}

func pvalue(p float64) string {
	if p < 0.0001 {
		return "<0.0001"
	}
	return fmt.Sprintf("%.4f", p)
}
