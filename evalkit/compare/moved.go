package compare

import (
	"cmp"
	"math"
	"slices"

	"github.com/chunkeval/chunkeval/evalkit"
)

// A Move is a question whose value differs between two arms.
type Move struct {
	Query     evalkit.QueryID
	Base, Arm int // its places in the two arms
	Delta     float64
}

// Moved returns up to n questions that differ, the largest difference first;
// equal ones in the order of the baseline.
func Moved(base, arm *Arm, m Measure, n int) []Move {
	at := make(map[evalkit.QueryID]int, len(arm.Queries))
	for i, q := range arm.Queries {
		at[q.ID] = i
	}
	var out []Move
	for i, q := range base.Queries {
		j, ok := at[q.ID]
		if !ok || arm.Queries[j].Text != q.Text {
			continue
		}
		x, okx := base.Value(m, i)
		y, oky := arm.Value(m, j)
		if okx && oky && x != y {
			out = append(out, Move{q.ID, i, j, y - x})
		}
	}
	slices.SortStableFunc(out, func(a, b Move) int { return cmp.Compare(math.Abs(b.Delta), math.Abs(a.Delta)) })
	return out[:min(n, len(out))]
}
