"""NumPy has no compiled frames: the solver's loop calls its kernels one by one."""

from __future__ import annotations

from ..protocol.frames import Encode, RunSubsteps

encode: Encode | None = None
run_substeps: RunSubsteps | None = None
