#!/usr/bin/env python3
"""A state file for tests/base/test_state.c: base_state.state.

Written after the opening comment of src/base/state_file.c, with Python's struct and zlib.

    python base_state.py
"""

import pathlib
import struct
import zlib


def main():
    arrays = {
        "weights": ("<f8", "d", [1.0, -0.0, 5e-324, float("inf"), -1.5e300]),
        "empty": ("<f8", "d", []),
        "step": ("<f8", "d", [0.1]),
        "group/short": ("<f4", "f", [1.5, float("inf"), -0.0]),
        "group/long": ("<i8", "q", [-(2**63), 2**63 - 1]),
        "group/whole": ("<i4", "i", [-(2**31), 0, 2**31 - 1]),
        "bytes": ("|u1", "B", [0, 1, 255]),
        "texts": ("text", "B", "plant \u00b0C\0\0three\0".encode()),
    }
    data = b"\x89RHSTATE" + struct.pack("<II32s", 2, len(arrays), b"esarsa")
    for name, (kind, letter, x) in arrays.items():
        data += struct.pack(f"<48s8sQ{len(x)}{letter}", name.encode(), kind.encode(), len(x), *x)
        data += bytes(-len(data) % 8)
    data += struct.pack("<I", zlib.crc32(data))
    pathlib.Path(__file__).with_name("base_state.state").write_bytes(data)


if __name__ == "__main__":
    main()
