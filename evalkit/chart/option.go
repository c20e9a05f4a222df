package chart

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
)

// Measures in pixels. Texts break at the widths given here, so that a window of
// 390 pixels and a printed page show them whole.
const (
	fontSize     = 12
	lineHeight   = 15
	labelWidth   = 150 // of names on the y axis
	legendWidth  = 270 // of names in the legend
	legendGap    = 6
	axisHeight   = 44 // numbers and name of the x axis
	numberHeight = 20 // the numbers alone
	edge         = 10
)

// A datum is an item of a series. Row and Col are its place in the table, which
// the page's tooltip shows; go-echarts' own types have no room for them.
type datum struct {
	Value      any            `json:"value"`
	Row        int            `json:"row"`
	Col        int            `json:"col,omitempty"`
	Symbol     string         `json:"symbol,omitempty"`
	SymbolSize int            `json:"symbolSize,omitempty"`
	Label      map[string]any `json:"label,omitempty"`
	ItemStyle  map[string]any `json:"itemStyle,omitempty"`
}

// A patch sets one value of an option that go-echarts cannot say. The path is
// written with dots; a number is a place in a list.
type patch struct {
	path  string
	value any
}

// A frame is how a chart is laid out: the plot, then the x axis, then the
// legend, one below the other.
type frame struct {
	title, note string
	top, plot   int // pixels
	legend      []string
	minWidth    int
	names       []string // of a category y axis, whose labels stand left of the plot
}

// baseChart is what all charts of go-echarts with x and y axes offer.
type baseChart interface {
	SetGlobalOptions(options ...charts.GlobalOpts) *charts.RectChart
	Validate()
	JSON() map[string]any
}

// build makes a Chart of what go-echarts built.
func (f frame) build(b baseChart, t Table, patches ...patch) (*Chart, error) {
	id, err := identify(f.title)
	if err != nil {
		return nil, err
	}
	c := &Chart{ID: id, Title: f.title, Note: f.note, Table: t, MinWidth: f.minWidth}
	below := 0
	for _, name := range f.legend {
		h := lines(name, legendWidth) * lineHeight
		c.Legend = append(c.Legend, h)
		below += h + legendGap
	}
	c.Height = f.top + f.plot + axisHeight + below
	b.SetGlobalOptions(f.globals(id, below)...)
	b.Validate()
	o, err := asMap(b.JSON())
	if err != nil {
		return nil, err
	}
	for _, p := range append(f.patches(), patches...) {
		if err := o.set(p); err != nil {
			return nil, err
		}
	}
	if c.Option, err = json.Marshal(o); err != nil {
		return nil, fmt.Errorf("encode chart %q: %w", f.title, err)
	}
	return c, nil
}

func (f frame) globals(id string, below int) []charts.GlobalOpts {
	return []charts.GlobalOpts{
		// "white" makes go-echarts write the palette; it is no theme of the page.
		charts.WithInitializationOpts(opts.Initialization{ChartID: id, Theme: "white"}),
		charts.WithAnimation(false),
		charts.WithColorsOpts(palette),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: "item"}),
		charts.WithGridOpts(f.grid(below)),
		charts.WithLegendOpts(opts.Legend{
			Show: opts.Bool(len(f.legend) > 0), Type: "plain", Orient: "vertical", Left: "0", Bottom: "0", Align: "left",
			Data: f.legend, ItemWidth: 36, ItemHeight: 12,
			TextStyle: &opts.TextStyle{FontSize: fontSize, LineHeight: lineHeight, Width: legendWidth, Overflow: "break"},
		}),
		charts.WithAriaOpts(&opts.Aria{
			Enabled: opts.Bool(true),
			Label:   &opts.AriaLabel{Description: strings.TrimSpace(f.title + ". " + f.note)},
		}),
	}
}

func (f frame) patches() []patch {
	p := []patch{
		{"title", map[string]any{"show": false}}, // the page shows the title as text
		{"tooltip.confine", true},                // else it leaves a narrow window
		{"legend.itemGap", legendGap},
		{"legend.padding", 0},
		// go-echarts writes the animation flag in place of the number.
		{"progressive", 0},
	}
	return p
}

// grid places the plot. ECharts reserves room for labels itself, but not enough
// for those that break over lines.
func (f frame) grid(below int) opts.Grid {
	g := opts.Grid{Left: px(edge), Right: px(3 * edge), Top: px(f.top), Bottom: px(below + axisHeight), ContainLabel: opts.Bool(false)}
	if f.names == nil {
		g.Bottom, g.ContainLabel = px(below+axisHeight-numberHeight), opts.Bool(true)
		return g
	}
	wide := 0.0
	for _, n := range f.names {
		wide = max(wide, textWidth(n))
	}
	g.Left = px(min(int(wide), labelWidth) + 2*edge)
	return g
}

