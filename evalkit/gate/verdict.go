package gate

import (
	"fmt"
	"math"
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
	Strategy string          `json:"strategy"`
	Metric   string          `json:"metric"` // a plus marks the expanded view
	State    State           `json:"state"`
	Text     string          `json:"text"` // why, a sentence
	Baseline *float64        `json:"baseline"`
	Value    *float64        `json:"value"`
	Margin   float64         `json:"margin"` // in the metric's unit
	Delta    *compare.Delta  `json:"delta"`
	Needed   int             `json:"needed_queries,omitempty"` // of an inconclusive check
	Measure  compare.Measure `json:"-"`
}

// Options of a gate beside its policy.
type Options struct {
	// ChangedData allows another fingerprint or other gold; questions are still
	// paired by id and text, and those that are missing fail.
	ChangedData bool
}

// Decide holds a candidate against a baseline. What cannot be compared is an error.
func Decide(baseline, candidate compare.Input, p Policy, o Options) (*Verdict, error) {
	co := compare.Options{Level: 1 - p.Alpha, Seed: p.Seed}
	for _, r := range p.Rules {
		co.Measures = append(co.Measures, r.Measure)
	}
	var loaded []*compare.Loaded
	for _, in := range []compare.Input{baseline, candidate} {
		l, err := compare.Load(in, co)
		if err != nil {
			return nil, err
		}
		loaded = append(loaded, keep(l, p.Strategies))
	}
	c, err := compare.New(loaded, co)
	if err != nil {
		return nil, err
	}
	v := &Verdict{State: Pass, Baseline: loaded[0].Column.ID, Candidate: loaded[1].Column.ID, Warnings: []string{}, Missing: []evalkit.QueryID{}, Regressed: []Regressed{}, Family: c.Family}
	if err := changed(c, o); err != nil {
		return nil, err
	}
	for _, w := range c.Warnings {
		v.Warnings = append(v.Warnings, w.Text)
	}
	if err := v.check(c, loaded, p); err != nil {
		return nil, err
	}
	v.missing(loaded)
	if err := v.seconds(baseline, candidate, p); err != nil {
		return nil, err
	}
	v.sum()
	return v, v.regressed(loaded, candidate)
}

// keep leaves the strategies that the policy names.
func keep(l *compare.Loaded, names []string) *compare.Loaded {
	if len(names) == 0 {
		return l
	}
	out := *l
	out.Arms = slices.DeleteFunc(slices.Clone(l.Arms), func(a *compare.Arm) bool { return !slices.Contains(names, a.Strategy) })
	return &out
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
func (v *Verdict) check(c *compare.Comparison, loaded []*compare.Loaded, p Policy) error {
	lost := map[string]bool{}
	for _, a := range loaded[0].Arms {
		lost[a.Strategy] = true
	}
	sheets := c.Sheets
	if len(loaded[0].Arms) == 1 && len(loaded[1].Arms) == 1 {
		clear(lost) // one against one, whatever they are called
	} else if len(sheets) == 1 && sheets[0].Title == compare.AllStrategies {
		return fmt.Errorf("baseline %s and candidate %s have no strategy in common", v.Baseline, v.Candidate)
	}
	for _, s := range sheets {
		if len(s.Arms) < 2 || s.Arms[0] == nil || s.Arms[1] == nil {
			continue
		}
		delete(lost, s.Arms[0].Strategy)
		for _, r := range p.Rules {
			v.Checks = append(v.Checks, checkOf(s, r, p))
		}
	}
	for _, a := range loaded[0].Arms {
		if lost[a.Strategy] {
			v.Checks = append(v.Checks, Check{Strategy: a.Strategy, Metric: "–", State: Fail, Text: "the candidate does not have this strategy"})
		}
	}
	return nil
}

func checkOf(s compare.Sheet, r Rule, p Policy) Check {
	k := Check{Strategy: s.Arms[1].Strategy, Metric: r.Measure.String(), State: Fail, Margin: r.Margin, Measure: r.Measure}
	at := slices.IndexFunc(s.Rows, func(row compare.Row) bool { return row.Measure == r.Measure })
	if at < 0 || !s.Arms[0].Arm.Has(r.Measure) || !s.Arms[1].Arm.Has(r.Measure) {
		k.Text = "not measured in both: name the metric in both configurations"
		return k
	}
	row := s.Rows[at]
	if row.Cells[0].Mean == nil || row.Cells[1].Mean == nil {
		k.State, k.Needed, k.Text = Inconclusive, minQuestions, "no question has a value in both"
		return k
	}
	k.Baseline, k.Value, k.Delta = row.Cells[0].Mean, row.Cells[1].Mean, row.Cells[1].Delta
	if r.Relative {
		k.Margin = r.Margin * math.Abs(*k.Baseline)
	}
	k.judge(row.Higher, p)
	return k
}

// judge sets the state of a check from its paired difference.
func (k *Check) judge(higher bool, p Policy) {
	d := k.Delta
	interval := d.Interval()
	gain, lo, hi := d.Mean, 0.0, 0.0 // positive is better
	if interval != nil {
		lo, hi = interval.Lo, interval.Hi
	}
	if !higher {
		gain, lo, hi = -gain, -hi, -lo
	}
	worse := d.Holm != nil && *d.Holm <= p.Alpha && gain < 0
	switch {
	case d.N < minQuestions || interval == nil:
		k.State, k.Needed = Inconclusive, minQuestions
		k.Text = fmt.Sprintf("%d questions: too few to tell; at least %d are needed", d.N, minQuestions)
	case lo >= -k.Margin:
		k.State, k.Text = Pass, "shown not to be worse by more than the margin"
		if worse {
			k.Text = "significantly worse, but shown to be within the margin"
		}
	case hi < -k.Margin:
		k.State, k.Text = Fail, "worse by more than the margin"
	case worse && p.Significant:
		k.State, k.Text = Fail, fmt.Sprintf("significantly worse: p %.4f after correction", *d.Holm)
	default:
		k.State = Inconclusive
		k.Needed = max(d.N+1, compare.Needed(d.SD, math.Abs(gain+k.Margin), p.Alpha, compare.Power))
		k.Text = fmt.Sprintf("not enough evidence: about %d questions would be needed, there are %d", k.Needed, d.N)
	}
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

// seconds compares the time of the two runs.
func (v *Verdict) seconds(baseline, candidate compare.Input, p Policy) error {
	if p.Seconds == 0 {
		return nil
	}
	var times []float64
	for _, in := range []compare.Input{baseline, candidate} {
		x, err := in.Source.Overview()
		if err != nil {
			return err
		}
		times = append(times, x.Record.Provenance.Seconds)
	}
	k := Check{Strategy: "all", Metric: "seconds of the run", State: Pass, Baseline: &times[0], Value: &times[1], Margin: p.Seconds * times[0], Text: "one measurement each, and no test"}
	if times[1] > times[0]*(1+p.Seconds) {
		k.State = Fail
	}
	v.Checks = append(v.Checks, k)
	return nil
}

func (v *Verdict) sum() {
	for _, k := range v.Checks {
		if k.State == Fail || k.State == Inconclusive && v.State == Pass {
			v.State = k.State
		}
	}
}
