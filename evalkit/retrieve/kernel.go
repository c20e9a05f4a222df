package retrieve

// lanes is the number of partial sums of a dot product. Element i goes to sum
// i mod lanes, each sum adds in order, and the sums are added in pairs: a fixed
// order, so the result has the same bits on every machine, with or without
// vector instructions, and for any number of workers.
const lanes = 8

// rowsAtOnce is the number of rows that vector instructions work on together.
const rowsAtOnce = 4

// dotRows sets out[i] to the dot product of q and row i of rows, which holds
// len(out) rows of len(q).
func dotRows(out, q, rows []float32) {
	n, done := len(q), 0
	if hasVectors && n >= lanes {
		var sums [rowsAtOnce][lanes]float32
		for ; done+rowsAtOnce <= len(out); done += rowsAtOnce {
			sumLanes4(&sums, q, rows[done*n:(done+rowsAtOnce)*n])
			for r := range sums {
				out[done+r] = finish(&sums[r], q, rows[(done+r)*n:(done+r+1)*n])
			}
		}
	}
	for i := done; i < len(out); i++ {
		out[i] = dot(q, rows[i*n:(i+1)*n])
	}
}

// dot returns the dot product of two rows of equal length.
func dot(a, b []float32) float32 {
	var s [lanes]float32
	sumLanes(&s, a, b)
	return finish(&s, a, b)
}

// sumLanes sets s to the partial sums over the elements that fill all lanes.
//
// Note: the conversions keep compilers from fusing a product with a sum, which
// some architectures do and others do not.
func sumLanes(s *[lanes]float32, a, b []float32) {
	for i := 0; i+lanes <= len(a); i += lanes {
		x, y := (*[lanes]float32)(a[i:]), (*[lanes]float32)(b[i:])
		s[0] += float32(x[0] * y[0])
		s[1] += float32(x[1] * y[1])
		s[2] += float32(x[2] * y[2])
		s[3] += float32(x[3] * y[3])
		s[4] += float32(x[4] * y[4])
		s[5] += float32(x[5] * y[5])
		s[6] += float32(x[6] * y[6])
		s[7] += float32(x[7] * y[7])
	}
}

// finish adds the elements that do not fill all lanes, and the lanes.
func finish(s *[lanes]float32, a, b []float32) float32 {
	for i := len(a) - len(a)%lanes; i < len(a); i++ {
		s[i%lanes] += float32(a[i] * b[i])
	}
	return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}
