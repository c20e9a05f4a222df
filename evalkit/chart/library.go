package chart

import (
	"embed"
	"strings"

	"github.com/go-echarts/go-echarts/v2/charts"
)

//go:embed assets
var assets embed.FS

//go:embed chart.js
var script string

//go:embed chart.css
var style string

// Library returns ECharts as a script; false if this program was built without
// it (see assets/README.md).
func Library() (js []byte, ok bool) {
	js, err := assets.ReadFile("assets/echarts.min.js")
	return js, err == nil
}

// CDN returns the address of ECharts that go-echarts would put into a page, for
// pages of a program without Library.
func CDN() string {
	b := charts.NewBar()
	b.Validate()
	return b.JSAssets.Values[0]
}

// Inline returns the library for a page that may hold a module loader as well,
// such as RequireJS in an exported notebook: define, module and exports are
// hidden from it, so that it always sets window.echarts. It holds no end tag of
// a script. "" if there is no Library.
func Inline() string {
	js, ok := Library()
	if !ok {
		return ""
	}
	s := strings.ReplaceAll(string(js), "</script", `<\/script`)
	return "(function(define,module,exports){\n" + s + "\n}).call(window);\n"
}

// Script returns the script that draws the figures which HTML writes. It needs
// window.echarts, holds no end tag of a script, and runs under a content
// security policy of script-src 'self' when served as a file. It may stand in a
// page more than once. A figure's data-chart-state is then "drawn", "failed"
// (the figure says why and its table is open) or, in a closed part of the page,
// "waiting".
func Script() string { return script }

// Style returns the style sheet of the figures. Colours are those of the page's
// variables --fg, --muted, --line and --bg; without them, dark on white or
// light on near-black as the reader prefers, and dark on white in print.
func Style() string { return style }
