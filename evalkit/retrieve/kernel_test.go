package retrieve

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Vector instructions give the bits of the Go code, whatever the sizes.
func TestKernelBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	for _, dim := range []int{1, 7, 8, 9, 15, 16, 100, 384} {
		for _, n := range []int{0, 1, 3, 4, 5, 8, 13} {
			q, rows, out := make([]float32, dim), make([]float32, n*dim), make([]float32, n)
			for i := range q {
				q[i] = float32(rng.NormFloat64() * math.Pow(10, rng.Float64()*8-4))
			}
			for i := range rows {
				rows[i] = float32(rng.NormFloat64() * math.Pow(10, rng.Float64()*8-4))
			}
			dotRows(out, q, rows)
			for i, got := range out {
				row := rows[i*dim : (i+1)*dim]
				require.Equal(t, math.Float32bits(dot(q, row)), math.Float32bits(got), "dim %d, row %d of %d", dim, i, n)
				exact := 0.0
				size := 0.0
				for j := range q {
					exact += float64(q[j]) * float64(row[j])
					size += math.Abs(float64(q[j]) * float64(row[j]))
				}
				require.InDelta(t, exact, float64(got), 1e-5*size)
			}
		}
	}
}

func BenchmarkDotRows(b *testing.B) {
	const n, dim = 64, 384
	q, rows, out := make([]float32, dim), make([]float32, n*dim), make([]float32, n)
	for b.Loop() {
		dotRows(out, q, rows)
	}
	b.ReportMetric(2*n*dim*float64(b.N)/1e9/b.Elapsed().Seconds(), "GFLOP/s")
}
