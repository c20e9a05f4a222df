package compare

import (
	"math"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/experiment"
	"github.com/chunkeval/chunkeval/evalkit/metric"
)

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

// Headline returns the measures that a Compare declares where none are named.
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

// InfoOf describes a metric; one that this program does not know, written in a
// notebook, counts as higher is better and without a unit.
func InfoOf(name string) evalkit.Info {
	m, err := metric.Parse(name)
	if err != nil {
		return evalkit.Info{Higher: true, Hi: 1}
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
			info, ok := wanted[m]
			if !ok {
				continue
			}
			if a.values[m] == nil {
				a.values[m] = undefined(len(queries))
			}
			if v, ok := r.Counted(q, score, info); ok {
				a.values[m][i] = v
			}
		}
	}
	return a
}

// undefined returns n values that do not exist. NaN stays inside an Arm.
func undefined(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = math.NaN()
	}
	return out
}
