"""Checks HDF5 files against h5py.

    python scripts/hdf5_reference.py write FOLDER    writes evalkit/internal/hdf5/testdata
    python scripts/hdf5_reference.py read FILE       prints a file as JSON

Needs h5py.
"""

import json
import pathlib
import sys

import h5py
import numpy as np

TEXTS = ["first", "zwe\u00efte", "", "#4"]


def write(folder):
    folder = pathlib.Path(folder)
    values = (np.arange(240).reshape(40, 6) / 8 - 4).astype("<f4")
    kinds = {
        "plain": ({}, {}),
        "gzip": ({}, {"compression": "gzip", "shuffle": True, "fletcher32": True, "chunks": (16, 4)}),
        "latest": ({"libver": "latest"}, {}),
    }
    for name, (form, how) in kinds.items():
        with h5py.File(folder / f"{name}.h5", "w", **form) as f:
            f.attrs["distance"] = "angular"
            f.create_dataset("single", data=values, **how)
            f.create_dataset("double", data=values.astype("<f8"), **how)
            f.create_dataset("big", data=values.astype(">f4"), **how)
            f.create_dataset("deep/er/half", data=values.astype("<f2"), **how)
            f.create_dataset("long", data=np.arange(240).reshape(40, 6) - 100, **how)
            f.create_dataset("ids", data=TEXTS, dtype=h5py.string_dtype())
            f.create_dataset("fixed", data=np.array([t.encode() for t in TEXTS], dtype="S12"))
    with h5py.File(folder / "unread.h5", "w") as f:
        f.create_dataset("lzf", data=values, compression="lzf")
        f.create_dataset("pairs", data=np.zeros(3, dtype=[("a", "f4"), ("b", "i4")]))


def plain(value):
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, np.ndarray):
        return [plain(x) for x in value]
    return value.item() if isinstance(value, np.generic) else value


def read(path):
    with h5py.File(path) as f:
        sets = {name: {"shape": list(f[name].shape), "type": str(f[name].dtype), "data": plain(f[name][()])} for name in f}
        print(json.dumps({"sets": sets, "attributes": {k: plain(v) for k, v in f.attrs.items()}}, ensure_ascii=False))


{"write": write, "read": read}[sys.argv[1]](*sys.argv[2:])
