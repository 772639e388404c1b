#!/usr/bin/env python3
"""A state file for tests/base/test_state.c: base_state.state.

Written after the opening comment of src/base/state.c, with Python's struct and zlib.

    python base_state.py
"""

import pathlib
import struct
import zlib


def main():
    arrays = {
        "weights": [1.0, -0.0, 5e-324, float("inf"), -1.5e300],
        "empty": [],
        "step": [0.1],
    }
    data = b"\x89RHSTATE" + struct.pack("<II32s", 1, len(arrays), b"esarsa")
    for name, x in arrays.items():
        data += struct.pack(f"<32sQ{len(x)}d", name.encode(), len(x), *x)
    data += struct.pack("<I", zlib.crc32(data))
    pathlib.Path(__file__).with_name("base_state.state").write_bytes(data)


if __name__ == "__main__":
    main()
