"""Read a model file without rehearse: a container of named arrays, all numbers little-endian.

    python read_model.py plant.model        print the name, type and length of every array
    python read_model.py                    the same, of a model that is fitted to plant.csv first

    bytes      content
    8          89 52 48 53 54 41 54 45: a byte that begins no text, and RHSTATE
    4, 4       version of the layout, 2; number of arrays
    32         label, padded with zeros: rehearse-model
    48, 8, 8   of each array: name and type, padded with zeros; number of elements
               then its elements, padded with zeros to a multiple of eight bytes
    4          at the end: CRC-32 (as in zip) of every byte before it

Types are those of NumPy: <f8 <f4 <i8 <i4 |u1; or text, bytes of texts, each with a zero behind it. `log/...` are
the log, `code` the codes of all states, `members/0/...` what the kind of model stores. With NumPy,
np.frombuffer(data, kind, n, at + 64) replaces unpack_from().
"""
import struct
import sys
import zlib

ELEMENT = {"<f8": "d", "<f4": "f", "<i8": "q", "<i4": "i", "|u1": "B", "text": "B"}


def read_arrays(path):
    """(name, type, numbers) of each array; refuses a file that is damaged or of another kind."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:8] != b"\x89RHSTATE" or struct.unpack_from("<I", data, 8)[0] != 2:
        raise ValueError(f"{path}: no file of named arrays in layout 2")
    if zlib.crc32(data[:-4]) != struct.unpack_from("<I", data, len(data) - 4)[0]:
        raise ValueError(f"{path}: damaged: the checksum differs")
    at = 48
    for _ in range(struct.unpack_from("<I", data, 12)[0]):
        name, kind, n = struct.unpack_from("<48s8sQ", data, at)
        name, kind = name.rstrip(b"\0").decode(), kind.rstrip(b"\0").decode()
        layout = f"<{n}{ELEMENT[kind]}"
        yield name, kind, struct.unpack_from(layout, data, at + 64)
        at += 64 + (struct.calcsize(layout) + 7) // 8 * 8


def fitted(folder):
    """A model of the example log."""
    from pathlib import Path

    import rehearse

    log = rehearse.read(Path(__file__).parent.parent / "plant.csv", action="pump", reward="-energy",
                        terminal="trip", episode="shift", missing=-9999)
    rehearse.fit(log, model="knn", repr="raw").write(f"{folder}/plant.model")
    return f"{folder}/plant.model"


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        for name, kind, numbers in read_arrays(sys.argv[1] if sys.argv[1:] else fitted(folder)):
            print(f"{name:<32} {kind:<4} {len(numbers)}")
