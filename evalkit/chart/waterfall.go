package chart

import (
	"cmp"
	"fmt"
)

// A WaterfallTable is a row of falling levels per series: what the segmentation
// allows, what the candidates hold, what their best order would send, what was
// sent, for one.
type WaterfallTable struct {
	Title, Note string
	Axis        string   // name of the number axis, with its unit
	SeriesHead  string   // default "series"
	Levels      []string // from the highest to the lowest
	Series      []WaterfallSeries
}

// A WaterfallSeries has one value per level; none is above the one before or
// below zero. A nil level, and the losses beside it, are gaps.
type WaterfallSeries struct {
	Name   string
	Values []*float64
}

// rounding is how far a level may rise above the one before: the error of sums.
const rounding = 1e-9

// Waterfall draws, for every series, the last level and what each step on the
// way down to it loses; together they reach the first level.
func Waterfall(t WaterfallTable) (*Chart, error) {
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("waterfall %q: %w", t.Title, err)
	}
	last := len(t.Levels) - 1
	s := StackTable{Title: t.Title, Note: t.Note, Axis: t.Axis, Parts: []string{t.Levels[last]}}
	for l := last; l > 0; l-- {
		s.Parts = append(s.Parts, fmt.Sprintf("lost from %s to %s", t.Levels[l-1], t.Levels[l]))
	}
	table := Table{Head: append([]string{orDefault(t.SeriesHead, "series")}, t.Levels...)}
	table.Head = append(table.Head, s.Parts[1:]...)
	for _, x := range t.Series {
		parts := []*float64{x.Values[last]}
		for l := last; l > 0; l-- {
			parts = append(parts, loss(x.Values[l-1], x.Values[l]))
		}
		row := []Cell{text(x.Name)}
		for _, v := range append(x.Values[:len(x.Values):len(x.Values)], parts[1:]...) {
			row = append(row, number(v))
		}
		table.Rows = append(table.Rows, row)
		s.Rows = append(s.Rows, StackRow{x.Name, parts})
	}
	return s.draw(table, len(t.Levels)) // the last level is followed by its losses
}

func loss(above, below *float64) *float64 {
	if above == nil || below == nil {
		return nil
	}
	return new(max(0, *above-*below))
}

func (t WaterfallTable) check() error {
	var names []string
	for _, s := range t.Series {
		names = append(names, s.Name)
		if len(s.Values) != len(t.Levels) {
			return fmt.Errorf("series %q: %d values for %d levels", s.Name, len(s.Values), len(t.Levels))
		}
		before := 0 // the last level with a value
		for i, v := range s.Values {
			where := fmt.Sprintf("series %q: level %q", s.Name, t.Levels[i])
			if err := finite(v, where); err != nil {
				return err
			}
			if v == nil {
				continue
			}
			if b := s.Values[before]; *v < 0 || b != nil && *v > *b+rounding {
				return fmt.Errorf("%s is %v: levels fall, and not below zero", where, *v)
			}
			before = i
		}
	}
	return cmp.Or(distinct("series", names), distinct("level", t.Levels))
}
