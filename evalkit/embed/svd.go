package embed

import (
	"context"
	"fmt"
	"math"
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
	rankTolerance = 1e-7
	// maxCondition is the condition of XᵀX up to which its Cholesky factor
	// makes columns orthogonal, to some 1e-8.
	maxCondition = 1e8
)

// rightVectors returns the first right singular vectors of a as columns: at
// most dim, fewer if the rank is lower. It is the randomized method of Halko,
// Martinsson and Tropp, SIAM Review 2011, algorithms 4.4 and 5.1: a random
// projection of the range of a, sharpened by power iterations, with an
// orthonormal basis after each.
//
// Note: gonum computes each block of a product on one goroutine, in a fixed
// order, so the bits do not depend on the number of processors.
func rightVectors(ctx context.Context, a sparse, dim int, seed uint64) (blas64.General, error) {
	width := min(dim+oversample, len(a.rows), a.cols)
	rng := rand.New(rand.NewPCG(seed, 0))
	x := newDense(a.cols, width)
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64()
	}
	at := a.transpose()
	for range 1 + powers {
		q, err := a.mul(ctx, x)
		if err != nil {
			return x, err
		}
		if err := orthonormalize(ctx, q); err != nil {
			return x, err
		}
		if x, err = at.mul(ctx, q); err != nil { // a ≈ q·xᵀ
			return x, err
		}
	}
	return leftVectors(ctx, x, dim)
}

// leftVectors returns the first left singular vectors of x as columns, at most
// dim: with xᵀx = W·Σ²·Wᵀ they are x·W·Σ⁻¹.
func leftVectors(ctx context.Context, x blas64.General, dim int) (blas64.General, error) {
	g, err := gram(ctx, x)
	if err != nil {
		return x, err
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(g, true) {
		return x, fmt.Errorf("singular values of a %d×%d matrix did not converge", x.Rows, x.Cols)
	}
	squares := eigen.Values(nil) // ascending
	largest := squares[len(squares)-1]
	var w mat.Dense
	eigen.VectorsTo(&w)
	scaled := newDense(x.Cols, min(dim, x.Cols))
	rank := 0
	for ; rank < scaled.Cols; rank++ {
		from := x.Cols - 1 - rank
		if squares[from] <= rankTolerance*rankTolerance*largest {
			break
		}
		for i := range x.Cols {
			scaled.Data[i*scaled.Stride+rank] = w.At(i, from) / math.Sqrt(squares[from])
		}
	}
	scaled.Cols = rank
	v := newDense(x.Rows, rank)
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, x, scaled, 0, v)
	return v, nil
}

// gram returns xᵀx, of which only the blocks on and above the diagonal are
// computed and set.
func gram(ctx context.Context, x blas64.General) (*mat.SymDense, error) {
	g := newDense(x.Cols, x.Cols)
	n := (x.Cols + rowBlock - 1) / rowBlock
	err := parallel(ctx, n*n, func(k int) {
		i, j := k/n, k%n
		if j < i {
			return
		}
		c := columns(g, j)
		c.Rows, c.Data = min(rowBlock, x.Cols-i*rowBlock), c.Data[i*rowBlock*g.Stride:]
		blas64.Gemm(blas.Trans, blas.NoTrans, 1, columns(x, i), columns(x, j), 0, c)
	})
	return mat.NewSymDense(x.Cols, g.Data), err
}

// columns returns block i of the columns of x; it shares memory with x.
func columns(x blas64.General, i int) blas64.General {
	x.Cols, x.Data = min(rowBlock, x.Cols-i*rowBlock), x.Data[i*rowBlock:]
	return x
}

// orthonormalize replaces x, at least as high as wide, by an orthonormal basis
// of its columns' space, or of a larger one if they are not independent.
//
// Note: dividing by the Cholesky factor of xᵀx is several times as fast as
// Householder's reflections, which are kept for what is nearly singular.
func orthonormalize(ctx context.Context, x blas64.General) error {
	g, err := gram(ctx, x)
	if err != nil {
		return err
	}
	var chol mat.Cholesky
	if !chol.Factorize(g) || chol.Cond() > maxCondition {
		householder(x)
		return ctx.Err()
	}
	r := chol.RawU().(*mat.TriDense).RawTriangular()
	return parallel(ctx, (x.Rows+rowBlock-1)/rowBlock, func(i int) {
		part := x
		part.Rows = min(rowBlock, x.Rows-i*rowBlock)
		part.Data = x.Data[i*rowBlock*x.Stride:]
		blas64.Trsm(blas.Right, blas.NoTrans, 1, r, part)
	})
}

// rowBlock is the number of rows or columns that are worked on at once.
const rowBlock = 64

// householder replaces x by the Q of its QR factorization.
func householder(x blas64.General) {
	tau := make([]float64, x.Cols)
	size := []float64{0}
	lapack64.Geqrf(x, tau, size, -1)
	n := int(size[0])
	lapack64.Orgqr(x, tau, size, -1)
	work := make([]float64, max(n, int(size[0])))
	lapack64.Geqrf(x, tau, work, len(work))
	lapack64.Orgqr(x, tau, work, len(work))
}
