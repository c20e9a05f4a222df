package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/compare"
)

// A State is an answer.
type State string

// The states, from the best to the worst.
const (
	Pass         State = "pass"
	Inconclusive State = "inconclusive"
	Fail         State = "fail"
)

// minQuestions is the number of pairs below which nothing passes or fails.
const minQuestions = 20

// A Verdict is the answer for a candidate.
type Verdict struct {
	State     State             `json:"state"`
	Baseline  string            `json:"baseline"`
	Candidate string            `json:"candidate"`
	Reason    string            `json:"reason"`   // of the baseline, as it was recorded
	Warnings  []string          `json:"warnings"` // soft: what differs beside the change
	Checks    []Check           `json:"checks"`
	Missing   []evalkit.QueryID `json:"missing"` // questions that the candidate lacks
	Family    compare.Family    `json:"family"`
	Regressed []Regressed       `json:"regressed"` // the worst questions
}

// A Check is one rule for one strategy.
type Check struct {
	Strategy string         `json:"strategy"`
	Metric   string         `json:"metric"` // a plus marks the expanded view
	State    State          `json:"state"`
	Text     string         `json:"text"` // why, a sentence
	Baseline *float64       `json:"baseline"`
	Value    *float64       `json:"value"`
	Margin   float64        `json:"margin"` // in the metric's unit
	Delta    *compare.Delta `json:"delta"`
	// Detectable is the smallest true loss that this many questions fail with
	// 80 % power, after correction; nil if nothing varies.
	Detectable *float64        `json:"detectable_loss,omitempty"`
	Needed     int             `json:"needed_queries,omitempty"` // of an inconclusive check
	Measure    compare.Measure `json:"-"`
}

// Options of a gate beside its policy.
type Options struct {
	// ChangedData allows another fingerprint or other gold; questions are still
	// paired by id and text, and those that are missing fail.
	ChangedData bool
	Renamed     []Renamed
}

// Decide holds a candidate against a baseline. What cannot be compared is an error.
func Decide(baseline, candidate compare.Input, p Policy, o Options) (*Verdict, error) {
	co := compare.Options{Level: 1 - p.Alpha, Seed: p.Seed, Measures: p.Measures()}
	var loaded []*compare.Loaded
	for _, in := range []compare.Input{baseline, candidate} {
		l, err := compare.Load(in, co)
		if err != nil {
			return nil, err
		}
		loaded = append(loaded, l)
	}
	if err := p.keep(loaded); err != nil {
		return nil, err
	}
	notes, err := pair(loaded, o.Renamed)
	if err != nil {
		return nil, err
	}
	c, err := compare.New(loaded, co)
	if err != nil {
		return nil, err
	}
	v := &Verdict{State: Pass, Baseline: loaded[0].Column.ID, Candidate: loaded[1].Column.ID, Warnings: []string{}, Missing: []evalkit.QueryID{}, Regressed: []Regressed{}, Family: c.Family}
	if err := changed(c, o); err != nil {
		return nil, err
	}
	v.Warnings = append(v.Warnings, notes...)
	for _, w := range c.Warnings {
		v.Warnings = append(v.Warnings, w.Text)
	}
	strict, err := strictly(c, loaded, co)
	if err != nil {
		return nil, err
	}
	if err := v.check(c, strict, loaded, p); err != nil {
		return nil, err
	}
	v.missing(loaded)
	if err := v.records(baseline, candidate, p); err != nil {
		return nil, err
	}
	v.sum()
	return v, v.regressed(loaded, candidate)
}

// strictly compares again, with intervals that hold for all tests of the family
// at once. Holm corrects p, which takes questions for independent; where they
// share documents the interval by document has to hold for the family as well.
func strictly(c *compare.Comparison, loaded []*compare.Loaded, o compare.Options) (*compare.Comparison, error) {
	if c.Family.Tests < 2 {
		return c, nil
	}
	o.Level = 1 - (1-o.Level)/float64(c.Family.Tests)
	o.Bootstrap = 10_000 // the tails are thin
	return compare.New(loaded, o)
}

// changed refuses data that is not the baseline's.
func changed(c *compare.Comparison, o Options) error {
	if o.ChangedData {
		return nil
	}
	var what []string
	for i, a := range c.Columns[0].Axes {
		if b := c.Columns[1].Axes[i]; (a.Name == compare.AxisData || a.Name == compare.AxisGold) && a.Value != b.Value {
			what = append(what, fmt.Sprintf("%s %s is now %s", a.Name, a.Value, b.Value))
		}
	}
	if len(what) == 0 {
		return nil
	}
	return fmt.Errorf("the data changed since the baseline: %s; save a new baseline, or allow it with --allow-changed-data", strings.Join(what, ", "))
}

// check makes a Check of every rule and every strategy that both have.
func (v *Verdict) check(c, strict *compare.Comparison, loaded []*compare.Loaded, p Policy) error {
	lost := map[string]bool{}
	for _, a := range loaded[0].Arms {
		lost[a.Strategy] = true
	}
	if len(loaded[0].Arms) == 1 && len(loaded[1].Arms) == 1 {
		clear(lost) // one against one, whatever they are called
	} else if len(c.Sheets) == 1 && c.Sheets[0].Title == compare.AllStrategies {
		return fmt.Errorf("baseline %s and candidate %s have no strategy in common", v.Baseline, v.Candidate)
	}
	for i, s := range c.Sheets {
		if len(s.Arms) < 2 || s.Arms[0] == nil || s.Arms[1] == nil {
			continue
		}
		delete(lost, s.Arms[0].Strategy)
		for _, r := range p.Rules {
			at := slices.IndexFunc(s.Rows, func(row compare.Row) bool { return row.Measure == r.Measure })
			for _, arm := range s.Arms[:2] {
				if at < 0 || !arm.Arm.Has(r.Measure) {
					return fmt.Errorf("%s was not measured in %s: name it in the configuration, and in the policy that the baseline is saved with", r.Measure, c.Columns[arm.Column].ID)
				}
			}
			k := Check{Strategy: s.Arms[1].Strategy, Metric: r.Measure.String(), Margin: r.Margin, Measure: r.Measure}
			k.judge(s.Rows[at], strict.Sheets[i].Rows[at], judging{p, r.Relative, c.Family.Tests})
			v.Checks = append(v.Checks, k)
		}
	}
	for _, a := range loaded[0].Arms {
		if lost[a.Strategy] {
			v.Checks = append(v.Checks, Check{Strategy: a.Strategy, Metric: "–", State: Fail, Text: "the candidate does not have this strategy; --map OLD=NEW names what took its place, strategies in the policy those to judge"})
		}
	}
	return nil
}

// missing notes the questions of the baseline that the candidate lacks.
func (v *Verdict) missing(loaded []*compare.Loaded) {
	have := map[evalkit.QueryID]string{}
	for _, q := range loaded[1].Arms[0].Queries {
		have[q.ID] = q.Text
	}
	for _, q := range loaded[0].Arms[0].Queries {
		if text, ok := have[q.ID]; !ok || text != q.Text {
			v.Missing = append(v.Missing, q.ID)
		}
	}
	if n := len(v.Missing); n > 0 {
		v.Checks = append(v.Checks, Check{Strategy: "all", Metric: "questions", State: Fail, Text: fmt.Sprintf("%d questions of the baseline are missing or were changed: %v", n, v.Missing[:min(5, n)])})
	}
}

func (v *Verdict) sum() {
	for _, k := range v.Checks {
		if k.State == Fail || k.State == Inconclusive && v.State == Pass {
			v.State = k.State
		}
	}
}
