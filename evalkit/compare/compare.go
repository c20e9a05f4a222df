package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/experiment"
)

// MaxColumns is the number of Experiments that can be read side by side; New
// takes more.
const MaxColumns = 8

// An Input is an Experiment to compare. Gap says why it cannot be read, a run
// that was deleted for one; it then stands as an empty column.
type Input struct {
	ID     string
	Source experiment.Source
	Gap    string
}

// A Comparison is two or more Experiments, or the strategies of one, side by side.
type Comparison struct {
	Columns  []Column  `json:"columns"`
	Warnings []Warning `json:"warnings"`
	Sheets   []Sheet   `json:"sheets"`
	Family   Family    `json:"family"`
	// Arms are all strategies of all columns, whether or not they are compared.
	Arms []*Arm `json:"-"`
}

// A Column is an Experiment.
type Column struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Gap     string `json:"gap,omitempty"`
	Badge   string `json:"badge"` // ±P/N asked for
	Muted   bool   `json:"muted"` // fixed_size was not in the run
	Axes    []Axis `json:"axes"`
	Failed  int    `json:"failed"` // units that failed and count 0
	Queries int    `json:"queries"`
	// Warnings say in what the Experiment differs from the first one.
	Warnings []Warning `json:"warnings"`
}

// A Family says what the corrected p values are corrected for.
type Family struct {
	Method    string  `json:"method"` // "Holm"
	Tests     int     `json:"tests"`
	Level     float64 `json:"level"`
	Bootstrap int     `json:"bootstrap"`
	Draws     int     `json:"draws"`
	Seed      uint64  `json:"seed"`
}

// String says in words what was corrected.
func (f Family) String() string {
	if f.Tests == 1 {
		return "one test: the corrected p is the raw p"
	}
	return fmt.Sprintf("p corrected by %s over all %d tests shown", f.Method, f.Tests)
}

// AllStrategies is the title of the sheet that compares strategies with each other.
const AllStrategies = "all strategies"

// A Sheet compares arms with each other: one strategy in several Experiments,
// or several strategies. The first arm that exists is the baseline.
type Sheet struct {
	Title string `json:"title"`
	// Arms has one entry per column of the sheet; nil where the Experiment
	// does not have the strategy.
	Arms []*ArmInfo `json:"arms"`
	Rows []Row      `json:"rows"`
	// Common is the number of queries in every arm; LeftOut names the rest.
	Common  int               `json:"common"`
	LeftOut []evalkit.QueryID `json:"left_out,omitempty"`
}

// An ArmInfo names an arm.
type ArmInfo struct {
	Column   int    `json:"column"` // of the Comparison
	Strategy string `json:"strategy"`
	Badge    string `json:"badge"` // ±P/N in force
	Failed   int    `json:"failed"`
	Arm      *Arm   `json:"-"`
}

// A Row is one measure over the arms.
type Row struct {
	Measure
	Unit   string `json:"unit"`
	Higher bool   `json:"higher_is_better"`
	Cells  []Cell `json:"cells"` // one per arm
}

// A Cell is one measure of one arm.
type Cell struct {
	Mean      *float64  `json:"mean"` // nil: no query has a value, see Reason
	N         int       `json:"n"`
	Undefined int       `json:"undefined"` // answerable queries without a value
	Failed    int       `json:"failed"`    // counted as 0
	Interval  *Interval `json:"interval"`
	Delta     *Delta    `json:"delta"` // nil for the baseline
	Reason    string    `json:"reason,omitempty"`
}

// A Loaded is an Experiment with the values of all its strategies in memory:
// what New needs of it, and can use again.
type Loaded struct {
	Column  Column
	Arms    []*Arm
	dataset string
}

// Load reads the values of an Experiment for the measures of o.
func Load(in Input, o Options) (*Loaded, error) {
	if in.Gap != "" {
		return &Loaded{Column: Column{ID: in.ID, Name: in.ID, Gap: in.Gap, Axes: []Axis{}, Warnings: []Warning{}}}, nil
	}
	overview, err := in.Source.Overview()
	if err != nil {
		return nil, err
	}
	ds, err := in.Source.Dataset()
	if err != nil {
		return nil, err
	}
	l := NewLoaded(overview.Record)
	for i := range overview.Strategies {
		s, err := in.Source.Strategy(i)
		if err != nil {
			return nil, err
		}
		l.Add(s, ds.Queries, o)
	}
	return l, nil
}

// NewLoaded returns what New needs of an Experiment, without its strategies.
func NewLoaded(rec experiment.Record) *Loaded {
	return &Loaded{dataset: rec.Dataset.Name, Column: Column{
		ID: rec.ID, Name: rec.Spec.Name, Badge: rec.Spec.Window().String(), Muted: !HasFixedSize(rec),
		Axes: axes(rec), Failed: rec.Counts.Failed, Queries: rec.Dataset.Queries, Warnings: []Warning{},
	}}
}

// Add adds the values of the next strategy.
func (l *Loaded) Add(s *experiment.StrategyResult, queries []evalkit.Query, o Options) {
	l.Arms = append(l.Arms, NewArm(l.Column.ID, s, queries, o.withDefaults().Measures))
}

// Pairable reports whether two Experiments can be compared: they are of one
// data set and have a question in common.
func Pairable(a, b *Loaded) bool {
	return a.dataset == b.dataset && len(a.Arms) > 0 && len(b.Arms) > 0 && sharesQuery(a.Arms[0], b.Arms[0])
}

// HasFixedSize reports whether Neighbor Expansion applied to any strategy.
func HasFixedSize(rec experiment.Record) bool {
	return slices.ContainsFunc(rec.Spec.Strategies, func(s string) bool { return strings.HasPrefix(s, "fixed_size(") })
}

// New compares Experiments, the first of which is the baseline. One compares
// its strategies; several compare each strategy that at least two of them have,
// or, if there is none, all strategies. Experiments of different data sets, or
// without a common question, are refused.
func New(all []*Loaded, o Options) (*Comparison, error) {
	b := &builder{o: o.withDefaults(), c: &Comparison{Warnings: []Warning{}}}
	for _, l := range all {
		b.c.Columns = append(b.c.Columns, l.Column)
		b.c.Arms = append(b.c.Arms, l.Arms...)
		b.arms = append(b.arms, l.Arms)
	}
	if err := b.check(all); err != nil {
		return nil, err
	}
	b.distinguish()
	b.gold()
	b.sheets()
	b.rows()
	b.warn()
	return b.c, nil
}
