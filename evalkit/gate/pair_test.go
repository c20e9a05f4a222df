package gate

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestChangedStrategiesArePaired: a change of the settings of a strategy is what a
// gate is for.
func TestChangedStrategiesArePaired(t *testing.T) {
	const config = "retriever: bm25\nqueries: ['h0*']\nstrategies: "
	base := ran(t, config+"[fixed_size(size=200), markdown(size=200), sentence(size=200)]\n", 0)
	one := ran(t, config+"[fixed_size(size=40), markdown(size=200), sentence(size=200)]\n", 0)
	v := decide(t, base, one)
	assert.Contains(t, v.Warnings, "fixed_size(size=200,overlap=0,unit=token) of the baseline is held against fixed_size(size=40,overlap=0,unit=token): no other fixed_size is left")
	at := slices.IndexFunc(v.Checks, func(k Check) bool { return k.Strategy == "fixed_size(size=40,overlap=0,unit=token)" })
	require.GreaterOrEqual(t, at, 0)
	assert.NotNil(t, v.Checks[at].Delta)
	assert.Equal(t, Fail, v.State, "chunks of 40 find less")
	assert.Len(t, v.Checks, 9, "three rules for each of three")

	two := ran(t, config+"[fixed_size(size=40), fixed_size(size=50), markdown(size=200), recursive(size=200)]\n", 0)
	v = decide(t, base, two)
	var lost []string
	for _, k := range v.Checks {
		if k.Delta == nil {
			assert.Contains(t, k.Text, "--map OLD=NEW")
			lost = append(lost, k.Strategy)
		}
	}
	assert.Equal(t, []string{"fixed_size(size=200,overlap=0,unit=token)", "sentence(size=200,overlap=0,unit=token)"}, lost, "which of two is not guessed")

	renamed := func(pairs ...string) (*Verdict, error) {
		var o Options
		for _, p := range pairs {
			r, err := ParseRenamed(p)
			require.NoError(t, err)
			o.Renamed = append(o.Renamed, r)
		}
		return Decide(input(base), input(two), DefaultPolicy(), o)
	}
	v, err := renamed("fixed_size=fixed_size(size=50)", "sentence=recursive(size=200)")
	require.NoError(t, err)
	for _, k := range v.Checks {
		assert.NotNil(t, k.Delta, k.Strategy)
	}
	assert.Equal(t, "fixed_size(size=50,overlap=0,unit=token)", v.Checks[0].Strategy)
	for pair, want := range map[string]string{
		"page=recursive":                  `strategy "page": 0 of `,
		"fixed_size(size=200)=fixed_size": `strategy "fixed_size": 2 of `,
		"fixed_size(=markdown":            "want OLD=NEW",
	} {
		r, err := ParseRenamed(pair)
		if err == nil {
			_, err = Decide(input(base), input(two), DefaultPolicy(), Options{Renamed: []Renamed{r}})
		}
		assert.ErrorContains(t, err, want, pair)
	}
	_, err = ParseRenamed("fixed_size(size=200)")
	assert.ErrorContains(t, err, "want OLD=NEW")
}
