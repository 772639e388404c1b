#!/usr/bin/env python3
"""Makes an input of tests/fuzz/fuzz_model.c of a model file.

    tests/reference/model_fuzz.py FILE.model > tests/fuzz/corpus/model/NAME

Needs h5py. The format is described in fuzz_model.c.
"""
import struct
import sys

import h5py
import numpy as np

STORED = {"|u1": 0, "<i4": 1, "<i8": 2, "<f4": 3, "<f8": 4}


def main():
    out = sys.stdout.buffer
    with h5py.File(sys.argv[1], "r") as file:
        names = []
        file.visititems(lambda name, item: names.append(name)
                        if isinstance(item, h5py.Dataset) else None)
        for name in names:
            data = file[name]
            x = np.asarray(data[()])
            stored = STORED.get(x.dtype.str, 5)
            size, n = data.dtype.itemsize, x.size
            if size > 255 or n > 65535:
                sys.exit(f"model_fuzz.py: {name}: {n} elements of {size} bytes, expected a smaller model")
            text = x.tobytes() if stored < 5 else b"".join(t.ljust(size, b"\0") for t in np.ravel(x).tolist())
            out.write(struct.pack("<B", len(name)) + name.encode())
            out.write(struct.pack("<BHB", stored + (8 if x.ndim else 0), n, size) + text)


if __name__ == "__main__":
    main()
