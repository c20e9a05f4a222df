package compare

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/chunkeval/chunkeval/evalkit"
)

// builder makes a Comparison.
type builder struct {
	o    Options
	c    *Comparison
	arms [][]*Arm // per column, per strategy
}

// gold fills the axis of the gold: a digest over the questions in common.
func (b *builder) gold() {
	times, present := map[evalkit.QueryID]int{}, 0
	for _, arms := range b.arms {
		if len(arms) > 0 {
			present++
			for _, q := range arms[0].Queries {
				times[q.ID]++
			}
		}
	}
	for i, arms := range b.arms {
		if len(arms) == 0 {
			continue
		}
		var common []evalkit.Query
		for _, q := range arms[0].Queries {
			if times[q.ID] == present {
				common = append(common, q)
			}
		}
		axes := slices.Clone(b.c.Columns[i].Axes)
		for j := range axes {
			if axes[j].Name == AxisGold {
				axes[j].Value = goldDigest(common)
			}
		}
		b.c.Columns[i].Axes = axes
	}
}

// distinguish makes the names of columns different where they are not.
func (b *builder) distinguish() {
	times := map[string]int{}
	for _, c := range b.c.Columns {
		times[c.Name]++
	}
	for i := range b.c.Columns {
		if c := &b.c.Columns[i]; times[c.Name] > 1 && c.ID != c.Name {
			c.Name += " · " + c.ID
		}
	}
	seen := map[string]int{} // an Experiment beside itself
	for i := range b.c.Columns {
		c := &b.c.Columns[i]
		if seen[c.Name]++; seen[c.Name] > 1 {
			c.Name = fmt.Sprintf("%s (%d)", c.Name, seen[c.Name])
		}
	}
}

// check refuses what cannot be paired.
func (b *builder) check(all []*Loaded) error {
	var first *Loaded
	for _, l := range all {
		switch {
		case len(l.Arms) == 0:
		case first == nil:
			first = l
		case l.dataset != first.dataset:
			return fmt.Errorf("compare %s with %s: different data sets, %q and %q: their questions cannot be paired", first.Column.ID, l.Column.ID, first.dataset, l.dataset)
		case !sharesQuery(first.Arms[0], l.Arms[0]):
			return fmt.Errorf("compare %s with %s: no question in common", first.Column.ID, l.Column.ID)
		}
	}
	if first == nil {
		return errors.New("compare: no Experiment could be read")
	}
	return nil
}

func sharesQuery(a, b *Arm) bool {
	known := map[evalkit.QueryID]string{}
	for _, q := range a.Queries {
		known[q.ID] = q.Text
	}
	return slices.ContainsFunc(b.Queries, func(q evalkit.Query) bool { text, ok := known[q.ID]; return ok && text == q.Text })
}

// sheets decides what stands beside what.
func (b *builder) sheets() {
	var order []string
	columns := map[string][]*ArmInfo{}
	for i, arms := range b.arms {
		for _, a := range arms {
			if columns[a.Strategy] == nil {
				order = append(order, a.Strategy)
				columns[a.Strategy] = make([]*ArmInfo, len(b.arms))
			}
			columns[a.Strategy][i] = &ArmInfo{Column: i, Strategy: a.Strategy, Badge: a.Window.String(), Failed: count(a.Failed), Arm: a}
		}
	}
	var alone []*ArmInfo
	for _, s := range order {
		present := 0
		for _, a := range columns[s] {
			if a != nil {
				present++
			}
		}
		if present > 1 {
			b.c.Sheets = append(b.c.Sheets, Sheet{Title: s, Arms: columns[s]})
			continue
		}
		for _, a := range columns[s] {
			if a != nil {
				alone = append(alone, a)
			}
		}
	}
	switch {
	case len(b.c.Sheets) == 0:
		b.c.Sheets = []Sheet{{Title: AllStrategies, Arms: alone}}
	case len(alone) > 0:
		var names []string
		for _, a := range alone {
			names = append(names, a.Strategy)
		}
		b.c.Warnings = append(b.c.Warnings, Warning{Axis: "strategy", Text: "only in one Experiment, so not compared: " + strings.Join(names, ", ")})
	}
}

func count(flags []bool) int {
	n := 0
	for _, f := range flags {
		if f {
			n++
		}
	}
	return n
}

// job is one cell to fill.
type job struct {
	base, arm *ArmInfo // base is nil for the baseline itself
	m         Measure
	cell      *Cell
}

// rows fills the sheets; the deltas of all of them are one family.
func (b *builder) rows() {
	var jobs []job
	for i := range b.c.Sheets {
		s := &b.c.Sheets[i]
		s.Common, s.LeftOut = common(s.Arms)
		s.Rows = b.empty(s)
		for _, row := range s.Rows {
			jobs = append(jobs, jobsOf(s, row)...)
		}
	}
	pairs := 0
	for _, j := range jobs {
		if j.base != nil {
			pairs++
		}
	}
	b.o = b.o.family(pairs)
	b.work(jobs)
	var family []*Delta
	var measures []Measure
	for _, j := range jobs {
		if j.cell.Delta != nil {
			family, measures = append(family, j.cell.Delta), append(measures, j.m)
		}
	}
	decide(family, measures, b.o.Level)
	b.c.Family = Family{"Holm", tested(family), b.o.Level, b.o.Bootstrap, b.o.Draws, b.o.Seed}
}

