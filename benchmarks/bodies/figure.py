"""A figure of our own that walks and crosses itself at armpits and hips, and what it wears.

It is made of capsules, posed one by one and merged to one mesh, z up, and looks along -y.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from pbd_addon import PRESETS

from .shared import Worn

STEP = 24
"""Frames of two steps: a second."""

SWING, KNEE, ELBOW = math.radians(28.0), math.radians(35.0), math.radians(25.0)
"""By how much thighs and arms swing to either side, and how far knees and elbows bend at most."""

TWIST, BOB = math.radians(5.0), 0.02
"""Of the shoulders [rad], and of the whole [m]."""

AROUND, ALONG, CAP = 16, 8, 4
"""Sides of a capsule, rings of its cylinder, and of each of its ends."""

PINNED = 0.155
"""Radius of the waistband [m], 1.5 cm outside of the body."""


TIGHT, ARMHOLE = 0.005, 0.02
"""How far a vest is from the torso, and at least from all else where the figure stands [m]."""


class Bone(NamedTuple):
    """A capsule: from a place in the figure that stands, downwards or along `way`, with a length and a radius [m]."""

    name: str
    start: tuple[float, float, float]
    length: float
    radius: float
    way: tuple[float, float, float] = (0.0, 0.0, -1.0)


BONES = (
    Bone("torso", (0.0, 0.0, 1.30), 0.35, 0.14),
    Bone("head", (0.0, 0.0, 1.62), 0.10, 0.09),
    *(Bone(f"upper arm {side}", (x, 0.0, 1.38), 0.28, 0.05) for side, x in (("l", 0.17), ("r", -0.17))),
    *(Bone(f"forearm {side}", (x, 0.0, 1.10), 0.27, 0.042) for side, x in (("l", 0.17), ("r", -0.17))),
    *(Bone(f"thigh {side}", (x, 0.0, 0.90), 0.40, 0.085) for side, x in (("l", 0.08), ("r", -0.08))),
    *(Bone(f"shin {side}", (x, 0.0, 0.50), 0.40, 0.06) for side, x in (("l", 0.08), ("r", -0.08))),
)
"""Arms begin 2 cm inside of the torso, thighs half a centimeter inside of each other."""


def figure(closed: bool = True, detail: float = 1.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The figure that stands: vertices (n, 3) [m], triangles (t, 3), and the bone of each vertex (n,) int.

    Open, each capsule is cut along one meridian, whose two borders lie at the same place: as at the seam of a UV map.
    detail: factor on the sides and rings of capsules.
    """
    vertices, triangles, bones, start = [], [], [], 0
    for number, bone in enumerate(BONES):
        x, faces = _capsule(bone.length, bone.radius, closed, detail)
        vertices.append(x + bone.start)
        triangles.append(faces + start)
        bones.append(np.full(len(x), number))
        start += len(x)
    return np.concatenate(vertices), np.concatenate(triangles), np.concatenate(bones)


def _capsule(length: float, radius: float, closed: bool, detail: float) -> tuple[np.ndarray, np.ndarray]:
    """From the origin down along z, the ends rounded."""
    around, along, cap = (max(3, round(detail * count)) for count in (AROUND, ALONG, CAP))
    turn = np.arange(cap) / cap * 0.5 * math.pi
    r = radius * np.concatenate([np.sin(turn), np.ones(along + 1), np.sin(turn)[::-1]])[1:-1]
    cylinder = -length * np.linspace(0.0, 1.0, along + 1)
    z = np.concatenate([radius * np.cos(turn), cylinder, -length - radius * np.cos(turn)[::-1]])
    columns = around if closed else around + 1
    angle = np.arange(columns) * math.tau / around - 0.5 * math.pi
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    rings = np.concatenate(
        [r[:, None, None] * ring, np.broadcast_to(z[1:-1, None, None], (len(r), columns, 1))], axis=2
    )
    ids = np.arange(len(r) * columns).reshape(len(r), columns)
    there = np.roll(ids, -1, axis=1) if closed else ids[:, 1:]
    ids = ids if closed else ids[:, :-1]
    top, bottom = len(r) * columns, len(r) * columns + 1
    a, b, c, d = (part.ravel() for part in (ids[:-1], ids[1:], there[1:], there[:-1]))
    faces = [np.column_stack([a, b, c]), np.column_stack([a, c, d])]
    faces.append(np.column_stack([ids[0], there[0], np.full(len(ids[0]), top)]))
    faces.append(np.column_stack([there[-1], ids[-1], np.full(len(ids[0]), bottom)]))
    x = np.concatenate([rings.reshape(-1, 3), [[0.0, 0.0, z[0]], [0.0, 0.0, z[-1]]]])
    return x, np.concatenate(faces)


