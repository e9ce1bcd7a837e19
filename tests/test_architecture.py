"""The house keeps its order: who may import whom, read from the source, without running it.

    __init__ → operators, panels → pbd_addon.blender → pbd_addon → numpy

Within pbd_addon.blender, `BRIDGE` is the order. Ruff bans Blender's modules where they do not belong; this test sees
the arrows between our own modules.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
SHIPPED = ("__init__.py", "operators", "panels", "pbd_addon")

BLENDER_MODULES = {
    *("addon_utils", "bl_keymap_utils", "bl_operators", "bl_ui", "bmesh", "bpy", "bpy_extras"),
    *("gpu", "gpu_extras", "idprop", "mathutils", "rna_prop_ui"),
}
FORBIDDEN_MODULES = {"threading", "queue", "pip", "ensurepip", "pickle", "socket", "urllib", "requests"}
"""Refused by Blender's extension platform, or able to run what a file holds."""

BRIDGE = (
    *("errors", "error_sentences", "kinds", "scene", "settings", "output", "read"),
    *("timeline", "about", "overlay", "gpu_drawing", "doctor", "handlers", "baking", "translations"),
)
"""The parts of the bridge: each imports only from itself and from those before it."""

TIMELINE = (
    *("simulated_object", "scene_simulation", "record", "changes", "backends", "air"),
    *("progress", "step"),
    *("replay", "validity"),
    *("checksums", "disk_schema", "disk_cache", "heat_map", "cost_estimate", "follow", "disk_load", "session", "grab"),
)
"""The modules of pbd_addon.blender.timeline: each imports only those before it."""

WRITER = "pbd_addon.blender.timeline.step"
"""The one module that changes a record."""

CHANGING = {"add", "append", "clear", "discard", "extend", "insert", "pop", "remove", "setdefault", "update", "forget"}
"""Methods that change what they are called on."""

PANELS_MAY_IMPORT = (
    "panels",
    *("pbd_addon.bodies.settings", "pbd_addon.blender.kinds"),
    *("pbd_addon.blender.scene.linked", "pbd_addon.blender.settings.presets", "pbd_addon.blender.settings.properties"),
    *("pbd_addon.blender.output.output_choice", "pbd_addon.blender.doctor.doctor"),
    *("pbd_addon.blender.about", "pbd_addon.blender.overlay", "pbd_addon.blender.gpu_drawing"),
    *("pbd_addon.blender.error_sentences", "pbd_addon.blender.doctor.setup_findings"),
    "pbd_addon.blender.doctor.field_findings",
    *(
        "pbd_addon.blender.settings.shown_units",
        "pbd_addon.blender.settings.groups",
        "pbd_addon.blender.scene.surfaces",
    ),
    *(
        "pbd_addon.blender.timeline.backends",
        "pbd_addon.blender.timeline.cost_estimate",
        "pbd_addon.blender.timeline.session",
    ),
    *("pbd_addon.blender.baking.background_bake", "pbd_addon.blender.baking.key_plan"),
)
PANELS_MAY_CALL = {
    "get",
    "bodies",
    "live_bodies",
    "frame_range",
    "last_shown",
    "listeners",
    "disturbed",
    "invalidated_frames",
    "valid_frames",
    "Record",
    "BakeProgress",
}
"""What a panel may use of the module session: it reads and listens, it never makes, steps or drops a simulation."""


class Import(NamedTuple):
    """One imported module."""

    name: str
    """Dotted name, from the repository's root where it is ours, "pbd_addon.blender.timeline.session"."""
    line: int
    ours: bool
    top_level: bool
    """Whether it happens when the importing module is loaded, not inside a function."""


