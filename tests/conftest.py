"""What all tests share. The tests in blender/ are left out where there is no Blender."""

from importlib.util import find_spec

import pytest

BACKENDS = ("numpy", "numba")

# Not importorskip: at this level it may skip the whole run.
collect_ignore = [] if find_spec("bpy") else ["blender"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--kernels", choices=BACKENDS, help="leave out tests that are not slow and for the other backend")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With `--kernels`, leave out what another suite runs with the other backend."""
    kernels = config.getoption("kernels")
    if kernels:
        left_out = [
            item for item in items if backend(item) not in ("", kernels) and not item.get_closest_marker("slow")
        ]
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=left_out)


def backend(item: pytest.Item) -> str:
    """The backend that a test chooses, by a parameter or as the fastest, or ""."""
    words = item.callspec.id.split("-") if hasattr(item, "callspec") else []
    chosen = [name for name in BACKENDS if name in words]
    return chosen[0] if chosen else "numba" if "fastest_kernels" in item.fixturenames else ""


@pytest.fixture
def fastest_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let "auto" be Numba where it is installed: what takes long says the same of both backends, which agree."""
    if find_spec("numba"):
        monkeypatch.setenv("PBD_KERNELS", "numba")


@pytest.fixture
def first_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Step all frames in first order, as those in which something is met: for what is said of its substeps."""
    monkeypatch.setattr("pbd_addon.stepping.adaptive.looks_back", lambda *_: False)
