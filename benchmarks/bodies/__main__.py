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
import inspect
import math
import os

from pbd_addon import kernels

from ..truth.check import table
from .rows import ROWS, checks


def main() -> None:
    """Play, print."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.bodies", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--row", nargs="+", choices=ROWS, default=list(ROWS), metavar="ROW", help="only these")
    add("--frames", type=int, metavar="N", help="at most so many")
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
        row = ROWS[name]
        asked, frames = row.small if options.small else ({}, 0)
        if options.own and "own" in inspect.signature(row.make).parameters:
            asked = {**asked, "own": True}
        scene = row.make(**asked)
        frames = options.frames or frames or scene.frames
        scene = scene._replace(frames=min(frames, scene.frames))
        vertices = sum(len(body.vertices) for body in scene.bodies)
        print(f"{row.case}: {vertices} vertices, {scene.frames} frames, {options.kernels}; load "
              f"{os.getloadavg()[0]:.1f}", flush=True)  # fmt: skip
        say = None if options.quiet else lambda line: print(line, flush=True)
        simulation, seen = scene.play(options.kernels, False, say, options.patience)
        here = list(checks(row, scene, simulation, seen))
        print(f"{table(here)}\n", flush=True)
        found += here
    if len(options.row) > 1:
        print(table(found), flush=True)


if __name__ == "__main__":
    main()
