package report

import (
	"fmt"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/chart"
	"github.com/chunkeval/chunkeval/evalkit/compare"
)

// readable is the number of curves that can be told apart at one look.
const readable = 8

// A drawnCurve is a curve with the retriever whose ranking it follows.
type drawnCurve struct {
	*compare.Curve
	Retriever string
}

// curvesOf returns the curves of all strategies and windows. One that another
// Experiment has as well is there once: hits depend on the retriever alone.
func curvesOf(all []*Entry) []drawnCurve {
	var out []drawnCurve
	seen := map[string]bool{}
	for _, x := range all {
		for _, l := range x.Looks {
			for _, c := range l.Curves {
				if key := label(l.Strategy, c.Window) + " " + x.Retriever(); !seen[key] {
					seen[key] = true
					out = append(out, drawnCurve{c, x.Retriever()})
				}
			}
		}
	}
	return out
}

// shownFirst chooses the curves that a chart begins with: all of them if they are
// few and of one retriever; else those of the first's retriever, that of the
// first, then each strategy without neighbors, then windows while there is room.
func shownFirst(curves []drawnCurve, first drawnCurve) []bool {
	shown := make([]bool, len(curves))
	n, several := 0, false
	for _, c := range curves {
		several = several || c.Retriever != first.Retriever
	}
	show := func(wanted func(drawnCurve) bool) {
		for i, c := range curves {
			if !shown[i] && n < readable && c.Retriever == first.Retriever && wanted(c) {
				shown[i] = true
				n++
			}
		}
	}
	if !several && len(curves) <= readable {
		show(func(drawnCurve) bool { return true })
		return shown
	}
	show(func(c drawnCurve) bool { return c.Strategy == first.Strategy && c.Window == first.Window })
	show(func(c drawnCurve) bool { return c.Window == (evalkit.Window{}) })
	show(func(drawnCurve) bool { return true })
	return shown
}

// curveChart draws recall against context tokens for every strategy and window;
// pick is the curve that must be among those shown first, the zero value for the
// first one.
func curveChart(all []*Entry, pick drawnCurve) (*chart.Chart, error) {
	t := chart.CurveTable{
		Title: "Recall against context tokens", XAxis: "mean context tokens", YAxis: "recall of what is sent",
		Note: "Each point sends one hit more; a hit with its neighbors is one unit. Compare curves at the same number of tokens. A strategy has a colour, a window a dash.",
	}
	curves := curvesOf(all)
	if len(curves) == 0 {
		return nil, nil
	}
	if pick.Curve == nil {
		pick = curves[0]
	}
	several := false
	for _, c := range curves {
		several = several || c.Retriever != curves[0].Retriever
	}
	shown := shownFirst(curves, pick)
	for i, c := range curves {
		s := chart.CurveSeries{Name: label(c.Strategy, c.Window), Colour: c.Strategy, Dash: c.Window.String(), Off: !shown[i]}
		if several {
			s.Name += " · " + c.Retriever
			s.Dash += " " + c.Retriever
		}
		for _, p := range c.Points {
			s.Points = append(s.Points, curvePoint(p, c.Window))
		}
		t.Series = append(t.Series, s)
	}
	return chart.Curve(t)
}

// picked returns the curve of the recommended setting; the zero value without one.
func (s *Study) picked() drawnCurve {
	if s.Recommendation.Pick < 0 {
		return drawnCurve{}
	}
	o := s.Recommendation.Options[s.Recommendation.Pick]
	for _, c := range curvesOf(s.Experiments) {
		if c.Strategy == o.Strategy && c.Window == o.Window && c.Retriever == s.entry(o.Experiment).Retriever() {
			return c
		}
	}
	return drawnCurve{}
}

func curvePoint(p compare.Point, w evalkit.Window) chart.CurvePoint {
	y := p.Recall
	out := chart.CurvePoint{X: p.Tokens, Y: &y, Label: fmt.Sprintf("k=%d %s", p.Depth, w)}
	if p.Interval != nil {
		lo, hi := p.Interval.Lo, p.Interval.Hi
		out.Lo, out.Hi = &lo, &hi
	}
	return out
}
