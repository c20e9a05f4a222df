package chart

// The palette reads on white and on near-black (contrast 3:1 or more on both) and
// stays apart for the colour-blind: two of its colours differ by 18 or more in
// CIE L*a*b* as seen with no, red, green or blue deficiency (Machado et al. 2009,
// severity 1). Six colours, seven patterns, seven symbols and five dashes: their
// cycles do not fall together, so 30 series are 30 different pictures.
var palette = []string{"#0077bb", "#d55e00", "#12a76c", "#c70033", "#9541e8", "#a17b9c"}

const (
	higherColour = "#0077bb"
	lowerColour  = "#d55e00"
	sameColour   = "#7f7f7f"
)

var symbols = []symbol{{"circle", false}, {"triangle", true}, {"rect", false}, {"diamond", true}, {"triangle", false}, {"rect", true}, {"diamond", false}}

// A symbol is a shape of ECharts; a hollow one shows its edge. ECharts' own empty
// shapes are filled with white, whatever the page is.
type symbol struct {
	shape  string
	hollow bool
}

// A look tells one line from others.
type look struct {
	colour string
	symbol symbol
	dash   any
}

// item is the style of the symbols. Script fills hollow ones with the ground of
// the page, so that the line does not cross them.
func (l look) item() map[string]any {
	if l.symbol.hollow {
		return map[string]any{"color": hollowColour, "borderColor": l.colour, "borderWidth": 2}
	}
	return map[string]any{"color": l.colour}
}

// onFill is the colour of a number on a filled symbol, in any theme: 4.5:1 or
// more on higherColour.
const onFill = "#ffffff"

const hollowColour = "transparent"

// dashes are line types; the numbers are pixels drawn and left out.
var dashes = []any{"solid", "dashed", "dotted", []int{9, 3, 2, 3}, []int{2, 5}}

// decal is a pattern of ECharts' aria component.
type decal map[string]any

// decals are the patterns of bars, in the order of series. The first is plain.
func decals() []decal {
	const ink = "rgba(0,0,0,0.45)"
	line := func(angle float64, gap, width int) decal {
		return decal{"color": ink, "symbol": "rect", "dashArrayX": []int{1, 0}, "dashArrayY": []int{width, gap}, "rotation": angle}
	}
	dot := func(symbol string, size float64) decal {
		return decal{
			"color": ink, "symbol": symbol, "symbolSize": size,
			"dashArrayX": [][]int{{6, 6}, {0, 6, 6, 0}}, "dashArrayY": []int{6, 0},
		}
	}
	const eighth = 0.7853981633974483 // pi/4, radians
	return []decal{
		{"symbol": "none"},
		line(eighth, 5, 2),
		dot("circle", 0.7),
		line(-eighth, 5, 2),
		line(2*eighth, 4, 2),
		dot("triangle", 0.9),
		line(0, 4, 2),
	}
}

// heatColours run from few to many and grow darker in grey, too.
var heatColours = []string{"#f1eef6", "#bdc9e1", "#74a9cf", "#2b8cbe", "#045a8d"}
