"""Which kernels there are, and that nobody gets compiled ones without asking."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import pytest

from pbd_addon import kernels

ROOT = Path(__file__).resolve().parent.parent


def test_numpy_is_always_there():
    assert "numpy" in kernels.available()
    assert kernels.load("numpy").__name__ == "pbd_addon.kernels.numpy"


def test_automatic_is_numpy(monkeypatch):
    monkeypatch.delenv("PBD_KERNELS", raising=False)
    assert kernels.load("auto") is kernels.load("numpy")


def test_the_environment_says_what_automatic_is(monkeypatch):
    monkeypatch.setenv("PBD_KERNELS", "fortran")
    with pytest.raises(ValueError, match="kernels must be auto or one of numpy, numba, not 'fortran'"):
        kernels.load("auto")


def test_without_numba_one_sentence_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)  # how Python itself says that there is no such module
    assert kernels.available() == ("numpy",)
    with pytest.raises(ImportError, match=r"^kernels 'numba' need the Python package numba, which is not installed$"):
        kernels.load("numba")


def test_nothing_is_imported_unasked(monkeypatch):
    """Neither a simulation nor a look at what is available imports Numba."""
    monkeypatch.delenv("PBD_KERNELS", raising=False)
    program = """
import sys
import numpy as np
from pbd_addon import Body, Simulation, kernels
kernels.available()
Simulation([Body(np.eye(3), [[0, 1, 2]])]).step(1 / 24)
sys.exit(any(name.partition(".")[0] in ("numba", "llvmlite") for name in sys.modules))
"""
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False, timeout=120).returncode == 0


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="memory is kept for glibc's malloc")
def test_temporary_arrays_do_not_come_from_the_system_each_time():
    """A page fault per 4 KB took a fifth of a frame of 10,000 vertices."""
    program = """
import resource
import numpy as np
from pbd_addon.kernels import load
from pbd_addon.kernels.protocol.air import Sails
push = load("numpy").push_by_air
random = np.random.default_rng(0)
x, triangles, ones = random.random((3, 10000)), random.integers(0, 10000, (3, 20000)), np.ones(20000)
still = np.zeros((3, 10000))
sails = Sails(np.ones(1), triangles, ones, ones, ones, np.ones(10000))
given = still.copy(), still, x, np.ones((3, 1)), sails, 0.001
push(*given)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(10):
    push(*given)
print((resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) // 10)
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True, timeout=120, capture_output=True)
    assert int(done.stdout) < 10
