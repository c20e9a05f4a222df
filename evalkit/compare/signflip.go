package compare

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// exactPairs is the largest number of pairs of which all sign patterns are counted.
const exactPairs = 20

// A Test is the result of a sign-flip permutation test.
type Test struct {
	P     float64 // two-sided; in (0,1]
	Exact bool    // all sign patterns were counted
	Draws int     // sign patterns looked at beside the observed one
}

// SignFlip tests whether paired differences have mean 0: under the null
// hypothesis each difference may as well have the other sign.
//
//	p = (b+1)/(m+1), b of m sign patterns with |mean| >= the observed |mean|
//
// Of up to 20 pairs all patterns are counted, and the observed one, which is
// among them, is the +1; else m = draws random ones are. If all differences are
// 0, p is 1. Source: Fisher 1935; Phipson and Smyth 2010 for the +1.
func SignFlip(d []float64, draws int, seed uint64) Test {
	moved := nonZero(d)
	if len(moved) == 0 {
		return Test{P: 1, Exact: true}
	}
	sum, scale := 0.0, 0.0
	for _, v := range moved {
		sum += v
		scale += math.Abs(v)
	}
	// Sums in another order differ by rounding; a pattern as extreme counts.
	limit := math.Abs(sum) - 1e-10*scale
	if len(moved) <= exactPairs {
		m := 1<<len(moved) - 1
		return Test{P: float64(countAll(moved, limit)) / float64(m+1), Exact: true, Draws: m}
	}
	r := rand.New(rand.NewPCG(seed, 0x5167))
	f := newFlips(moved)
	b := 0
	for range draws {
		if math.Abs(f.draw(r)) >= limit {
			b++
		}
	}
	return Test{P: float64(b+1) / float64(draws+1), Draws: draws}
}

// nonZero returns what can flip: a difference of 0 has no sign, and leaving it
// out changes no sum.
func nonZero(d []float64) []float64 {
	var out []float64
	for _, v := range d {
		if v != 0 {
			out = append(out, v)
		}
	}
	return out
}

// countAll counts the sign patterns whose |sum| is at least limit, in Gray code
// order, so that each differs from the one before in one sign.
func countAll(d []float64, limit float64) int {
	signed := slices.Clone(d)
	sum := 0.0
	for _, v := range d {
		sum += v
	}
	n := 1 // the observed one
	for i := 1; i < 1<<len(d); i++ {
		at := bits.TrailingZeros(uint(i))
		sum -= 2 * signed[at]
		signed[at] = -signed[at]
		if math.Abs(sum) >= limit {
			n++
		}
	}
	return n
}

// flipGroup is the number of differences whose signed sums are looked up at once.
const flipGroup = 8

// flips holds, for each group of differences, its sum under every sign pattern:
// bit i of the index flips difference i of the group.
type flips [][1 << flipGroup]float64

func newFlips(d []float64) flips {
	var all flips
	for group := range slices.Chunk(d, flipGroup) {
		var sums [1 << flipGroup]float64
		for pattern := range sums {
			for i, v := range group {
				if pattern>>i&1 == 1 {
					v = -v
				}
				sums[pattern] += v
			}
		}
		all = append(all, sums)
	}
	return all
}

// draw returns the sum of all differences under a random pattern.
func (f flips) draw(r *rand.Rand) float64 {
	sum := 0.0
	for part := range slices.Chunk(f, 64/flipGroup) {
		word := r.Uint64()
		for i := range part {
			sum += part[i][word%(1<<flipGroup)]
			word >>= flipGroup
		}
	}
	return sum
}
