package chart_test

import (
	"encoding/json"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit/chart"
)

func TestLibrary(t *testing.T) {
	js, ok := chart.Library()
	if !ok {
		assert.Empty(t, chart.Inline())
		t.Skip("the chart library is not here: scripts/fetch_echarts.sh fetches it")
	}
	assert.Contains(t, string(js[:100]), "Licensed to the Apache Software Foundation")
	inline := chart.Inline()
	assert.True(t, strings.HasPrefix(inline, "(function(define,module,exports){"), "a module loader is hidden")
	assert.NotContains(t, strings.ToLower(inline), "</script")
	script, err := os.ReadFile("../../scripts/fetch_echarts.sh")
	require.NoError(t, err)
	version := regexp.MustCompile(`(?m)^version=(.+)$`).FindSubmatch(script)
	require.NotNil(t, version)
	assert.Contains(t, string(js), `version="`+string(version[1])+`"`, "the version that the script pins")
}

func TestCDNIsOneScript(t *testing.T) {
	assert.Regexp(t, `^https://[^ ]+/echarts\.min\.js$`, chart.CDN())
}

func TestScriptRunsUnderAPolicy(t *testing.T) {
	s := chart.Script()
	assert.NotRegexp(t, `\beval\(|new Function|innerHTML|document\.write|</script`, s)
	for name, c := range each(t) {
		assert.NotRegexp(t, `(?i)\son[a-z]+=|javascript:|style=`, string(chart.HTML(c)), name)
	}
}

// TestClasses holds that the figure, its script and its style name the same things.
func TestClasses(t *testing.T) {
	html := string(chart.HTML(each(t)["bars"]))
	for _, m := range regexp.MustCompile(`class="([^"]*)"`).FindAllStringSubmatch(html, -1) {
		assert.True(t, strings.HasPrefix(m[1], "chart-"), m[1])
	}
	for _, m := range regexp.MustCompile(`querySelector(?:All)?\('\.([a-z-]+)'`).FindAllStringSubmatch(chart.Script(), -1) {
		assert.Contains(t, html, m[1])
	}
	for _, m := range regexp.MustCompile(`colour\(figure, '(--[a-z-]+)'`).FindAllStringSubmatch(chart.Script(), -1) {
		assert.Contains(t, chart.Style(), m[1]+":")
	}
}

// TestColoursReadOnBothThemes checks contrast as WCAG 2 defines it, on white and
// on near-black, and that no text has a colour of its own.
func TestColoursReadOnBothThemes(t *testing.T) {
	light, dark := luminance(t, "#ffffff"), luminance(t, "#121212")
	for name, c := range each(t) {
		var o struct{ Color []string }
		require.NoError(t, json.Unmarshal(c.Option, &o))
		require.NotEmpty(t, o.Color)
		for _, colour := range o.Color {
			l := luminance(t, colour)
			assert.GreaterOrEqual(t, (light+0.05)/(l+0.05), 3.0, colour)
			assert.GreaterOrEqual(t, (l+0.05)/(dark+0.05), 3.0, colour)
		}
		if name != "heat" && name != "pareto" { // their labels stand on cells and filled symbols, whose colour they fit
			assert.NotRegexp(t, `"(label|textStyle|axisLabel|nameTextStyle)":\{[^}]*"color"`, string(c.Option), name)
		}
	}
}

func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	n, err := strconv.ParseUint(hex[1:], 16, 32)
	require.NoError(t, err)
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		c := float64(n>>(16-8*i)&255) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}
