"""What the house keeps to and no rule of ruff and no contract of import-linter can say: who changes a record."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TIMELINE = ROOT / "pbd_addon/blender/timeline"

WRITER = TIMELINE / "step.py"
"""The one module that changes a record."""

RECORDS = {"record", "running", "found", "self.record", "self._running"}
"""What a record is called where it is used."""

CHANGING = {"add", "append", "clear", "discard", "extend", "insert", "pop", "remove", "setdefault", "update", "forget"}
"""Methods that change what they are called on."""

PANELS_MAY_CALL = {
    *("get", "bodies", "live_bodies", "frame_range", "last_shown", "listeners", "disturbed", "invalidated_frames"),
    *("valid_frames", "is_behind", "Record", "BakeProgress"),
}
"""What a panel may use of the module session: it reads and listens, it never makes, steps or drops a simulation."""


def record_fields() -> set[str]:
    """What a record holds: the fields of its class."""
    classes = ast.parse((TIMELINE / "record.py").read_text(encoding="utf-8")).body
    record = next(node for node in classes if isinstance(node, ast.ClassDef) and node.name == "Record")
    return {ast.unparse(node.target) for node in record.body if isinstance(node, ast.AnnAssign)}


def writes(source: str, fields: set[str]) -> list[int]:
    """Lines that set a field of something that is not `self`, or change what such a field holds."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGING:
            target: ast.AST = node.func.value
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
            target = node.value
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
            target = node
        else:
            continue
        if isinstance(target, ast.Attribute) and target.attr in fields and ast.unparse(target.value) in RECORDS:
            found.append(target.lineno)
    return found


@pytest.mark.newest
def test_only_the_writer_changes_a_record():
    fields = record_fields()
    assert {"scene_sim", "snapshots", "known", "first_disturbed", "bake"} < fields
    paths = [path for folder in ("operators", "panels", "pbd_addon/blender") for path in (ROOT / folder).rglob("*.py")]
    assert WRITER in paths
    found = [f"{path}:{line}" for path in paths if path != WRITER for line in writes(path.read_text("utf-8"), fields)]
    assert not found, f"these lines change a record: {found}"


@pytest.mark.newest
@pytest.mark.parametrize(
    "line",
    [
        "record.settled = 1",
        "running.grab_pins.append(pin)",
        "found.snapshots[3] = one",
        "del self.record.bake",
        "record.scene_sim.x = 1",
    ],
)
def test_a_change_of_a_record_is_seen(line):
    assert bool(writes(line, {"settled", "grab_pins", "snapshots", "bake", "scene_sim"})) == ("scene_sim" not in line)


@pytest.mark.newest
def test_panels_only_read_the_session():
    used = {
        node.attr
        for path in (ROOT / "panels").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "session"
    }
    assert used and used <= PANELS_MAY_CALL


def test_no_package_files_in_tests():
    # With one, pytest would take the root's __init__.py for the tests' package and import the extension.
    assert not list((ROOT / "tests").rglob("__init__.py"))


@pytest.mark.newest
def test_tests_do_not_import_each_other():
    """What several need is in tests/helpers; so a test can be run, moved or deleted alone."""
    for path in (ROOT / "tests").rglob("*.py"):
        nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
        names = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
        names += [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
        assert not [name for name in names if name.startswith("test_")], path.name
