package embed

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

const (
	oversample = 10 // extra directions of the projection
	powers     = 2  // power iterations
	// rankTolerance is the share of the largest singular value below which a
	// direction counts as absent.
	rankTolerance = 1e-10
)

// rightVectors returns the first singular values of a, descending, and its
// right singular vectors as columns: at most dim, fewer if the rank is lower.
// It is the randomized method of Halko, Martinsson and Tropp, SIAM Review
// 2011, algorithms 4.4 and 5.1: a random projection of the range of a,
// sharpened by power iterations with a QR factorization after each.
//
// Note: gonum computes each block of a product on one goroutine, in a fixed
// order, so the bits do not depend on the number of processors.
func rightVectors(ctx context.Context, a sparse, dim int, seed uint64) (values []float64, v blas64.General, err error) {
	width := min(dim+oversample, len(a.rows), a.cols)
	rng := rand.New(rand.NewPCG(seed, 0))
	x := newDense(a.cols, width)
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64()
	}
	at := a.transpose()
	for i := 0; ; i++ {
		q, err := a.mul(ctx, x)
		if err != nil {
			return nil, v, err
		}
		orthonormalize(q)
		if x, err = at.mul(ctx, q); err != nil { // aᵀq: its left vectors are a's right ones
			return nil, v, err
		}
		if i == powers {
			break
		}
	}
	r := orthonormalize(x)
	var svd mat.SVD
	if !svd.Factorize(r, mat.SVDThin) {
		return nil, v, fmt.Errorf("singular values of a %d×%d matrix did not converge", width, width)
	}
	all := svd.Values(nil)
	rank := 0
	for rank < min(dim, len(all)) && all[rank] > rankTolerance*all[0] {
		rank++
	}
	var u mat.Dense
	svd.UTo(&u)
	left := u.RawMatrix()
	left.Cols = rank
	v = newDense(a.cols, rank)
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, x, left, 0, v)
	return all[:rank], v, nil
}

// orthonormalize replaces x, at least as high as wide, by the Q of its QR
// factorization, and returns R.
func orthonormalize(x blas64.General) *mat.Dense {
	tau := make([]float64, x.Cols)
	work := make([]float64, 1)
	lapack64.Geqrf(x, tau, work, -1)
	size := int(work[0])
	lapack64.Orgqr(x, tau, work, -1)
	work = make([]float64, max(size, int(work[0])))
	lapack64.Geqrf(x, tau, work, len(work))
	r := mat.NewDense(x.Cols, x.Cols, nil)
	for i := range x.Cols {
		for j := i; j < x.Cols; j++ {
			r.Set(i, j, x.Data[i*x.Stride+j])
		}
	}
	lapack64.Orgqr(x, tau, work, len(work))
	return r
}
