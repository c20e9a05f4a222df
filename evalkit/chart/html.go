package chart

import (
	_ "embed" // the template
	"fmt"
	"html/template"
	"strings"
)

//go:embed figure.html
var figureText string

var figure = template.Must(template.New("figure").Funcs(template.FuncMap{
	"exact":  func(v *float64) string { return exact(*v) },
	"option": func(c *Chart) template.JS { return template.JS(c.Option) }, // escaped by build
	"join":   func(n []int) string { return strings.Trim(fmt.Sprint(n), "[]") },
}).Parse(figureText))

// HTML returns the figure: title, note, a place for the drawing, the option,
// buttons for PNG, SVG and CSV, and the table behind a disclosure. Script draws
// it; without it the table remains. All classes begin with "chart-".
func HTML(c *Chart) template.HTML {
	var b strings.Builder
	if err := figure.Execute(&b, c); err != nil {
		panic(fmt.Sprintf("figure of chart %q: %v", c.ID, err)) // a Chart has all that the template asks for
	}
	return template.HTML(b.String())
}
