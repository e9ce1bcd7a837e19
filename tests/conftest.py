"""What all tests share. The tests in blender/ are left out where there is no Blender."""

from importlib.util import find_spec

import pytest

BACKENDS = {"numpy", "numba"}

# Not importorskip: at this level it may skip the whole run.
collect_ignore = [] if find_spec("bpy") else ["blender"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--kernels", choices=BACKENDS, help="of tests that are not slow and run once per backend, only those with this"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With `--kernels`, leave out what the same test with the other backend says: it runs in another suite."""
    others = BACKENDS - {config.getoption("kernels")}
    if others == BACKENDS:
        return
    kept, left_out = [], []
    for item in items:
        name = item.callspec.id if hasattr(item, "callspec") else ""
        other = not others.isdisjoint(name.split("-")) and not item.get_closest_marker("slow")
        (left_out if other else kept).append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=left_out)


@pytest.fixture
def fastest_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let "auto" be Numba where it is installed: what takes long says the same of both backends, which agree."""
    if find_spec("numba"):
        monkeypatch.setenv("PBD_KERNELS", "numba")


@pytest.fixture
def first_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Step all frames in first order, as those in which something is met: for what is said of its substeps."""
    monkeypatch.setattr("pbd_addon.adaptive.looks_back", lambda *_: False)
