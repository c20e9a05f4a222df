package retrieve

// hasVectors reports whether processor and system have AVX.
var hasVectors = detectAVX()

// sumLanes4 is sumLanes for four rows, with AVX. It multiplies, rounds, and
// adds, as the Go code does; a fused instruction would give other bits.
func sumLanes4(sums *[rowsAtOnce][lanes]float32, q, rows []float32) {
	sumLanesAVX(sums, &q[0], &rows[0], len(q)-len(q)%lanes, 4*len(q))
}

// sumLanesAVX works on the first n elements, a multiple of 8, of four rows
// that are stride bytes apart.
//
//go:noescape
func sumLanesAVX(sums *[rowsAtOnce][lanes]float32, q, rows *float32, n, stride int)

func detectAVX() bool
