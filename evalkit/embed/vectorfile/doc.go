// Package vectorfile reads and writes vectors in files that other programs
// share: NumPy's .npy and HDF5, also in the layout of ann-benchmarks. Its
// embedder, precomputed, looks vectors up instead of computing them. It is not
// the cache of package embed. Parquet is read and written by package store, the
// only one that links it.
//
// A vector is found by the text that it stands for, never by a name: what a
// name stands for may change between two runs, and would give wrong results
// without a word.
package vectorfile
