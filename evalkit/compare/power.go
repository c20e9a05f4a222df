package compare

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Detectable returns the smallest true mean difference that a two-sided paired
// test at alpha finds with the given power, of n differences with standard
// deviation sd. It is in the unit of sd.
//
//	(z(1-alpha/2) + z(power)) · sd/√n
//
// Source: Cohen 1988, with normal quantiles; from n of about 20 it is close to
// the sign-flip test, which the tests of this package show.
func Detectable(sd float64, n int, alpha, power float64) float64 {
	return factor(alpha, power) * sd / math.Sqrt(float64(n))
}

// Needed returns the number of pairs of which a true mean difference delta is
// found with the given power. It is 0 for a delta of 0: no number is enough.
func Needed(sd, delta, alpha, power float64) int {
	if delta == 0 {
		return 0
	}
	root := factor(alpha, power) * sd / delta
	return int(math.Ceil(root * root))
}

func factor(alpha, power float64) float64 {
	z := distuv.UnitNormal
	return z.Quantile(1-alpha/2) + z.Quantile(power)
}
