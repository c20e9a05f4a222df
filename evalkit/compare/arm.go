package compare

import (
	"fmt"
	"math"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/experiment"
	"github.com/chunkeval/chunkeval/evalkit/metric"
)

// Answers is the view of scores of answers: what was said, not what was sent.
const Answers evalkit.View = "answers"

// answerScores describe the scores of answers; package answer defines them.
var answerScores = map[string]string{
	"exact_match":  "answers that equal a reference after normalisation",
	"token_f1":     "F1 of the answer's words against the best reference",
	"rouge_l":      "F1 of the longest common subsequence with the best reference",
	"abstention":   "answers that abstain where they should, or answer where they should",
	"faithfulness": "share of judge passes that find all of the answer in the context",
	"correctness":  "share of judge passes that find the answer means what the reference says",
}

// A Measure is a metric in one view.
type Measure struct {
	Metric string       `json:"metric"`
	View   evalkit.View `json:"view"`
}

// String returns the metric, with a plus for the expanded view: "recall+".
func (m Measure) String() string {
	if m.View == evalkit.Expanded {
		return m.Metric + "+"
	}
	return m.Metric
}

// ParseMeasure reads what String writes.
func ParseMeasure(s string) (Measure, error) {
	m := Measure{s, evalkit.HitOnly}
	if name, ok := strings.CutSuffix(s, "+"); ok {
		m = Measure{name, evalkit.Expanded}
	}
	if answerScores[s] != "" {
		return Measure{s, Answers}, nil
	}
	known, err := metric.Parse(m.Metric)
	if err == nil && known.Info().HitOnly && m.View == evalkit.Expanded {
		err = fmt.Errorf("%s: %s has no expanded view", s, m.Metric)
	}
	return m, err
}

// Headline returns the measures of retrieval that a Compare declares where none are
// named.
func Headline() []Measure {
	return []Measure{
		{"recall", evalkit.HitOnly},
		{"recall", evalkit.Expanded},
		{"full_evidence", evalkit.Expanded},
		{"precision", evalkit.Expanded},
		{"IoU", evalkit.Expanded},
		{"evid.nDCG@10", evalkit.HitOnly},
		{"context_tokens", evalkit.HitOnly},
		{"context_tokens", evalkit.Expanded},
	}
}

// OfAnswers returns the measures of answers that a Compare declares beside them, for
// Experiments that answered.
func OfAnswers() []Measure {
	return []Measure{{"token_f1", Answers}, {"abstention", Answers}, {"faithfulness", Answers}, {"correctness", Answers}}
}

// InfoOf describes a metric; one that this program does not know, written in a
// notebook, counts as higher is better and without a unit.
func InfoOf(name string) evalkit.Info {
	m, err := metric.Parse(name)
	if err != nil {
		return evalkit.Info{Higher: true, Hi: 1, Doc: answerScores[name]}
	}
	return m.Info()
}

// An Arm is one strategy of one Experiment: the values of its queries.
type Arm struct {
	Experiment string
	Strategy   string
	Window     evalkit.Window // in force
	Queries    []evalkit.Query
	Failed     []bool // per query
	values     map[Measure][]float64
}

// Value returns what query i counts with; ok is false where it has no value.
func (a *Arm) Value(m Measure, i int) (v float64, ok bool) {
	values := a.values[m]
	if values == nil || math.IsNaN(values[i]) {
		return 0, false
	}
	return values[i], true
}

// Has reports whether the metric was measured.
func (a *Arm) Has(m Measure) bool { return a.values[m] != nil }

// NewArm gathers the values of s for the given measures. queries are those of
// the data set, in its order.
func NewArm(id string, s *experiment.StrategyResult, queries []evalkit.Query, measures []Measure) *Arm {
	a := &Arm{
		Experiment: id, Strategy: s.Strategy, Window: s.Window, Queries: queries,
		Failed: make([]bool, len(queries)), values: map[Measure][]float64{},
	}
	wanted := map[Measure]evalkit.Info{}
	for _, m := range measures {
		wanted[m] = InfoOf(m.Metric)
	}
	for i, q := range queries {
		r := &s.Queries[i]
		a.Failed[i] = r.Failed != ""
		for _, score := range r.Scores {
			m := Measure{score.Metric, score.View}
			if info, ok := wanted[m]; ok {
				v, ok := r.Counted(q, score, info)
				a.set(m, i, v, ok)
			}
		}
		if r.Answer == nil {
			continue
		}
		for _, score := range r.Answer.Scores {
			m := Measure{score.Metric, Answers}
			if _, ok := wanted[m]; ok {
				a.set(m, i, score.Value, score.Reason == "")
			}
		}
	}
	return a
}

// set gives query i a value, if it has one.
func (a *Arm) set(m Measure, i int, v float64, ok bool) {
	if a.values[m] == nil {
		a.values[m] = undefined(len(a.Queries))
	}
	if ok {
		a.values[m][i] = v
	}
}

// undefined returns n values that do not exist. NaN stays inside an Arm.
func undefined(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = math.NaN()
	}
	return out
}