// patterns give each bar series a pattern. ECharts' own way, aria.decal, hands
// them out anew at every drawing and starts where the last one ended;
// go-echarts' ItemStyle has none.
func patterns(series int) []patch {
	all := decals()
	p := make([]patch, series)
	for i := range p {
		p[i] = patch{fmt.Sprintf("series.%d.itemStyle.decal", i), all[i%len(all)]}
	}
	return p
}

// barAxes puts names on the y axis, the first on top, broken over lines, and a
// number axis below.
func barAxes(names []string, number string) []charts.GlobalOpts {
	return []charts.GlobalOpts{
		charts.WithXAxisOpts(opts.XAxis{Type: "value", Name: number, NameLocation: "middle", NameGap: 28}),
		charts.WithYAxisOpts(opts.YAxis{
			Type: "category", Data: names, Inverse: opts.Bool(true),
			AxisLabel: &opts.AxisLabel{Show: opts.Bool(true), Width: labelWidth, Overflow: "break"},
		}),
	}
}

// namePatches show every name of an axis: go-echarts writes the interval as a
// text, and has no number for the height of a line.
func namePatches(axis string) []patch {
	return []patch{{axis + ".axisLabel.interval", 0}, {axis + ".axisLabel.lineHeight", lineHeight}, {axis + ".axisTick", map[string]any{"show": false}}}
}

// valueAxes are two number axes; the y axis is named above itself.
func valueAxes(x, y string) []charts.GlobalOpts {
	return []charts.GlobalOpts{
		charts.WithXAxisOpts(opts.XAxis{Type: "value", Name: x, NameLocation: "middle", NameGap: 28, Scale: opts.Bool(true)}),
		charts.WithYAxisOpts(opts.YAxis{Type: "value", Name: y, NameLocation: "end", Scale: opts.Bool(true)}),
	}
}

// yNameLeft keeps a long name of the y axis inside the chart.
func yNameLeft() patch {
	return patch{"yAxis.0.nameTextStyle", map[string]any{"align": "left", "padding": []int{0, 0, 0, -edge}}}
}

func px(n int) string { return strconv.Itoa(n) }

// lines estimates over how many lines a text breaks, on the safe side.
func lines(s string, width int) int {
	n := 0
	for part := range strings.SplitSeq(s, "\n") {
		n += int(textWidth(part)*1.05)/width + 1
	}
	return n
}

func textWidth(s string) float64 {
	w := 0.0
	for _, r := range s {
		w += runeWidth(r)
	}
	return w
}

// runeWidth is the width of a character in pixels in a wide font of fontSize.
func runeWidth(r rune) float64 {
	switch {
	case r >= 0x1100 && utf8.RuneLen(r) > 2: // East Asian, symbols
		return fontSize
	case r == 'm' || r == 'w' || r >= 'A' && r <= 'Z':
		return 9
	}
	return 7
}

// rowHeight is the room that a name needs on the y axis.
func rowHeight(name string, least int) int {
	return max(least, lines(name, labelWidth)*lineHeight+6)
}

// plotHeight gives every category of an axis the same room, enough for the largest.
func plotHeight(names []string, least int) int {
	h := 0
	for _, n := range names {
		h = max(h, rowHeight(n, least))
	}
	return h * len(names)
}

type option map[string]any

func asMap(o map[string]any) (option, error) {
	b, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("encode chart: %w", err)
	}
	var m option
	return m, json.Unmarshal(b, &m)
}

// set makes the objects on the way; it fails where the path meets something else.
func (o option) set(p patch) error {
	keys := strings.Split(p.path, ".")
	var at any = map[string]any(o)
	for i, key := range keys[:len(keys)-1] {
		switch v := at.(type) {
		case map[string]any:
			if v[key] == nil {
				v[key] = map[string]any{}
			}
			at = v[key]
		case []any:
			n, err := strconv.Atoi(key)
			if err != nil || n >= len(v) {
				return fmt.Errorf("set chart option %q: no %q in a list of %d", p.path, key, len(v))
			}
			at = v[n]
		default:
			return fmt.Errorf("set chart option %q: %q is no object", p.path, strings.Join(keys[:i], "."))
		}
	}
	m, ok := at.(map[string]any)
	if !ok {
		return fmt.Errorf("set chart option %q: no object to set it in", p.path)
	}
	m[keys[len(keys)-1]] = p.value
	return nil
}
