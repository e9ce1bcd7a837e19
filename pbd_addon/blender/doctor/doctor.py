"""The doctor: finds problems before a run, and knows what repairs them."""

from collections.abc import Callable
from typing import NamedTuple

from bpy.app.translations import pgettext_iface as iface

from ..kinds import Object, Scene
from ..scene import linked
from ..scene.scene_objects import live_bodies
from . import fixes, mesh_findings, misplaced, setup_findings
from .mesh_exam import MeshExam, examine


class Finding(NamedTuple):
    """A problem."""

    check: str  # name of the check, see `CHECKS`
    body: str  # name of the object, "" for the scene
    sentence: str
    action: str  # label of the button beside it, "Fix" or "Show"; "" if there is none


FIX, SHOW, NONE = "Fix", "Show", ""

CHECKS: dict[str, tuple[Callable[[MeshExam], str], Callable[[Object], None] | str]] = {
    check.__name__: (check, action)
    for check, action in (
        (mesh_findings.shared, fixes.shared),
        (mesh_findings.absolute_keys, fixes.absolute_keys),
        (mesh_findings.no_faces, NONE),
        (setup_findings.too_coarse, fixes.too_coarse),
        (setup_findings.no_scale, fixes.no_scale),
        (setup_findings.unusual_size, NONE),
        (setup_findings.unit_scale, fixes.unit_scale),
        (setup_findings.uneven_scale, fixes.uneven_scale),
        (mesh_findings.doubles, fixes.doubles),
        (mesh_findings.not_split, fixes.not_split),
        (mesh_findings.no_area, fixes.no_area),
        (mesh_findings.loose_vertices, fixes.loose_vertices),
        (mesh_findings.crowded_edges, SHOW),
        (mesh_findings.opposed_normals, fixes.opposed_normals),
        (mesh_findings.open_chambers, fixes.open_chambers),
        (mesh_findings.no_springs, NONE),
        (mesh_findings.intersections, SHOW),
        (mesh_findings.uneven_seams, SHOW),
        (setup_findings.wrong_side, SHOW),
        (setup_findings.on_a_surface, SHOW),
        (setup_findings.wide_distance, fixes.wide_distance),
        (setup_findings.wide_self_distance, fixes.wide_self_distance),
        (setup_findings.lost_pins, fixes.lost_pins),
        (setup_findings.lost_attached, fixes.lost_attached),
        (setup_findings.lost_maps, fixes.lost_maps),
        (setup_findings.all_held, fixes.all_held),
        (setup_findings.second_simulation, fixes.second_simulation),
        (setup_findings.added_geometry, fixes.added_geometry),
    )
}
"""The checks of an object, which return a sentence or "", and what the button beside it does: a fix, `SHOW`, `NONE`."""

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
        for name, (function, action) in CHECKS.items():
            sentence = function(exam)
            if sentence:
                found.append(Finding(name, obj.name, sentence, FIX if callable(action) else action))
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
