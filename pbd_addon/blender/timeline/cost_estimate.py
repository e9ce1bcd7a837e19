"""What a simulation of so many vertices will take, told before a window stands still for it."""

from __future__ import annotations

from collections.abc import Iterable

from bpy.app.translations import pgettext_iface as iface

from ..kinds import Object, Scene
from ..scene import surfaces
from ..scene.scene_objects import live_bodies
from . import backends

LONG = 1.0
"""From so much for a frame on it is told [s]: a window that stands still for longer looks broken."""

BUILD, BUILD_MORE = 6e-5, 2.5e-10
"""To prepare the first frame: for each vertex [s], and more for each pair, as large arrays leave the cache."""

FALL = {"numpy": 8e-7, "numba": 3e-7}
"""To move a vertex through one substep in free fall [s]: grids of 2 300 to 490 000 vertices, 7e-7 to 1e-6 with NumPy;
Numba takes a third of that in `benchmarks/results/ours.md`."""

CONTACT = {"numpy": 1.1e-5, "numba": 6e-6}
"""The same where cloth may meet itself or something else [s]: cotton of 48 x 48 and 72 x 72 vertices that falls on a
ball takes 1.2e-5 and 1.1e-5 with NumPy, the mean of 12 frames; Numba half of that, as for balloons on a floor there."""

MEMORY = 6e3
"""Of each vertex, at most, while the first frame is prepared [bytes]."""


def sentence(scene: Scene, objects: Iterable[Object] = ()) -> str:
    """What the live cloth of a scene, with objects that are to join it, will take; "" if that is little.

    A scale, not a promise: as one core does it, with the kernels that the scene will have.
    """
    count = count_vertices(scene, objects)
    each = seconds_of_frame(scene, count)
    if each < LONG:
        return ""
    said = iface(
        "{count} vertices: the first frame takes about {first} s and {memory:.1f} GB of memory, "
        "each one after it {each} s or more"
    )
    first = seconds_to_prepare(count) + each
    return said.format(count=f"{count:,}", first=rounded(first), memory=MEMORY * count / 1e9, each=rounded(each))


def count_vertices(scene: Scene, objects: Iterable[Object] = ()) -> int:
    """How many vertices the live cloth of a scene has, with objects that are to join it."""
    return sum(len(obj.data.vertices) for obj in {*live_bodies(scene), *objects})


def seconds_to_prepare(count: int) -> float:
    """How long the first frame of so many vertices takes to be built [s]."""
    return BUILD * count + BUILD_MORE * count**2


def seconds_of_frame(scene: Scene, count: int) -> float:
    """What one frame of so many vertices will take [s]."""
    pbd = scene.pbd
    meets = pbd.collisions != "OFF" or pbd.use_floor or bool(surfaces.colliders(scene))
    cost = (CONTACT if meets else FALL)["numba" if backends.wanted(scene) else "numpy"]
    return cost * count * pbd.substeps * pbd.iterations


def rounded(seconds: float) -> str:
    """A duration with one figure that means something."""
    return f"{float(f'{seconds:.1g}'):g}"
