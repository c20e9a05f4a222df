// Package hdf5 reads and writes the part of HDF5 that files of vectors use:
// arrays of numbers and strings in groups, whole, or in chunks that are
// deflated or shuffled. It is not a library for HDF5 at large: no compound
// types, no links but hard ones, and of the format that h5py calls "latest"
// only what is not in chunks.
//
// It follows the HDF5 File Format Specification, version 3.0.
//
// Note: own code, because the pure Go library github.com/scigolib/hdf5 v0.13.1
// finds nothing in a file that h5py wrote with its defaults (it drops the end
// of a version 1 object header), and gonum.org/v1/hdf5 needs the C library and
// its headers to build.
package hdf5
