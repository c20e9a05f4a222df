//go:build !amd64

package retrieve

// hasVectors is false: dot products are computed by the Go code.
const hasVectors = false

func sumLanes4(*[rowsAtOnce][lanes]float32, []float32, []float32) {}
