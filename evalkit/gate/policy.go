package gate

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/compare"
)

// A Policy says what a candidate is held to.
type Policy struct {
	Alpha       float64 // of the family; intervals are 1-Alpha
	Significant Significant
	Rules       []Rule // the family: each rule is one test per strategy
	// Strategies are held to the policy; empty: all that both have. One with
	// fewer settings than it has names all that agree in those.
	Strategies []string
	// Seconds is the growth of a run's time that is allowed, as a share of the
	// baseline's; 0 does not look at it. It is one measurement, and no test.
	Seconds float64
	Seed    uint64
}

// Significant says what a loss that is significant means.
type Significant string

// The meanings of a significant loss.
const (
	SignificantBeyond Significant = "beyond" // it fails, unless it is shown to be within the margin
	SignificantFails  Significant = "fail"   // it fails, however small it is
	SignificantPasses Significant = "pass"   // only the margin decides
)

// A Rule is a metric with its margin.
type Rule struct {
	Measure  compare.Measure
	Margin   float64 // loss that is accepted, in the metric's unit or as a share
	Relative bool    // Margin is a share of the baseline's mean
}

// DefaultPolicy is in force where there is no file.
func DefaultPolicy() Policy {
	return Policy{Alpha: 0.05, Significant: SignificantBeyond, Seed: 1, Rules: []Rule{
		{compare.Measure{Metric: "recall", View: evalkit.Expanded}, 0.02, false},
		{compare.Measure{Metric: "full_evidence", View: evalkit.Expanded}, 0.03, false},
		{compare.Measure{Metric: "context_tokens", View: evalkit.Expanded}, 0.1, true},
	}}
}

// Measures returns those of the rules, in order.
func (p Policy) Measures() []compare.Measure {
	var out []compare.Measure
	for _, r := range p.Rules {
		out = append(out, r.Measure)
	}
	return out
}

// policyFile is a Policy as a file.
//
//	alpha: 0.05
//	significant: beyond       # the margin; fail: however small; pass: only the margin decides
//	metrics:
//	  - {metric: recall+, margin: 0.02}          # a plus: the expanded view
//	  - {metric: context_tokens+, margin: 10%}   # of the baseline's mean
//	strategies: [markdown(size=200)]  # default: all in common
//	seconds: 50%              # growth of the run's time
//	seed: 1
type policyFile struct {
	Alpha       *float64 `yaml:"alpha"`
	Significant string   `yaml:"significant"`
	Metrics     []struct {
		Metric string `yaml:"metric"`
		Margin string `yaml:"margin"`
	} `yaml:"metrics"`
	Strategies []string `yaml:"strategies"`
	Seconds    string   `yaml:"seconds"`
	Seed       uint64   `yaml:"seed"`
}

// ReadPolicy reads a policy file; what it leaves out is as in DefaultPolicy.
func ReadPolicy(path string) (Policy, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return Policy{}, err
	}
	p, err := parsePolicy(b)
	if err != nil {
		return Policy{}, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

func parsePolicy(b []byte) (Policy, error) {
	var f policyFile
	if err := yaml.UnmarshalWithOptions(b, &f, yaml.Strict()); err != nil {
		return Policy{}, errors.New(strings.TrimSpace(yaml.FormatError(err, false, true)))
	}
	p := DefaultPolicy()
	if f.Alpha != nil {
		if p.Alpha = *f.Alpha; !(p.Alpha > 0 && p.Alpha < 0.5) {
			return p, fmt.Errorf("alpha: %v: want above 0 and below 0.5", p.Alpha)
		}
	}
	switch w := Significant(f.Significant); w {
	case "":
	case SignificantBeyond, SignificantFails, SignificantPasses:
		p.Significant = w
	default:
		return p, fmt.Errorf("significant: %q: want beyond, fail or pass", w)
	}
	if f.Metrics != nil {
		p.Rules = nil
	}
	for i, m := range f.Metrics {
		r, err := parseRule(m.Metric, m.Margin)
		if err != nil {
			return p, fmt.Errorf("metrics[%d]: %w", i, err)
		}
		if slices.ContainsFunc(p.Rules, func(o Rule) bool { return o.Measure == r.Measure }) {
			return p, fmt.Errorf("metrics[%d]: %s is named twice", i, m.Metric)
		}
		p.Rules = append(p.Rules, r)
	}
	if len(p.Rules) == 0 {
		return p, errors.New("metrics: the list is empty")
	}
	for i, name := range f.Strategies {
		if _, err := evalkit.ParseExpr(name); err != nil {
			return p, fmt.Errorf("strategies[%d]: %w", i, err)
		}
	}
	p.Strategies = f.Strategies
	if f.Seconds != "" {
		share, relative, err := parseMargin(f.Seconds)
		if err != nil || !relative {
			return p, fmt.Errorf("seconds: %q: want a share such as 50%%", f.Seconds)
		}
		p.Seconds = share
	}
	if f.Seed != 0 {
		p.Seed = f.Seed
	}
	return p, nil
}

func parseRule(name, margin string) (Rule, error) {
	m, err := compare.ParseMeasure(name)
	if err != nil {
		return Rule{}, err
	}
	r := Rule{Measure: m}
	if r.Margin, r.Relative, err = parseMargin(margin); err != nil {
		return r, fmt.Errorf("%s: margin: %w", name, err)
	}
	return r, nil
}

// parseMargin reads "0.02" or "10%".
func parseMargin(s string) (v float64, relative bool, err error) {
	number, relative := strings.CutSuffix(strings.TrimSpace(s), "%")
	v, err = strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || v < 0 || v-v != 0 {
		return 0, false, fmt.Errorf("%q: want a number of at least 0, or a share such as 10%%", s)
	}
	if relative {
		v /= 100
	}
	return v, relative, nil
}

// keep leaves the strategies that the policy names, in copies. One that the
// baseline does not have is an error: a misspelled name would hold nothing.
func (p Policy) keep(loaded []*compare.Loaded) error {
	if len(p.Strategies) == 0 {
		return nil
	}
	var names []evalkit.Expr
	for _, s := range p.Strategies {
		e, err := evalkit.ParseExpr(s)
		if err != nil {
			return fmt.Errorf("strategies: %w", err)
		}
		if !slices.ContainsFunc(loaded[0].Arms, func(a *compare.Arm) bool { return selects(e, a.Strategy) }) {
			return fmt.Errorf("strategies: %s is not in baseline %s, which has %s", s, loaded[0].Column.ID, strategiesOf(loaded[0]))
		}
		names = append(names, e)
	}
	for i, l := range loaded {
		part := *l
		part.Arms = slices.DeleteFunc(slices.Clone(l.Arms), func(a *compare.Arm) bool {
			return !slices.ContainsFunc(names, func(e evalkit.Expr) bool { return selects(e, a.Strategy) })
		})
		if len(part.Arms) == 0 {
			return fmt.Errorf("strategies: candidate %s has none of them; it has %s", l.Column.ID, strategiesOf(l))
		}
		loaded[i] = &part
	}
	return nil
}

// selects reports whether strategy has the name and all the settings of e.
func selects(e evalkit.Expr, strategy string) bool {
	s, err := evalkit.ParseExpr(strategy)
	if err != nil || s.Name != e.Name {
		return false
	}
	for _, a := range e.Args {
		if !slices.Contains(s.Args, a) {
			return false
		}
	}
	return true
}

func strategiesOf(l *compare.Loaded) string {
	var out []string
	for _, a := range l.Arms {
		out = append(out, a.Strategy)
	}
	return strings.Join(out, ", ")
}
