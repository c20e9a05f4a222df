package notebook

import (
	"bytes"
	"fmt"
	"html/template"
	"os"
	"strings"

	"github.com/janpfeifer/gonb/gonbui"

	"github.com/chunkeval/chunkeval/evalkit/chart"
)

// Start puts the chart library into the page. The first cell of a notebook calls
// it; cells that were shown before the library was there wait for it for a while.
func Start() {
	lib := chart.Inline()
	if lib == "" {
		display(piece(template.HTML(`<p class="note">The chart library is not in this checkout: charts show their numbers as tables. <code>make setup</code> fetches it.</p>`)))
		return
	}
	display("<script>" + lib + themeScript + "</script>")
}

// HTML shows a piece of HTML in the style of everything else. Charts that
// chart.HTML made are drawn in it.
func HTML(body template.HTML) { display(piece(body)) }

// Must returns v, or ends the cell with err.
func Must[T any](v T, err error) T {
	Check(err)
	return v
}

// Check ends the cell with err, unless that is nil.
func Check(err error) {
	if err == nil {
		return
	}
	gonbui.Sync()
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// display shows html as an output of the cell and waits until it is sent.
func display(html string) {
	gonbui.DisplayHTML(html)
	gonbui.Sync()
}

// piece returns body with all that it needs in a page: style, and the script that
// draws charts, if there are any.
func piece(body template.HTML) string {
	var b strings.Builder
	b.WriteString(`<div class="evalkit"><style>` + style() + `</style>` + string(body) + `</div>`)
	if strings.Contains(string(body), "data-chart") {
		b.WriteString("<script>" + drawScript() + "</script>")
	}
	return b.String()
}

// render executes one of this package's templates.
func render(t *template.Template, v any) (template.HTML, error) {
	var b bytes.Buffer
	if err := t.Execute(&b, v); err != nil {
		return "", fmt.Errorf("show %s: %w", t.Name(), err)
	}
	return template.HTML(b.String()), nil
}
