package report

import (
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit/chart"
	"github.com/chunkeval/chunkeval/evalkit/compare"
)

//go:embed templates/*.tmpl
var templateFiles embed.FS

//go:embed assets/evalkit.css
var styleSheet string

//go:embed assets/evalkit.js
var script string

// templates never changes after it was parsed.
var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"plural": plural, "number": number, "score": score, "percent": percent, "signed": signed, "pvalue": pvalue,
	"distance": distance, "cell": cell, "interval": interval,
	"figure": chart.HTML, "list": func(s ...string) []string { return s }, "code": code, "strategy": strategy, "display": display, "times100": func(v float64) float64 { return 100 * v },
	"join":  strings.Join,
	"deref": func(v *float64) float64 { return *v }, "points": points,
}).ParseFS(templateFiles, "templates/*.tmpl"))

// A page is one HTML document.
type page struct {
	Title string
	// Root is the way from this page to the site's root, "" or "../../"; the
	// page stands alone if Alone is set.
	Root  string
	Alone bool
	Live  bool     // served: queries and runs can be started
	Data  []Script // data that scripts read, inlined in a page that stands alone
	Body  any
	// Reports ends the names of the reports that the page links to. Datasets are
	// those to choose from on a report, if there are several.
	Reports  string
	Datasets []reported
	name     string // of the template
	report   string // "managerial" or "technical", on those
}

// A Script is data for the page's script: evalkit.data[Name] = JSON.
type Script struct {
	Name string
	JSON template.JS
}

// Style and the other methods are what a page that stands alone holds.
func (page) Style() template.CSS { return template.CSS(Style()) }

// Scripts returns the library and the scripts of a page that stands alone.
func (p page) Scripts() template.JS {
	return template.JS(chart.Inline() + "\n" + chart.Script() + "\n" + script)
}

// Report returns which report the page is.
func (p page) Report() string { return p.report }

// Fallback returns where the chart library is loaded from if it is not at hand.
func (page) Fallback() string {
	if _, ok := chart.Library(); ok {
		return ""
	}
	return chart.CDN()
}

// Content renders the body of the page.
func (p page) Content() (template.HTML, error) {
	return render(p.name, p.Body)
}

func (p page) write(w io.Writer) error { return templates.ExecuteTemplate(w, "page", p) }

// toJSON encodes v for a script: <, > and & are escaped, so that no text can
// end the script element.
func toJSON(v any) (template.JS, error) {
	b, err := json.Marshal(v)
	return template.JS(b), err
}

// render executes one template.
func render(name string, v any) (template.HTML, error) {
	var b strings.Builder
	err := templates.ExecuteTemplate(&b, name, v)
	return template.HTML(b.String()), err
}

// rounded keeps four places, for data that scripts show.
func rounded(v float64) *float64 {
	r := math.Round(v*1e4) / 1e4
	return &r
}

func plural(n int, what string) string {
	switch {
	case n == 1:
		return what
	case strings.HasSuffix(what, "y"):
		return strings.TrimSuffix(what, "y") + "ies"
	}
	return what + "s"
}

// number prints a metric: three places for fractions, none for large counts.
func number(v float64) string {
	switch {
	case v == math.Trunc(v) && math.Abs(v) < 1e6 && math.Abs(v) >= 2:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case math.Abs(v) >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case math.Abs(v) >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 3, 64)
}

func score(v float64) string { return strconv.FormatFloat(v, 'f', 4, 64) }

func percent(v float64) string { return fmt.Sprintf("%.0f %%", 100*v) }

// signed prints a difference with its sign; a true minus.
func signed(v float64) string {
	s := number(math.Abs(v))
	switch {
	case v > 0:
		return "+" + s
	case v < 0:
		return "−" + s
	}
	return s
}

func pvalue(p float64) string {
	switch {
	case p < 0.001:
		return "< 0.001"
	case p == 1:
		return "1"
	}
	return fmt.Sprintf("%.3f", p)
}

func interval(i *compare.Interval) string {
	if i == nil {
		return ""
	}
	return "[" + plain(i.Lo) + ", " + plain(i.Hi) + "]"
}

// plain prints a number with a true minus and no plus.
func plain(v float64) string { return strings.TrimPrefix(signed(v), "+") }

func distance(d int) string {
	if d < 0 {
		return fmt.Sprintf("%d before the text", -d)
	}
	return fmt.Sprintf("%d after the text", d)
}

// points prints a difference of shares in percentage points.
func points(v float64) string { return strings.Replace(fmt.Sprintf("%+.1f", 100*v), "-", "−", 1) }

// cell is a table cell with a number that sorts as a number.
func cell(v *float64, title string) template.HTML {
	if v == nil {
		return template.HTML(`<td class="num na" title="` + template.HTMLEscapeString(title) + `">n/a</td>`)
	}
	return template.HTML(fmt.Sprintf(`<td class="num" data-v="%v">%s</td>`, *v, number(*v)))
}

// strategy prints one as display shows it, with its full written form as the title.
func strategy(s string) template.HTML {
	short := display(s)
	if short == s {
		return code(s)
	}
	return template.HTML(strings.Replace(string(code(short)), "<code", `<code title="`+template.HTMLEscapeString(s)+`"`, 1))
}

// code prints a component; it may break after a comma or a bracket.
func code(s string) template.HTML {
	escaped := template.HTMLEscapeString(s)
	return template.HTML("<code>" + strings.NewReplacer("(", "(<wbr>", ",", ",<wbr>").Replace(escaped) + "</code>")
}
