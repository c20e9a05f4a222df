package report

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/compare"
	"github.com/chunkeval/chunkeval/evalkit/experiment"
)

func TestDisplay(t *testing.T) {
	for full, want := range map[string]string{
		"fixed_size(size=100,overlap=0,unit=token)":       "fixed_size(size=100)",
		"fixed_size(size=200,overlap=40,unit=token)":      "fixed_size(size=200,overlap=40)",
		"fixed_size(size=100,overlap=0,unit=rune)":        "fixed_size(size=100,unit=rune)",
		"parent(size=400,child=100,unit=token)":           "parent(size=400,child=100)",
		"semantic(mode=percentile,threshold=95,size=100)": "semantic(mode=percentile,threshold=95,size=100)",
		"of_a_notebook(overlap=0)":                        "of_a_notebook(overlap=0)",
		`Price </script> & (`:                             `Price </script> & (`,
	} {
		assert.Equal(t, want, display(full))
	}
	assert.Equal(t, "markdown(size=200) ±1/2", label("markdown(size=200,unit=token)", evalkit.Window{Prev: 1, Next: 2}))
}

func TestCheapest(t *testing.T) {
	curve := func(name string, w evalkit.Window, points ...[2]float64) *compare.Curve {
		c := &compare.Curve{Strategy: name, Window: w}
		for i, p := range points {
			c.Points = append(c.Points, compare.Point{Depth: i + 1, Tokens: p[0], Recall: p[1]})
		}
		return c
	}
	curves := []*compare.Curve{
		curve("fixed_size", evalkit.Window{}, [2]float64{500, 0.3}, [2]float64{1000, 0.6}, [2]float64{1500, 0.7}),
		curve("fixed_size", evalkit.Window{Prev: 1, Next: 1}, [2]float64{1400, 0.6}, [2]float64{2800, 0.9}),
		curve("markdown", evalkit.Window{}, [2]float64{300, 0.4}, [2]float64{600, 0.69}, [2]float64{987, 0.7}),
	}
	of := []string{"bm25", "bm25", "bm25"}
	none := func(depth) bool { return false }

	got := cheapest(curves, of, 0.7, 0.8*3000, none)
	assert.Equal(t, "markdown with bm25 and top_k 3", got.String())
	assert.Equal(t, "990", got.About())
	assert.Equal(t, "fixed_size with bm25 and top_k 3", cheapest(curves, of, 0.7, 2400, func(d depth) bool { return d.Strategy == "markdown" && d.Depth == 3 }).String(), "what was run was weighed already")
	assert.Equal(t, "fixed_size ±1/1 with bm25 and top_k 2", cheapest(curves, of, 0.8, 3000, none).String())
	assert.Nil(t, cheapest(curves, of, 0.8, 2400, none), "none for clearly fewer tokens")
	assert.Nil(t, cheapest(curves, of, 0.95, 1e9, none), "none finds as much")
	assert.Nil(t, cheapest(nil, nil, 0, 1e9, none))
	for tokens, want := range map[float64]string{0: "0", 7.4: "7", 94: "94", 996: "1000", 1044: "1000", 1296: "1300", 23456: "23000"} {
		assert.Equal(t, want, depth{Point: compare.Point{Tokens: tokens}}.About())
	}
}

func TestFoldedWarnings(t *testing.T) {
	const only = "neighbor_prev and neighbor_next apply to fixed_size only"
	x := &Entry{Record: experiment.Record{
		Effective: []experiment.Effective{{Strategy: "fixed_size(size=100,overlap=0,unit=token)"}, {Strategy: "markdown(size=200,unit=token)"}, {Strategy: "page"}},
		Warnings:  []string{"markdown(size=200,unit=token): " + only, "no embedder", "page: " + only, "page: 3 oversize chunks"},
	}}
	assert.Equal(t, []string{"markdown(size=200), page: " + only, "no embedder", "page: 3 oversize chunks"}, x.FoldedWarnings())
}

func TestBestStrategyOfEqualRecallIsTheCheaper(t *testing.T) {
	strategy := func(name string, recall, tokens float64) experiment.StrategyResult {
		return experiment.StrategyResult{Strategy: name, Summary: []experiment.SummaryRow{
			{Metric: "recall", View: evalkit.Expanded, Mean: &recall}, {Metric: "context_tokens", View: evalkit.Expanded, Mean: &tokens},
		}}
	}
	r := &experiment.Result{Strategies: []experiment.StrategyResult{strategy("a", 0.9, 100), strategy("b", 1, 700), strategy("c", 1, 220), strategy("d", 1, 220)}}
	assert.Equal(t, "c", bestStrategy(r).Strategy)
	r.Strategies[1].Summary = r.Strategies[1].Summary[:1]
	assert.Equal(t, "c", bestStrategy(r).Strategy, "a cost that is not known is no low one")
	assert.Nil(t, bestStrategy(&experiment.Result{}))
}

func TestCostFirst(t *testing.T) {
	var got []string
	for _, m := range costFirst(compare.Headline())[:5] {
		got = append(got, m.String())
	}
	assert.Equal(t, []string{"recall", "recall+", "context_tokens+", "full_evidence+", "precision+"}, got)
	assert.Len(t, costFirst(compare.Headline()), len(compare.Headline()))
}

func TestBadges(t *testing.T) {
	title := func(b Badge) string {
		html, err := render("badge", b)
		assert.NoError(t, err)
		return string(html)
	}
	w := evalkit.Window{Prev: 1, Next: 2}
	assert.Contains(t, title(strategyBadge("markdown(size=200,unit=token)", evalkit.Window{})), `badge-muted" title="neighbor_prev 0, neighbor_next 0; neighbors do not apply to this strategy"`)
	assert.Contains(t, title(strategyBadge("fixed_size(size=200,overlap=0,unit=token)", w)), `class="badge" title="neighbor_prev 1, neighbor_next 2"`)
	rec := experiment.Record{Spec: experiment.Spec{NeighborPrev: 1, NeighborNext: 2}, Effective: []experiment.Effective{{Strategy: "page"}}}
	assert.Contains(t, title(badgeOf(rec)), `badge-muted" title="neighbor_prev 1, neighbor_next 2; fixed_size was not in the run`)
}

func TestShownFirst(t *testing.T) {
	var curves []drawnCurve
	for _, retriever := range []string{"bm25", "hybrid"} {
		for _, strategy := range []string{"a", "b", "c", "d", "e", "f"} {
			for n := range 2 {
				curves = append(curves, drawnCurve{&compare.Curve{Strategy: strategy, Window: evalkit.Window{Next: n}}, retriever})
			}
		}
	}
	names := func(all []drawnCurve, first drawnCurve) []string {
		var out []string
		for i, shown := range shownFirst(all, first) {
			if shown {
				out = append(out, label(all[i].Strategy, all[i].Window)+" "+all[i].Retriever)
			}
		}
		return out
	}
	assert.Equal(t, []string{"a hybrid", "a ±0/1 hybrid", "b hybrid", "c hybrid", "d hybrid", "e hybrid", "f hybrid", "f ±0/1 hybrid"}, names(curves, curves[23]), "the recommended, each strategy, then windows")
	assert.Len(t, names(curves[:8], curves[0]), 8, "few are shown whole")
	assert.Equal(t, []string{"f bm25", "f ±0/1 bm25"}, names(curves[10:14], curves[10]), "one retriever at a time")
}
