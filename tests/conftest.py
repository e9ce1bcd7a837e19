"""What all tests share. The tests in blender/ are left out where there is no Blender."""

from importlib.util import find_spec

import pytest

# Not importorskip: at this level it may skip the whole run.
collect_ignore = [] if find_spec("bpy") else ["blender"]


@pytest.fixture
def fastest_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let "auto" be Numba where it is installed: what takes long says the same of both backends, which agree."""
    if find_spec("numba"):
        monkeypatch.setenv("PBD_KERNELS", "numba")


@pytest.fixture
def first_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Step all frames in first order, as those in which something is met: for what is said of its substeps."""
    monkeypatch.setattr("pbd_addon.adaptive.looks_back", lambda *_: False)
