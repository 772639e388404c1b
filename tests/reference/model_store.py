#!/usr/bin/env python3
"""Writes tests/reference/model/*.model: small stores as h5py and zlib make them, by the layout
alone. sample.model is as the library writes it; each of the others has one array, "odd", that
the library would never write.

    python3 -m venv v && v/bin/pip install h5py numpy
    v/bin/python tests/reference/model_store.py tests/reference/model
"""

import os
import sys
import zlib

import h5py
import numpy as np


def text(value):
    """Texts of one length."""
    array = np.array(value)
    return array.astype(h5py.string_dtype("utf-8", array.dtype.itemsize))


def sample(f):
    f["group/whole"] = np.array([-(2**31), 0, 2**31 - 1], "<i4")
    f["group/long"] = np.array([-(2**63), 2**63 - 1], "<i8")
    f["group/short"] = np.array([1.5, np.inf, -0.0], "<f4")
    f["group/empty"] = np.array([], "<f8")
    f["number"] = np.float64(0.1)
    f["text"] = text("plant \u00b0C".encode())
    f["texts"] = text([b"a", b"", b"three"])
    f["state/label"] = text(b"who")
    f["state/names"] = text([b"w/1", b"b"])
    f["state/0"] = np.array([1.0, 5e-324, -1.5e300])
    f["state/1"] = np.array([], "<f8")


def huge(f):  # far more than the file holds
    f.create_dataset("odd", (2**40,), "<f8")


def chunked(f):
    f.create_dataset("odd", data=np.arange(100.0), chunks=(10,))


def elsewhere(f):  # kept in another file
    f.create_dataset("odd", (2,), "<f8", external=[("/etc/passwd", 0, 16)])


def square(f):
    f["odd"] = np.ones((2, 2))


def link(f):
    f["odd"] = h5py.ExternalLink("other.h5", "/x")


def soft(f):
    f["odd"] = h5py.SoftLink("/bytes")


def loose(f):  # texts of different lengths
    f["odd"] = "text"


def big_endian(f):
    f["odd"] = np.ones(3, ">f8")


for make in [sample, huge, chunked, elsewhere, square, link, soft, loose, big_endian]:
    path = os.path.join(sys.argv[1], make.__name__ + ".model")
    with h5py.File(path, "w", userblock_size=512, libver="v108") as f:
        f["bytes"] = np.array([0, 1, 255], "<u1")
        make(f)
    with open(path, "r+b") as f:
        f.seek(512)
        rest = f.read()
        f.seek(0)
        seal = (
            f"rehearse-model 1\nsize {len(rest) + 512}\ncrc32 {zlib.crc32(rest):08x}\n\n"
            "A calibration model that `rehearse fit` wrote. "
            "From byte 512 on this is an HDF5 file.\n"
        )
        f.write(seal.encode().ljust(512, b"\0"))
