// Package embed turns texts into vectors without a download: latent semantic
// analysis, fitted once per data set, and feature hashing, which is for tests.
// It also holds the Cache, which keeps the vectors of any embedder on disk.
//
// It does not hold neural models; those are evalkit.Embedders of their own. It
// does not cut texts into sentences and does not rank anything.
//
// Every row has length 1, or is all zero where the model has no vector. The
// same input gives the same bits, for any number of processors.
package embed