class Pose(NamedTuple):
    """Where the bones of a figure are: a turn (3, 3) and a shift (3,) [m] for each, applied to the one that stands."""

    turns: np.ndarray
    shifts: np.ndarray

    def place(self, x: np.ndarray, bone: np.ndarray) -> np.ndarray:
        """Vertices x (n, 3) [m] of bones (n,) in this pose."""
        return np.asarray(np.einsum("nij,nj->ni", self.turns[bone], x) + self.shifts[bone])


def pose(phase: float = 0.0, swing: float = 1.0, raised: float = 0.0) -> Pose:
    """A pose: of walking at a phase [rad], swing 0 stands, with arms raised to the sides by so much [rad]."""
    turns, shifts = np.zeros((len(BONES), 3, 3)), np.zeros((len(BONES), 3))
    bob = swing * BOB * math.cos(2.0 * phase)
    chest = _about(2, swing * TWIST * math.sin(phase)), np.array([0.0, 0.0, bob])
    for number, bone in enumerate(BONES):
        side = -1.0 if bone.name.endswith("r") else 1.0
        lead = swing * side * math.sin(phase)
        if bone.name in ("torso", "head"):
            turns[number], shifts[number] = chest
            continue
        is_arm = "arm" in bone.name
        upper = bone if bone.name.startswith(("upper", "thigh")) else BONES[number - 2]
        joint = np.asarray(upper.start)
        turn = _about(0, (1.0 if is_arm else -1.0) * SWING * lead)
        if is_arm:
            turn = _about(1, -side * raised) @ turn
        shift = joint - turn @ joint
        if bone is not upper:
            most, ahead = (-ELBOW, 1.0) if is_arm else (KNEE, -1.0)
            bend = swing * most * (0.5 - 0.5 * ahead * side * math.sin(phase))
            bent, at = _about(0, bend), np.asarray(bone.start)
            # First the lower bone bends about its own joint, then it goes with the upper one.
            turn, shift = turn @ bent, turn @ (at - bent @ at) + shift
        root = chest if is_arm else (np.eye(3), chest[1])
        turns[number], shifts[number] = root[0] @ turn, root[0] @ shift + root[1]
    return Pose(turns, shifts)


def _about(axis: int, angle: float) -> np.ndarray:
    """Rotation about a coordinate axis, (3, 3)."""
    one, other = [(1, 2), (2, 0), (0, 1)][axis]
    turn = np.eye(3)
    turn[one, one] = turn[other, other] = math.cos(angle)
    turn[other, one], turn[one, other] = math.sin(angle), -math.sin(angle)
    return turn


COTTON = dict(vars(PRESETS["Cotton"]))


def worn(what: str, closed: bool = True, frames: int = 36, detail: float = 1.0) -> Worn:
    """The figure walks, wearing a "cape", which starts through its arms, a "skirt", which its hands brush, or a "vest"
    of its own faces, a few millimeters off, which arms rub and thighs push.
    """
    if what == "vest":
        return _vest(closed, frames, detail)
    x, triangles, bone = figure(closed, detail)
    poses = [pose(math.tau * frame / STEP) for frame in range(frames + 1)]
    columns, rows = max(4, round(33 * detail)), max(5, round(41 * detail))
    if what == "cape":
        across, down = np.meshgrid(np.linspace(-0.3, 0.3, columns), np.linspace(1.40, 0.60, rows))
        # Behind the back, and through the arm that swings back: the figure starts in the middle of a step.
        poses = [pose(math.tau * (frame / STEP + 0.25)) for frame in range(frames + 1)]
        flat = np.column_stack([across.ravel(), np.full(across.size, 0.155), down.ravel()])
        faces = _quads(rows, columns, False)
    else:
        around = 4 * round(16 * detail)
        rings = max(4, round(21 * detail))
        angle, share = np.meshgrid(np.arange(around) * math.tau / around, np.linspace(0.0, 1.0, rings))
        radius = PINNED + 0.14 * share
        flat = np.stack([radius * np.cos(angle), radius * np.sin(angle), 1.02 - 0.45 * share], axis=-1).reshape(-1, 3)
        faces, columns = _quads(rings, around, True), around
    pins, torso = np.arange(columns), np.zeros(len(flat), int)
    start = poses[0].place(flat, torso)
    pin_frames = np.stack([each.place(flat, torso)[pins] for each in poses[1:]])
    return Worn(
        start, flat, faces, dict.fromkeys(pins.tolist(), 1.0), pin_frames, poses[0].place(x, bone), triangles,
        np.stack([each.place(x, bone) for each in poses[1:]]), COTTON, {},
    )  # fmt: skip


