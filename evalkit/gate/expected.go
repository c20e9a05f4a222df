package gate

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/chunkeval/chunkeval/evalkit/compare"
	"github.com/chunkeval/chunkeval/evalkit/experiment"
)

// Expected are the numbers that a configuration gives, as a file under
// reports/. A tolerance of 0 means that every printed digit must agree.
//
//	config: ../scripts/handbook.yaml
//	title: …
//	about: …
//	expected:
//	  - {experiment: name, strategy: s, metric: recall+, value: 0.645617, tolerance: 0}
type Expected struct {
	Config string   `yaml:"config"`
	Title  string   `yaml:"title"`
	About  string   `yaml:"about"`
	Rows   []Number `yaml:"expected"`
}

// A Number is one mean.
type Number struct {
	Experiment string  `yaml:"experiment"`
	Strategy   string  `yaml:"strategy"`
	Metric     string  `yaml:"metric"` // a plus marks the expanded view
	Value      float64 `yaml:"value"`
	Tolerance  float64 `yaml:"tolerance"`
}

// places is the number of places of an expected value.
const places = 6

// ReadExpected reads such a file.
func ReadExpected(path string) (*Expected, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var e Expected
	if err := yaml.UnmarshalWithOptions(b, &e, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("%s: %s", path, strings.TrimSpace(yaml.FormatError(err, false, true)))
	}
	if e.Config == "" {
		return nil, fmt.Errorf("%s: config: not given; name the configuration that gives the numbers", path)
	}
	for i, n := range e.Rows {
		if !(n.Tolerance >= 0 && n.Tolerance < math.Inf(1)) || n.Value-n.Value != 0 {
			return nil, fmt.Errorf("%s: expected[%d]: value %v, tolerance %v: want numbers, and a tolerance of at least 0", path, i, n.Value, n.Tolerance)
		}
	}
	return &e, nil
}

// UnmarshalYAML refuses a number without a value.
func (n *Number) UnmarshalYAML(unmarshal func(any) error) error {
	var row struct {
		Experiment string   `yaml:"experiment"`
		Strategy   string   `yaml:"strategy"`
		Metric     string   `yaml:"metric"`
		Value      *float64 `yaml:"value"`
		Tolerance  float64  `yaml:"tolerance"`
	}
	if err := unmarshal(&row); err != nil {
		return err
	}
	if row.Value == nil {
		return fmt.Errorf("expected: %s, %s, %s: has no value", row.Experiment, row.Strategy, row.Metric)
	}
	*n = Number{row.Experiment, row.Strategy, row.Metric, *row.Value, row.Tolerance}
	return nil
}

// An Outcome is what became of one expected number.
type Outcome struct {
	Number
	Got  *float64 // nil: there is no such number
	Text string   // "OK", "OK within tolerance" or "FAIL"
}

// Reproduce holds what was run to what is expected. ok is false if any fails.
func (e *Expected) Reproduce(all []*experiment.Result) (out []Outcome, ok bool) {
	ok = true
	for _, n := range e.Rows {
		o := Outcome{Number: n, Got: find(all, n), Text: "FAIL"}
		if o.Got != nil {
			switch off := math.Abs(round(*o.Got) - n.Value); {
			case off == 0:
				o.Text = "OK"
			case off <= n.Tolerance:
				o.Text = "OK within tolerance"
			}
		}
		ok = ok && o.Text != "FAIL"
		out = append(out, o)
	}
	return out, ok
}

func round(v float64) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'f', places, 64), 64)
	return r
}

func find(all []*experiment.Result, n Number) *float64 {
	for _, x := range all {
		if x.Record.Spec.Name != n.Experiment {
			continue
		}
		for _, s := range x.Strategies {
			for _, row := range s.Summary {
				if s.Strategy == n.Strategy && (compare.Measure{Metric: row.Metric, View: row.View}).String() == n.Metric {
					return row.Mean
				}
			}
		}
	}
	return nil
}

// Update replaces the expected numbers by what was run: the headline of every
// strategy. exact tells which Experiments have a tolerance of 0; loose is that
// of the others.
func (e *Expected) Update(all []*experiment.Result, exact func(experiment.Spec) bool, loose float64) {
	e.Rows = nil
	for _, x := range all {
		tolerance := loose
		if exact(x.Record.Spec) {
			tolerance = 0
		}
		for _, s := range x.Strategies {
			for _, m := range compare.Headline() {
				n := Number{Experiment: x.Record.Spec.Name, Strategy: s.Strategy, Metric: m.String(), Tolerance: tolerance}
				if v := find(all, n); v != nil {
					n.Value = round(*v)
					e.Rows = append(e.Rows, n)
				}
			}
		}
	}
}

// Write writes the file.
func (e *Expected) Write(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Expected numbers. evalkit reproduce checks them; with --update it writes them.\nconfig: %s\ntitle: %s\nabout: %s\nexpected:\n", e.Config, strconv.Quote(e.Title), strconv.Quote(e.About))
	for _, n := range e.Rows {
		fmt.Fprintf(&b, "  - {experiment: %q, strategy: %q, metric: %q, value: %.*f, tolerance: %v}\n", n.Experiment, n.Strategy, n.Metric, places, n.Value, n.Tolerance)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// Page writes the expected numbers of several files as Markdown. It depends on
// the files alone.
func Page(w io.Writer, files []string) error {
	var b strings.Builder
	b.WriteString("# Numbers to reproduce\n\nGenerated by `evalkit reproduce --page` from the YAML files beside it; do not edit. `make reproduce` runs them all and says OK, OK within tolerance or FAIL.\n")
	var errs []error
	for _, path := range files {
		e, err := ReadExpected(path)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\nConfiguration: `%s`.\n", e.Title, e.About, strings.TrimPrefix(e.Config, "../"))
		e.tables(&b)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// tables writes a table per Experiment: strategies by metrics.
func (e *Expected) tables(b *strings.Builder) {
	var names []string
	for _, n := range e.Rows {
		if !slices.Contains(names, n.Experiment) {
			names = append(names, n.Experiment)
		}
	}
	for _, name := range names {
		var metrics, strategies []string
		values, tolerance := map[[2]string]float64{}, 0.0
		for _, n := range e.Rows {
			if n.Experiment != name {
				continue
			}
			if !slices.Contains(metrics, n.Metric) {
				metrics = append(metrics, n.Metric)
			}
			if !slices.Contains(strategies, n.Strategy) {
				strategies = append(strategies, n.Strategy)
			}
			values[[2]string{n.Strategy, n.Metric}], tolerance = n.Value, n.Tolerance
		}
		fmt.Fprintf(b, "\n### %s\n\nTolerance %v.\n\n| strategy | %s |\n|---|%s\n", cell(name), tolerance, strings.Join(metrics, " | "), strings.Repeat("--:|", len(metrics)))
		for _, s := range strategies {
			fmt.Fprintf(b, "| `%s` |", cell(s))
			for _, m := range metrics {
				fmt.Fprintf(b, " %.4g |", values[[2]string{s, m}])
			}
			b.WriteString("\n")
		}
	}
}
