"""The doctor: finds problems before a run. `fixes` repairs them."""

from collections.abc import Callable
from typing import NamedTuple

from bpy.app.translations import pgettext_iface as iface

from ..kinds import Scene
from ..scene import linked
from ..scene.scene_objects import live_bodies
from . import mesh_findings, misplaced, setup_findings
from .mesh_exam import MeshExam, examine


class Finding(NamedTuple):
    """A problem."""

    check: str  # name of the check, see `CHECKS`
    body: str  # name of the object, "" for the scene
    sentence: str
    action: str  # label of the button beside it, "Fix" or "Show"; "" if there is none


FIX, SHOW, NONE = "Fix", "Show", ""

CHECKS: dict[str, tuple[Callable[[MeshExam], str], str]] = {
    check.__name__: (check, action)
    for check, action in (
        (mesh_findings.shared, FIX),
        (mesh_findings.absolute_keys, FIX),
        (mesh_findings.no_faces, NONE),
        (setup_findings.too_coarse, FIX),
        (setup_findings.no_scale, FIX),
        (setup_findings.unusual_size, NONE),
        (setup_findings.uneven_scale, FIX),
        (mesh_findings.doubles, FIX),
        (mesh_findings.not_split, FIX),
        (mesh_findings.no_area, FIX),
        (mesh_findings.loose_vertices, FIX),
        (mesh_findings.crowded_edges, SHOW),
        (mesh_findings.opposed_normals, FIX),
        (mesh_findings.open_chambers, FIX),
        (mesh_findings.no_springs, NONE),
        (mesh_findings.intersections, SHOW),
        (mesh_findings.uneven_seams, SHOW),
        (setup_findings.wrong_side, SHOW),
        (setup_findings.on_a_surface, SHOW),
        (setup_findings.wide_distance, FIX),
        (setup_findings.wide_self_distance, FIX),
        (setup_findings.lost_pins, FIX),
        (setup_findings.lost_attached, FIX),
        (setup_findings.lost_maps, FIX),
        (setup_findings.all_held, FIX),
        (setup_findings.second_simulation, FIX),
        (setup_findings.added_geometry, FIX),
    )
}
"""The checks of an object, which return a sentence or "", and what the button beside it does."""

UNLOCKED = "unlocked"
"""Name of the only finding of a scene."""

_findings: dict[int, tuple[Finding, ...]] = {}


def check(scene: Scene) -> list[Finding]:
    """Check all live objects of a scene; the findings are kept."""
    found = []
    beginning = misplaced.beginning(scene)
    for obj in live_bodies(scene):
        if obj.mode == "EDIT" or linked.problem(obj):
            continue
        exam = examine(obj, beginning)
        sentences = ((name, function(exam), action) for name, (function, action) in CHECKS.items())
        found += [Finding(name, obj.name, sentence, action) for name, sentence, action in sentences if sentence]
    if live_bodies(scene) and not scene.render.use_lock_interface:
        sentence = iface("Lock Interface is off: rendering while cloth is simulated can crash Blender")
        found.append(Finding(UNLOCKED, "", sentence, FIX))
    _findings[scene.session_uid] = tuple(found)
    return found


def findings(scene: Scene) -> tuple[Finding, ...] | None:
    """The findings of the last check of a scene, or None if it was never checked."""
    return _findings.get(scene.session_uid)


def forget() -> None:
    """Forget all findings, because another file is loaded or something was undone."""
    _findings.clear()
