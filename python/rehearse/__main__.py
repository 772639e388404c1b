"""The program of the wheel, as the command `rehearse` and as `python -m rehearse`."""

from __future__ import annotations

import os
import sys


def main() -> None:
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rehearse")
    os.environ.setdefault("REHEARSE_PYTHON", sys.executable)  # of agents in Python
    os.execv(program, ["rehearse", *sys.argv[1:]])


if __name__ == "__main__":
    main()