def _vest(closed: bool, frames: int, detail: float) -> Worn:
    """Faces of the torso, twice as fine, that arms and thighs leave free, held at the neck."""
    x, triangles, bone = figure(closed, 2.0 * detail)
    torso = BONES[0]
    axis = np.stack([*np.zeros((2, len(x))), np.clip(x[:, 2], torso.start[2] - torso.length, torso.start[2])], axis=1)
    is_free = (bone == 0) & (x[:, 2] < torso.start[2] + 0.6 * torso.radius)
    for other in BONES[1:]:
        to, way = x - other.start, np.asarray(other.way)
        off = to - np.clip(to @ way, 0.0, other.length)[:, None] * way
        is_free &= np.linalg.norm(off, axis=1) > other.radius + ARMHOLE
    worn_ones = triangles[is_free[triangles].all(axis=1)]
    ids, faces = np.unique(worn_ones, return_inverse=True)
    out = x[ids] - axis[ids]
    flat = x[ids] + TIGHT * out / np.linalg.norm(out, axis=1, keepdims=True)
    pins = np.flatnonzero(flat[:, 2] > torso.start[2] + 0.4 * torso.radius)
    poses, root = [pose(math.tau * frame / STEP) for frame in range(frames + 1)], np.zeros(len(ids), int)
    pin_frames = np.stack([each.place(flat, root)[pins] for each in poses[1:]])
    return Worn(
        poses[0].place(flat, root), flat, faces.reshape(-1, 3).tolist(), dict.fromkeys(pins.tolist(), 1.0), pin_frames,
        poses[0].place(x, bone), triangles, np.stack([each.place(x, bone) for each in poses[1:]]), COTTON, {},
    )  # fmt: skip


def _quads(rows: int, columns: int, is_tube: bool) -> list[list[int]]:
    ids = np.arange(rows * columns).reshape(rows, columns)
    there = np.roll(ids, -1, axis=1) if is_tube else ids[:, 1:]
    ids = ids if is_tube else ids[:, :-1]
    return np.stack([ids[:-1], ids[1:], there[1:], there[:-1]], axis=-1).reshape(-1, 4).tolist()


STANDING = math.radians(45.0)
"""How far the arms are from the body of who tries on a shirt [rad]."""


def shirt() -> dict[str, Any]:
    """A pattern for the figure with its arms at `STANDING`: front, back, and two halves of each sleeve [cm].

    What is behind is turned round, so that all show their fronts: mirror images of themselves, as these outlines are.
    """
    panels: dict[str, Any] = {}
    outline = [[-26, 0], [26, 0], [26, 35], [20, 53], [9, 56], [-9, 56], [-20, 53], [-26, 35]]
    hollow = {"type": "quadratic", "params": [[0.5, 0.12]]}
    for name, forward, neck in (("front", 24.0, 0.5), ("back", -22.0, 0.2)):
        edges: list[dict[str, Any]] = [{"endpoints": [k, (k + 1) % 8]} for k in range(8)]
        edges[2]["curvature"] = edges[6]["curvature"] = hollow
        edges[4]["curvature"] = {"type": "quadratic", "params": [[0.5, neck]]}
        is_back = name == "back"
        panels[name] = {
            "translation": [0.0, 93.0, forward], "rotation": [0, 180 * is_back, 0],
            "vertices": outline, "edges": edges,
        }  # fmt: skip
        for side, angle in (("l", -45.0), ("r", 225.0)):
            shoulder = {"l": 30.0, "r": -30.0}[side]
            sleeve = [[0, -10], [24, -8.5], [24, 8.5], [0, 10]]
            cut: list[dict[str, Any]] = [{"endpoints": [k, (k + 1) % 4]} for k in range(4)]
            cut[3]["curvature"] = {"type": "quadratic", "params": [[0.5, -0.12]]}
            panels[f"{name} {side}"] = {
                "translation": [shoulder, 130.0, forward * 0.6], "rotation": [180 * is_back, 0, angle],
                "vertices": sleeve, "edges": cut,
            }  # fmt: skip
    stitches = [(("front", k), ("back", 8 - k)) for k in (1, 3, 5, 7)]
    for side, hole in (("l", 2), ("r", 6)):
        stitches += [((f"front {side}", k), (f"back {side}", 2 - k)) for k in (0, 2)]
        stitches += [((f"front {side}", 3), ("front", hole)), ((f"back {side}", 3), ("back", 8 - hole))]
    return {
        "pattern": {
            "panels": panels,
            "stitches": [[{"panel": panel, "edge": edge} for panel, edge in stitch] for stitch in stitches],
        },
        "properties": {"units_in_meter": 100},
    }
