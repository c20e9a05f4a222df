package wire

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/chunkeval/chunkeval/evalkit"
)

func TestSelectQueries(t *testing.T) {
	ds := &evalkit.Dataset{Name: "d"}
	for i := range 12 {
		ds.Queries = append(ds.Queries, evalkit.Query{ID: evalkit.QueryID(fmt.Sprintf("q%02d", i+1))})
	}
	part, err := selectQueries(ds, []Value{{Text: "q1*"}, {Text: "q01"}})
	require.NoError(t, err)
	assert.Len(t, part.Queries, 4)
	require.Len(t, part.Warnings, 1)
	assert.EqualError(t, part.Warnings[0], `4 of 12 queries match ["q1*" "q01"]`)
	part, err = selectQueries(ds, []Value{{Text: "q*"}, {Text: "p*"}})
	require.NoError(t, err)
	assert.Len(t, part.Queries, 12)
	assert.EqualError(t, part.Warnings[1], `no query matches "p*": the ids are "q01", "q02", "q03", "q04", "q05", and 7 more`)
	part, err = selectQueries(ds, []Value{{Text: "p*"}})
	require.NoError(t, err, "HO-PQ-04: an Experiment may have no rows")
	assert.Empty(t, part.Queries)
}
