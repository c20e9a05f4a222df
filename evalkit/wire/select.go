package wire

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/chunkeval/chunkeval/evalkit"
)

// selectQueries returns ds with the queries whose id matches one of the
// patterns; there may be none. A pattern that matches none is warned of.
func selectQueries(ds *evalkit.Dataset, patterns []Value) (*evalkit.Dataset, error) {
	if patterns == nil {
		return ds, nil
	}
	part := *ds
	part.Queries = nil
	matches := make([]int, len(patterns))
	for _, q := range ds.Queries {
		keep := false
		for i, p := range patterns {
			ok, err := path.Match(p.Text, string(q.ID))
			if err != nil {
				return nil, p.At(fmt.Errorf("%q is not a pattern: %w", p.Text, err))
			}
			if ok {
				keep = true
				matches[i]++
			}
		}
		if keep {
			part.Queries = append(part.Queries, q)
		}
	}
	texts := make([]string, len(patterns))
	for i, p := range patterns {
		texts[i] = p.Text
	}
	part.Fingerprint += " queries " + strings.Join(texts, " ")
	part.Warnings = append(slices.Clone(ds.Warnings), fmt.Errorf("%d of %d queries match %q", len(part.Queries), len(ds.Queries), texts))
	for i, p := range patterns {
		if matches[i] == 0 {
			part.Warnings = append(part.Warnings, fmt.Errorf("no query matches %q: the ids are %s", p.Text, someIDs(ds.Queries)))
		}
	}
	return &part, nil
}

// someIDs lists a few ids.
func someIDs(queries []evalkit.Query) string {
	const shown = 5
	var ids []string
	for _, q := range queries[:min(shown, len(queries))] {
		ids = append(ids, strconv.Quote(string(q.ID)))
	}
	if more := len(queries) - len(ids); more > 0 {
		ids = append(ids, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(ids, ", ")
}