def module_name(path: Path, root: Path) -> str:
    """Dotted name of a file, seen from the root: "pbd_addon.blender" for that folder's `__init__.py`."""
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def read_imports(path: Path, root: Path) -> list[Import]:
    """All imports of a file; `from . import a` is an import of the module a where there is one."""
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    lazy = {
        id(child)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) or is_type_checking(node)
        for child in ast.walk(node)
    }
    package = list(path.relative_to(root).parts[:-1])
    found = []
    for node in ast.walk(tree):
        top_level = id(node) not in lazy
        if isinstance(node, ast.Import):
            found += [Import(alias.name, node.lineno, False, top_level) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.append(Import(node.module or "", node.lineno, False, top_level))
        elif isinstance(node, ast.ImportFrom):
            if node.level - 1 > len(package):
                found.append(Import("outside of the extension", node.lineno, False, top_level))
                continue
            base = package[: len(package) - node.level + 1] + (node.module.split(".") if node.module else [])
            for alias in node.names:
                deeper = [*base, alias.name]
                is_module = root.joinpath(*deeper).is_dir() or root.joinpath(*deeper).with_suffix(".py").exists()
                found.append(Import(".".join(deeper if is_module else base), node.lineno, True, top_level))
    return found


def is_type_checking(node: ast.AST) -> bool:
    """Whether this is `if TYPE_CHECKING:`, whose imports never run."""
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def inside(name: str, *packages: str) -> bool:
    """Whether a module is one of these or lies within one."""
    return any(name == package or name.startswith(package + ".") for package in packages)


def layer(name: str) -> str:
    """The floor of the house that a module of ours stands on."""
    for floor in ("pbd_addon.kernels", "pbd_addon.blender", "pbd_addon", "operators", "panels"):
        if inside(name, floor):
            return floor
    return "root"


def part_of_bridge(name: str) -> str:
    """The part of the bridge that a module of it lies in, "timeline"; "" for the bridge itself."""
    return name.removeprefix("pbd_addon.blender").lstrip(".").partition(".")[0]


def wrong_in_bridge(importer: str, imported: str) -> str:
    """Why a module of the bridge may not import another one, or ""."""
    part, other = part_of_bridge(importer), part_of_bridge(imported)
    if not part:
        return ""  # The bridge itself registers its parts.
    if part not in BRIDGE:
        return f"{part} has no place in BRIDGE yet"
    if not other:
        return "the bridge registers its parts; they do not import it"
    return f"{other} stands above {part} in BRIDGE" if other in BRIDGE[BRIDGE.index(part) + 1 :] else ""


def wrong_in_timeline(importer: str, imported: str) -> str:
    """Why a module of the timeline may not import another one, or ""."""
    package = "pbd_addon.blender.timeline."
    if not (importer.startswith(package) and imported.startswith(package)):
        return ""
    name, other = importer.removeprefix(package), imported.removeprefix(package)
    if name not in TIMELINE or other not in TIMELINE:
        return f"{name} or {other} has no place in TIMELINE yet"
    return f"{other} stands above {name} in TIMELINE" if TIMELINE.index(other) >= TIMELINE.index(name) else ""


def record_fields(root: Path) -> set[str]:
    """What a record holds: the fields of its class."""
    path = root / "pbd_addon" / "blender" / "timeline" / "record.py"
    classes = ast.parse(path.read_text(encoding="utf-8")).body
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


RECORDS = {"record", "running", "found", "self.record", "self._running"}
"""What a record is called where it is used."""


def wrong_import(importer: str, imported: Import) -> str:
    """Why this import is not allowed, or ""."""
    floor = layer(importer)
    top = imported.name.split(".")[0]
    if not imported.ours:
        if top in ("pbd_addon", "operators", "panels", "outside of the extension"):
            return "our own modules are imported relatively: nothing of ours is on sys.path"
        if top in FORBIDDEN_MODULES:
            return "Blender's platform refuses it, or it runs what a file holds"
        if top in ("numba", "llvmlite"):
            may = importer in (f"pbd_addon.kernels.numba.{name}" for name in ("compile", "vectors", "calls"))
            return "" if may else "only numba/compile.py, vectors.py and calls.py import it"
        if floor in ("pbd_addon", "pbd_addon.kernels"):
            if top in BLENDER_MODULES:
                return "the physics runs without Blender"
            if top != "numpy" and top not in sys.stdlib_module_names:
                return "the physics needs NumPy only"
        return ""
    name = imported.name
    if floor == "pbd_addon.kernels" and not inside(name, "pbd_addon.kernels"):
        return "kernels import nothing of ours: they get arrays"
    if floor == "pbd_addon" and not (inside(name, "pbd_addon") and not inside(name, "pbd_addon.blender")):
        return "the physics does not know the bridge, the operators or the panels"
    if floor == "pbd_addon.blender" and not inside(name, "pbd_addon"):
        return "the bridge does not know the operators or the panels"
    if floor == "pbd_addon.blender" and inside(name, "pbd_addon.blender"):
        return wrong_in_bridge(importer, name) or wrong_in_timeline(importer, name)
    if floor == "operators" and inside(name, "panels"):
        return "operators do not know the panels"
    if floor == "operators" and name == WRITER:
        return "operators ask for what they want: they do not write the record"
    if floor == "panels" and not inside(name, *PANELS_MAY_IMPORT):
        package_of_allowed = any(allowed.startswith(name + ".") for allowed in PANELS_MAY_IMPORT)
        return "" if package_of_allowed else "panels draw: they name operators by bl_idname and compute nothing"
    return ""


def wrong_statements(path: Path, importer: str) -> list[str]:
    """Uses that no import shows: sys.path, exec, and a panel that writes through the session."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        text = ""
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            used = f"{node.value.id}.{node.attr}"
            if used in ("sys.path", "sys.modules"):
                text = f"{used} is not ours to touch"
            # Methods of a Session go through another name; the module's functions are the dangerous ones.
            if layer(importer) == "panels" and node.value.id == "session" and node.attr not in PANELS_MAY_CALL:
                text = f"panels only read: {used} is not in {sorted(PANELS_MAY_CALL)}"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("exec", "eval"):
            text = f"{node.func.id}() is refused by Blender's platform"
        if text:
            found.append(f"{path.name}:{node.lineno}: {text}")
    return found


def circles(graph: dict[str, set[str]]) -> list[str]:
    """Circles among modules that import each other while loading."""
    found, done = [], set()

    def visit(name: str, trail: list[str]) -> None:
        if name in trail:
            found.append(" → ".join([*trail[trail.index(name) :], name]))
        elif name not in done:
            for imported in sorted(graph.get(name, ())):
                visit(imported, [*trail, name])
            done.add(name)

    for name in sorted(graph):
        visit(name, [])
    return found


def violations(root: Path) -> list[str]:
    """Everything that is out of order in the shipped files under this root."""
    found: list[str] = []
    graph: dict[str, set[str]] = {}
    for shipped in SHIPPED:
        path = root / shipped
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path] * path.exists():
            importer = module_name(file, root)
            imports = read_imports(file, root)
            for imported in imports:
                if reason := wrong_import(importer, imported):
                    where = file.relative_to(root)
                    found.append(f"{where}:{imported.line}: {importer or 'the root'} imports {imported.name}: {reason}")
                if not importer and imported.top_level:
                    found.append(f"__init__.py:{imported.line}: imports inside register(): pytest imports this file")
            found += wrong_statements(file, importer)
            graph[importer] = {imported.name for imported in imports if imported.ours and imported.top_level}
            # A package's own __init__ naming its modules is no circle unless a module asks for the package itself.
            graph[importer].discard(importer)
    return found + [f"circular import: {circle}" for circle in circles(graph)]


@pytest.mark.newest
def test_the_house_is_in_order():
    found = violations(ROOT)
    assert not found, "\n" + "\n".join(found)


def test_the_shipped_files_are_seen():
    assert (ROOT / "pbd_addon").is_dir()
    assert len(list((ROOT / "pbd_addon").rglob("*.py"))) > 3


def test_the_order_of_the_bridge_names_all_that_is_there():
    there = {path.stem for path in (ROOT / "pbd_addon" / "blender").iterdir() if not path.name.startswith("__")}
    assert there == set(BRIDGE)


def test_the_order_of_the_timeline_names_all_that_is_there():
    there = {path.stem for path in (ROOT / "pbd_addon/blender/timeline").glob("*.py")} - {"__init__"}
    assert there == set(TIMELINE)


def test_only_the_writer_changes_a_record():
    fields = record_fields(ROOT)
    assert {"scene_sim", "snapshots", "known", "first_disturbed", "bake"} < fields
    found = []
    for folder in ("operators", "panels", "pbd_addon/blender"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if module_name(path, ROOT) != WRITER:
                found += [f"{path.relative_to(ROOT)}:{line}" for line in writes(path.read_text("utf-8"), fields)]
    assert not found, f"these lines change a record: {found}"


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


def test_no_package_files_in_tests():
    # With one, pytest would take the root's __init__.py for the tests' package and import the extension.
    assert not list((ROOT / "tests").rglob("__init__.py"))


@pytest.mark.newest
def test_tests_do_not_import_each_other():
    """What several need is in a module of helpers, such as `meshes`; so a test can be run, moved or deleted alone."""
    for path in (ROOT / "tests").rglob("*.py"):
        names = [imported.name for imported in read_imports(path, ROOT)]
        assert not [name for name in names if name.startswith("test_")], path.name


@pytest.mark.parametrize(
    ("file", "source", "complaint"),
    [
        ("pbd_addon/solver.py", "import bpy", "without Blender"),
        ("pbd_addon/solver.py", "def f():\n    from mathutils import Vector", "without Blender"),
        ("pbd_addon/solver.py", "import scipy", "NumPy only"),
        ("pbd_addon/solver.py", "import numba", "only numba/compile.py, vectors.py and calls.py"),
        ("pbd_addon/kernels/numba/projections.py", "import numba", "only numba/compile.py, vectors.py and calls.py"),
        ("pbd_addon/solver.py", "import pickle", "runs what a file holds"),
        ("pbd_addon/__init__.py", "from . import blender", "does not know the bridge"),
        ("pbd_addon/solver.py", "from .blender.timeline.session import get", "does not know the bridge"),
        ("pbd_addon/solver.py", "from pbd_addon.mesh import TriMesh", "relatively"),
        ("pbd_addon/solver.py", "from .mesh import TriMesh\nimport sys\nsys.path.append('.')", "sys.path"),
        ("pbd_addon/mesh.py", "from .solver import step", "circular import"),
        ("pbd_addon/kernels/numpy/projections.py", "from ...mesh import TriMesh", "they get arrays"),
        ("pbd_addon/blender/timeline/session.py", "from ....operators import bake", "does not know the operators"),
        ("pbd_addon/blender/timeline/session.py", "from .. import handlers", "handlers stands above timeline"),
        ("pbd_addon/blender/timeline/session.py", "from ..baking.bake import run", "baking stands above timeline"),
        (
            "pbd_addon/blender/timeline/session.py",
            "def f():\n    from ..baking import bake",
            "baking stands above timeline",
        ),
        ("pbd_addon/blender/errors.py", "from . import timeline", "timeline stands above errors"),
        ("pbd_addon/blender/timeline/session.py", "from ...blender import register", "they do not import it"),
        ("pbd_addon/blender/elsewhere.py", "from .errors import PBDError", "no place in BRIDGE"),
        ("operators/bake.py", "from ..panels import sidebar", "do not know the panels"),
        ("operators/bake.py", "from ..pbd_addon.blender.timeline import step", "do not write the record"),
        ("operators/bake.py", "import threading", "platform refuses"),
        ("panels/sidebar.py", "from ..pbd_addon import solver", "panels draw"),
        ("panels/sidebar.py", "from ..pbd_addon.blender import handlers", "panels draw"),
        ("panels/sidebar.py", "from ..operators import bake", "panels draw"),
        ("panels/sidebar.py", "from ..pbd_addon.blender.timeline import session\nsession.drop_all()", "only read"),
        ("panels/sidebar.py", "from ....other_addon import thing", "relatively"),
        ("__init__.py", "from . import panels", "inside register()"),
        ("operators/bake.py", "exec('1')", "refused"),
    ],
)
def test_disorder_is_found(tmp_path, file, source, complaint):
    clean = {
        "__init__.py": "def register():\n    from . import operators, panels",
        "operators/__init__.py": "from . import bake",
        "operators/bake.py": "import bpy\nfrom ..pbd_addon.blender.timeline import session\nsession.drop_all()",
        "panels/__init__.py": "from . import sidebar",
        "panels/sidebar.py": "import bpy\nfrom ..pbd_addon.blender.timeline import session\nsession.get(1).report",
        "pbd_addon/__init__.py": "from .solver import step",
        "pbd_addon/mesh.py": "import math\nimport numpy as np\nclass TriMesh: pass",
        "pbd_addon/solver.py": "from .kernels import load\nfrom .mesh import TriMesh\ndef step(): pass",
        "pbd_addon/kernels/__init__.py": "def load():\n    from . import numba, numpy",
        "pbd_addon/kernels/numpy/projections.py": "import numpy as np",
        "pbd_addon/kernels/numba/compile.py": "import numba",
        "pbd_addon/kernels/numba/projections.py": "from .compile import kernel",
        "pbd_addon/blender/__init__.py": "from . import handlers\nfrom .timeline import session",
        "pbd_addon/blender/errors.py": "class PBDError(Exception): pass",
        "pbd_addon/blender/timeline/__init__.py": "",
        "pbd_addon/blender/timeline/step.py": "",
        "pbd_addon/blender/timeline/session.py": "import bpy\nfrom ...solver import step\nfrom ..errors import X",
        "pbd_addon/blender/handlers.py": "import bpy\nfrom .timeline import session",
        "pbd_addon/blender/baking/__init__.py": "",
        "pbd_addon/blender/baking/bake.py": "from .. import handlers\nfrom ..timeline import session\ndef run(): pass",
    }
    for name, text in clean.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert violations(tmp_path) == []
    (tmp_path / file).write_text(source)
    found = violations(tmp_path)
    assert found
    assert any(complaint in line for line in found), found
