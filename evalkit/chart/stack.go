package chart

import (
	"cmp"
	"fmt"

	"github.com/go-echarts/go-echarts/v2/charts"
)

// A StackTable is a whole per row and its parts: what the hits bring, and what
// the neighbors before and after them add, for one.
type StackTable struct {
	Title, Note string
	Axis        string   // name of the number axis, with its unit
	RowHead     string   // what a row is; default "row"
	Parts       []string // from left to right
	Rows        []StackRow
}

// A StackRow has one value, not negative, for every part, in their order.
type StackRow struct {
	Name   string
	Values []*float64
}

// Stack draws a bar per row, made of parts that differ by colour and pattern.
func Stack(t StackTable) (*Chart, error) {
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("stack %q: %w", t.Title, err)
	}
	table := Table{Head: append([]string{orDefault(t.RowHead, "row")}, t.Parts...)}
	for _, r := range t.Rows {
		row := []Cell{text(r.Name)}
		for _, v := range r.Values {
			row = append(row, number(v))
		}
		table.Rows = append(table.Rows, row)
	}
	return t.draw(table, 1)
}

// draw stacks the parts; the first stands in column col of the table.
func (t StackTable) draw(table Table, col int) (*Chart, error) {
	b := charts.NewBar()
	var rows []string
	for _, r := range t.Rows {
		rows = append(rows, r.Name)
	}
	b.SetGlobalOptions(barAxes(rows, t.Axis)...)
	for p, part := range t.Parts {
		data := make([]datum, len(t.Rows))
		for r, row := range t.Rows {
			data[r] = datum{Row: r, Col: col + p}
			if v := row.Values[p]; v != nil {
				data[r].Value = *v
			}
		}
		b.AddSeries(part, nil, charts.WithSeriesOpts(func(x *charts.SingleSeries) {
			x.Data, x.Stack, x.BarCategoryGap, x.BarMaxWidth = data, "whole", "30%", "28"
		}))
	}
	f := frame{title: t.Title, note: t.Note, top: edge, plot: plotHeight(rows, 34), legend: t.Parts, names: rows}
	return f.build(b, table, append(namePatches("yAxis.0"), patterns(len(t.Parts))...)...)
}

func (t StackTable) check() error {
	var rows []string
	for _, r := range t.Rows {
		rows = append(rows, r.Name)
		if len(r.Values) != len(t.Parts) {
			return fmt.Errorf("row %q: %d values for %d parts", r.Name, len(r.Values), len(t.Parts))
		}
		for i, v := range r.Values {
			where := fmt.Sprintf("row %q: part %q", r.Name, t.Parts[i])
			if err := finite(v, where); err != nil {
				return err
			}
			if v != nil && *v < 0 {
				return fmt.Errorf("%s is %v: a part of a whole is not negative", where, *v)
			}
		}
	}
	return cmp.Or(distinct("row", rows), distinct("part", t.Parts))
}
