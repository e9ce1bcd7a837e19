"""Compile Numba's kernels into the cache, for later processes: `python -m pbd_addon.kernels`."""

import time

from . import load

started = time.perf_counter()
load("numba")
print(f"Numba's kernels are ready after {time.perf_counter() - started:.1f} s")
