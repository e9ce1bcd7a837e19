"""What all tests share. The tests in blender/ are left out where there is no Blender."""

import sys
from importlib.util import find_spec

import pytest

BACKENDS = ("numpy", "numba")

# Not importorskip: at this level it may skip the whole run.
collect_ignore = [] if find_spec("bpy") else ["blender"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--kernels", choices=BACKENDS, help="leave out tests that are not slow and for the other backend")
    parser.addoption("--corners", action="store_true", help="of a test's parameters only the first and the last")


def pytest_configure(config: pytest.Config) -> None:
    """With `--kernels=numpy`, be where Numba is not installed: it would take a minute to compile."""
    if config.getoption("kernels") == "numpy":
        sys.modules["numba"] = None  # type: ignore[assignment]  # how Python itself says that there is no such module


@pytest.hookimpl(tryfirst=True)
def pytest_itemcollected(item: pytest.Item) -> None:
    """What only the newest runs is slow with NumPy."""
    if item.get_closest_marker("newest") and backend(item) == "numpy":
        item.add_marker("slow")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what another suite runs: with the other backend, or with more parameters."""
    wanted = items
    if kernels := config.getoption("kernels"):
        wanted = [item for item in items if backend(item) in ("", kernels) or item.get_closest_marker("slow")]
    if config.getoption("corners"):
        first_last: dict[str, list[pytest.Item]] = {}
        for item in wanted:
            first_last.setdefault(item.nodeid.partition("[")[0], [item])[1:] = [item]
        wanted = list(dict.fromkeys(item for pair in first_last.values() for item in pair))
    config.hook.pytest_deselected(items=[item for item in items if item not in wanted])
    items[:] = wanted


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
