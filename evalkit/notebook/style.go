package notebook

import (
	_ "embed" // the style sheet
	"regexp"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit/chart"
	"github.com/chunkeval/chunkeval/evalkit/report"
)

//go:embed notebook.css
var ownStyle string

//go:embed theme.js
var themeScript string

var (
	page = regexp.MustCompile(`(?m)^(\s*)(:root|html|body|main) \{`)
	dark = regexp.MustCompile(`(?s)@media \(prefers-color-scheme: dark\) \{\s*:root \{(.*?)\}\s*\}`)
)

// style returns the style sheet of a piece. The report's own is for whole pages:
// here its rules are nested below .evalkit, so that nothing else in the notebook
// changes, twice, so that they stand above those of Jupyter; and it is dark where the notebook is dark, whatever the reader
// prefers elsewhere.
//
// Note: nested rules need a browser of 2023 or newer.
func style() string {
	sheet := report.Style()
	night := ""
	if m := dark.FindStringSubmatch(sheet); m != nil {
		night = m[1]
	}
	sheet = dark.ReplaceAllString(sheet, "")
	sheet = page.ReplaceAllString(sheet, "$1& {")
	return ".evalkit.evalkit {\n" + sheet + ownStyle + "}\n" + darkHosts + " {" + night + "}\n"
}

// darkHosts selects pieces in notebooks that are dark: JupyterLab, Notebook 7 and
// exported HTML mark their body by the first, Visual Studio Code by the others.
const darkHosts = `body[data-jp-theme-light="false"] .evalkit, body.vscode-dark .evalkit, body.vscode-high-contrast .evalkit`

// drawScript draws the charts of a piece, at once or, where Start's output comes
// into the page later, as soon as the library is there.
func drawScript() string {
	return strings.Join([]string{
		"(function () {", "function draw() {", chart.Script(), "}", "if (window.echarts) { draw(); return; }",
		"var tries = 0, timer = setInterval(function () { if (window.echarts || ++tries > 50) { clearInterval(timer); draw(); } }, 100);",
		"})();",
	}, "\n")
}
