package metric

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/chunkeval/chunkeval/evalkit"
)

// A Run is what one query retrieved, in rank order.
type Run struct {
	Query  evalkit.QueryID
	Chunks []evalkit.ChunkID
	Scores []float64 // one per chunk
}

// WriteRun writes TREC run lines, "query Q0 chunk rank score tag". A score that
// does not fall is lowered to the next smaller number, so that no other tool
// can reorder ties. White space in ids becomes an underscore. A score that is
// not a number is an error.
//
// Note: trec_eval reads scores as float32, where the next smaller float64 is a
// tie. Scores are therefore written as float32, and fall in that precision.
func WriteRun(w io.Writer, runs []Run, tag string) error {
	b := bufio.NewWriter(w)
	for _, r := range runs {
		last := float32(math.Inf(1))
		for i, c := range r.Chunks {
			if math.IsNaN(r.Scores[i]) {
				return fmt.Errorf("write run: query %q, chunk %s: the score is not a number", r.Query, c)
			}
			last = below(last, r.Scores[i])
			fmt.Fprintf(b, "%s Q0 %s %d %v %s\n", field(string(r.Query)), field(c.String()), i+1, last, field(tag))
		}
	}
	return b.Flush()
}

// WriteQrels writes TREC qrels lines, "query 0 chunk grade", queries as given
// and chunks by document and chunk_index. Fractional grades are rounded up.
func WriteQrels(w io.Writer, query evalkit.QueryID, grades map[evalkit.ChunkID]float64) error {
	b := bufio.NewWriter(w)
	ids := slices.SortedFunc(maps.Keys(grades), func(x, y evalkit.ChunkID) int {
		return cmp.Or(cmp.Compare(x.Doc, y.Doc), cmp.Compare(x.Index, y.Index))
	})
	for _, c := range ids {
		fmt.Fprintf(b, "%s 0 %s %d\n", field(string(query)), field(c.String()), int(math.Ceil(grades[c])))
	}
	return b.Flush()
}

// below returns score as a finite float32, lowered where it is not below last.
func below(last float32, score float64) float32 {
	const limit = math.MaxFloat32 / 2 // leaves room to step down from
	s := float32(max(-limit, min(limit, score)))
	if s >= last {
		return math.Nextafter32(last, float32(math.Inf(-1)))
	}
	return s
}

// field writes an id as one word: white space and % become %XX, so that two ids stay
// two.
func field(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r != '%' && !unicode.IsSpace(r) {
			b.WriteRune(r)
			continue
		}
		for _, c := range []byte(string(r)) {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
