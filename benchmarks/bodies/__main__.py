"""Play rows and say how they did.

    python -m benchmarks.bodies                              all, with Numba
    python -m benchmarks.bodies --list                       their names
    python -m benchmarks.bodies --row cape --frames 12       one, frame by frame
    python -m benchmarks.bodies --row cape skirt --own       with our own figure, though there is another
    python -m benchmarks.bodies --row cape --kernels numpy

Bodies and garments that are not ours are looked for in the folder PBD_SHARED_DATA, else in ../shared/data.
"""

from __future__ import annotations

import argparse
import functools
import math
import os

from pbd_addon import kernels

from ..truth.check import table
from .rows import ROWS, play


def main() -> None:
    """Play, print."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.bodies", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--row", nargs="+", choices=ROWS, default=list(ROWS), metavar="ROW", help="only these")
    add("--frames", type=int, default=0, metavar="N", help="at most so many")
    add("--kernels", choices=kernels.available(), default=kernels.available()[-1], help="backend (%(default)s)")
    add("--own", action="store_true", help="figures of our own, though there are others")
    add("--small", action="store_true", help="as small as in tests")
    add("--quiet", action="store_true", help="no line for each frame")
    add("--patience", type=float, default=math.inf, metavar="S", help="wall time for a row, until which frames begin")
    add("--list", action="store_true", help="say the names of the rows")
    options = parser.parse_args()
    if options.list:
        print("\n".join(f"{name:16} {row.case}" for name, row in ROWS.items()))
        return
    found = []
    for name in options.row:
        print(f"{ROWS[name].case}, {options.kernels}; load {os.getloadavg()[0]:.1f}", flush=True)
        say = None if options.quiet else functools.partial(print, flush=True)
        here, _ = play(name, options.kernels, options.own, options.small, options.frames, options.patience, say)
        print(f"{table(here)}\n", flush=True)
        found += here
    if len(options.row) > 1:
        print(table(found), flush=True)


if __name__ == "__main__":
    main()
