package compare

import (
	"fmt"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/experiment"
)

// MaxColumns is the largest number of Experiments in one Compare.
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
	return fmt.Sprintf("p corrected by %s over all %d tests of this page", f.Method, f.Tests)
}

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

// New compares the inputs. One input compares its strategies; several compare
// each strategy that at least two of them have, or, if there is none, all
// strategies. Experiments of different data sets, or without a common question,
// are refused.
func New(inputs []Input, o Options) (*Comparison, error) {
	if len(inputs) == 0 || len(inputs) > MaxColumns {
		return nil, fmt.Errorf("compare %d Experiments: want 1 to %d", len(inputs), MaxColumns)
	}
	o = o.withDefaults()
	b := &builder{o: o, c: &Comparison{Warnings: []Warning{}}}
	for _, in := range inputs {
		if err := b.column(in); err != nil {
			return nil, err
		}
	}
	if err := b.check(); err != nil {
		return nil, err
	}
	b.sheets()
	b.rows()
	b.warn()
	return b.c, nil
}
