// Package chart turns plain tables into charts: a title, an ECharts option in
// pure JSON, and the same numbers as a table. It computes no statistics, knows
// neither strategies nor Experiments, and writes no pages: package report does.
//
// A nil number is a gap in the chart and "n/a" in the table. NaN and infinities
// are refused by name. Names are data: any text may stand in them. The same
// table gives the same bytes.
package chart

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A Chart is one picture with the table it shows.
type Chart struct {
	// ID names the element; it is made from the title alone, of [a-z0-9-], so
	// two charts of one page need two titles.
	ID    string
	Title string
	Note  string // how to read it, one sentence, plain text
	// Option is the ECharts option: JSON without functions, in which <, > and &
	// are written \u003c, \u003e and \u0026, so that it may stand in a script
	// element. The page's theme gives the colours of texts, but for numbers on
	// filled symbols.
	Option   json.RawMessage
	Height   int // pixels; grows with the categories and series
	MinWidth int // pixels; 0 if any width will do
	// Legend is the height of the entries in the legend below the plot, in
	// pixels and in order. They stand in one column, as a narrow window needs;
	// a page may put them into more and take the height off the chart.
	Legend []int
	// Key says what the numbers in the plot stand for, from 1.
	Key   []string
	Table Table
}

// A Table holds the numbers of a chart, in full. Data items of the option carry
// the number of their row, from 0.
type Table struct {
	Head []string
	Rows [][]Cell // each as long as Head
}

// A Cell is a text or a number.
type Cell struct {
	Text  string   // as shown; "n/a" for a number that does not exist
	Value *float64 // the number to sort by and to export; nil for texts and for "n/a"
	Num   bool     // the column holds numbers, whether or not this one exists
}

// CSV returns the table as RFC 4180 lines with a header. Numbers are written in
// full precision, a number that does not exist as n/a.
func (c *Chart) CSV() string {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(c.Table.Head) // a bytes.Buffer takes everything
	for _, row := range c.Table.Rows {
		record := make([]string, len(row))
		for i, cell := range row {
			record[i] = cell.Text
			if cell.Value != nil {
				record[i] = exact(*cell.Value)
			}
		}
		_ = w.Write(record)
	}
	w.Flush()
	return b.String()
}

func text(s string) Cell { return Cell{Text: s} }

func number(v *float64) Cell {
	if v == nil {
		return Cell{Text: "n/a", Num: true}
	}
	return Cell{Text: short(*v), Value: v, Num: true}
}

func exact(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// short writes a number for reading: at most four digits after the point, and
// no fewer than three that count.
func short(v float64) string {
	a := max(v, -v)
	switch {
	case a == 0:
		return "0"
	case a < 0.001:
		return strconv.FormatFloat(v, 'g', 3, 64)
	case a < 1:
		return trim(strconv.FormatFloat(v, 'f', 4, 64))
	case a < 100:
		return trim(strconv.FormatFloat(v, 'f', 3, 64))
	case a < 1e15:
		return trim(strconv.FormatFloat(v, 'f', 1, 64))
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

func trim(s string) string { return strings.TrimSuffix(strings.TrimRight(s, "0"), ".") }

// finite refuses what JSON cannot say.
func finite(v *float64, where string) error {
	if v != nil && *v-*v != 0 {
		return fmt.Errorf("%s is %v; give nil for a value that does not exist", where, *v)
	}
	return nil
}

// interval checks a value and its interval, of which either both ends exist or none.
func interval(v, lo, hi *float64, where string) error {
	for _, x := range []struct {
		v    *float64
		name string
	}{{v, "value"}, {lo, "low end"}, {hi, "high end"}} {
		if err := finite(x.v, where+": "+x.name); err != nil {
			return err
		}
	}
	switch {
	case (lo == nil) != (hi == nil):
		return fmt.Errorf("%s: interval has one end only", where)
	case lo != nil && v == nil:
		return fmt.Errorf("%s: interval without a value", where)
	case lo != nil && *lo > *hi:
		return fmt.Errorf("%s: interval [%v,%v]: low end above high end", where, *lo, *hi)
	}
	return nil
}

// distinct refuses names that a legend could not tell apart.
func distinct(what string, names []string) error {
	if len(names) == 0 {
		return fmt.Errorf("no %s", what)
	}
	seen := map[string]bool{}
	for _, n := range names {
		switch {
		case strings.TrimSpace(n) == "":
			return fmt.Errorf("%s without a name", what)
		case seen[n]:
			return fmt.Errorf("%s %q: given twice", what, n)
		}
		seen[n] = true
	}
	return nil
}

var errNoTitle = errors.New("chart without a title")

// identify returns a stable name: words of the title, and a digest that keeps
// titles apart which differ only in signs.
func identify(title string) (string, error) {
	if strings.TrimSpace(title) == "" {
		return "", errNoTitle
	}
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	slug := strings.Join(words, "-")
	sum := sha256.Sum256([]byte(title))
	return "chart-" + strings.Trim(slug[:min(len(slug), 40)], "-") + "-" + hex.EncodeToString(sum[:4]), nil
}
