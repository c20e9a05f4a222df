"""Exchanges files of vectors with evalkit/embed/vectorfile, whose test runs this.

    python scripts/vectors_reference.py FOLDER

Reads ours.npy, ours.h5 and ours.hdf5 (ann-benchmarks) in FOLDER, checks them,
and writes theirs. Needs numpy and h5py.
"""

import hashlib
import pathlib
import sys

import h5py
import numpy as np

folder = pathlib.Path(sys.argv[1])
texts = ["a", "b\u00e4", "b,c\nd"]
keys = [hashlib.sha256(t.encode()).hexdigest() for t in texts]
want = np.array([[1, 0], [0.6, 0.8], [0, 0]], dtype="f4")

got = np.load(folder / "ours.npy")
assert got.dtype == want.dtype and (got == want).all(), got
assert (folder / "ours.txt").read_text().split() == keys
with h5py.File(folder / "ours.h5") as f:
    assert (f["vectors"][()] == want).all()
    assert list(f["sha256"].asstr()[()]) == keys
with h5py.File(folder / "ours.hdf5") as f:
    assert f.attrs["distance"] == "angular" and f.attrs["dimension"] == 2
    assert (f["train"][()] == want).all() and (f["test"][()] == want).all()
    assert f["neighbors"][()].tolist() == [[0], [1], [2]] and f["distances"].shape == (3, 1)

for kind in ("f2", "f4", "f8"):
    np.save(folder / f"theirs_{kind}.npy", want.astype("<" + kind))
with h5py.File(folder / "theirs.h5", "w") as f:
    f.create_dataset("vectors", data=want, compression="gzip")
    f.create_dataset("sha256", data=keys, dtype=h5py.string_dtype())
with h5py.File(folder / "theirs.hdf5", "w") as f:
    f.attrs["distance"] = "angular"
    f.create_dataset("train", data=want)
    f.create_dataset("test", data=want)
    f.create_dataset("neighbors", data=np.array([[2], [0], [1]], dtype="i8"))
    f.create_dataset("distances", data=np.zeros((3, 1), dtype="f4"))