// empty returns the rows of s: the union of what its arms measured.
func (b *builder) empty(s *Sheet) []Row {
	var rows []Row
	for _, m := range b.o.Measures {
		info := InfoOf(m.Metric)
		measured := slices.ContainsFunc(s.Arms, func(a *ArmInfo) bool { return a != nil && a.Arm.Has(m) })
		if measured && !(info.HitOnly && m.View == evalkit.Expanded) {
			rows = append(rows, Row{Measure: m, Unit: info.Unit, Higher: info.Higher, Cells: make([]Cell, len(s.Arms))})
		}
	}
	return rows
}

func jobsOf(s *Sheet, row Row) []job {
	var jobs []job
	base := (*ArmInfo)(nil)
	for i, a := range s.Arms {
		if a == nil {
			row.Cells[i].Reason = "not in this Experiment"
			continue
		}
		jobs = append(jobs, job{base, a, row.Measure, &row.Cells[i]})
		if base == nil {
			base = a
		}
	}
	return jobs
}

// work fills the cells. Each depends on its own values and the seed alone: any
// number of workers gives the same numbers.
func (b *builder) work(jobs []job) {
	todo := make(chan job)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for j := range todo {
				fill(j.cell, j.arm.Arm, j.m, b.o)
				if j.base != nil {
					d := newDelta(j.base.Arm, j.arm.Arm, j.m, b.o)
					d.given = d.Tie == d.N && b.cannotDiffer(j)
					j.cell.Delta = d
				}
			}
		})
	}
	for _, j := range jobs {
		todo <- j
	}
	close(todo)
	wg.Wait()
}

// cannotDiffer reports whether the settings of j leave no room for a difference:
// its Experiments differ in Neighbor Expansion alone, which does not touch what is
// measured.
func (b *builder) cannotDiffer(j job) bool {
	if j.base.Strategy != j.arm.Strategy || j.m.View != evalkit.HitOnly && j.base.Arm.Window != j.arm.Arm.Window {
		return false
	}
	names, _ := differing([][]Axis{b.c.Columns[j.base.Column].Axes, b.c.Columns[j.arm.Column].Axes})
	return len(names) == 1 && names[0] == AxisNeighbors
}

func tested(family []*Delta) int {
	n := 0
	for _, d := range family {
		if d.inFamily() {
			n++
		}
	}
	return n
}

// fill describes one arm in one measure.
func fill(c *Cell, a *Arm, m Measure, o Options) {
	if !a.Has(m) {
		c.Reason = "not measured"
		return
	}
	var values []float64
	var docs []evalkit.DocID
	for i, q := range a.Queries {
		v, ok := a.Value(m, i)
		switch {
		case ok:
			values, docs = append(values, v), append(docs, documentOf(q))
			if a.Failed[i] {
				c.Failed++
			}
		case !q.Unanswerable:
			c.Undefined++
		}
	}
	c.N = len(values)
	if c.N == 0 {
		c.Reason = "no query has a value"
		return
	}
	mean := average(values)
	c.Mean = &mean
	clusters, n := number(docs)
	if n == len(docs) {
		clusters = nil
	}
	if i, ok := Bootstrap(values, clusters, o.Bootstrap, o.Level, o.Seed); ok {
		c.Interval = &i
	}
}

// common counts the queries that all arms have, and names the others.
func common(arms []*ArmInfo) (n int, rest []evalkit.QueryID) {
	var order []evalkit.QueryID
	seen := map[evalkit.QueryID]int{}
	present := 0
	for _, a := range arms {
		if a == nil {
			continue
		}
		present++
		for _, q := range a.Arm.Queries {
			if seen[q.ID] == 0 {
				order = append(order, q.ID)
			}
			seen[q.ID]++
		}
	}
	for _, id := range order {
		if seen[id] == present {
			n++
		} else {
			rest = append(rest, id)
		}
	}
	return n, rest
}

// warn adds what a reader should know before any number.
func (b *builder) warn() {
	var columns [][]Axis
	for _, c := range b.c.Columns {
		switch {
		case c.Gap != "":
			b.c.Warnings = append(b.c.Warnings, Warning{Text: fmt.Sprintf("%s cannot be shown: %s", c.ID, c.Gap)})
			continue
		case c.Failed > 0:
			b.c.Warnings = append(b.c.Warnings, Warning{Text: fmt.Sprintf("%s: %s failed and count 0", c.ID, plural(c.Failed, "unit"))})
		}
		columns = append(columns, c.Axes)
	}
	var also []string
	if len(columns) > 1 && b.c.Sheets[0].Title == AllStrategies {
		also = []string{"strategy"}
	}
	b.c.Warnings = append(append([]Warning{}, axisWarnings(columns, also...)...), b.c.Warnings...)
	for i := range b.c.Columns {
		if c := &b.c.Columns[i]; c.Gap == "" {
			c.Warnings = append([]Warning{}, axisWarnings([][]Axis{columns[0], c.Axes}, also...)...)
		}
	}
	for _, s := range b.c.Sheets {
		if len(s.LeftOut) > 0 {
			b.c.Warnings = append(b.c.Warnings, Warning{Text: fmt.Sprintf("%s: %s in common, %d left out: %s", s.Title, plural(s.Common, "question"), len(s.LeftOut), some(s.LeftOut))})
		}
	}
}

// some lists up to five ids.
func some(ids []evalkit.QueryID) string {
	var out []string
	for _, id := range ids[:min(5, len(ids))] {
		out = append(out, string(id))
	}
	if len(ids) > 5 {
		out = append(out, "…")
	}
	return strings.Join(out, ", ")
}
