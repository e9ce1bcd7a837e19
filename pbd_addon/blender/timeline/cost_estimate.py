"""Estimated time and memory of a simulation, shown before it blocks the window."""

from collections.abc import Iterable

from bpy.app.translations import pgettext_iface as iface

from ...layer_sorting import REST_FRAMES
from ..kinds import Object, Scene
from ..scene import surfaces
from ..scene.scene_objects import live_bodies
from . import backends

LONG = 1.0
"""A frame that takes at least this long [s] is worth a warning: a window blocked for longer looks broken."""

SLICED = 0.3
"""A frame that takes longer is stepped in slices, with progress and Esc [s]: a window blocked that long feels stuck."""

BUILD, BUILD_MORE = 6e-5, 2.5e-10
"""Time to build the simulation, per vertex and per squared number of vertices [s]; large arrays leave the CPU cache."""

FALL = {"numpy": 8e-7, "numba": 2.5e-7}
"""Time per vertex and substep in free fall [s]: grids of 2,300 to 490,000 vertices took 3e-7 to 1e-6 with NumPy, of
10,000 to 90,000 vertices 0.7e-7 to 2.4e-7 with Numba."""

APART = {"numpy": 1.3e-6, "numba": 4.5e-7}
"""The same for cloth that may meet itself alone, and hangs free [s]: grids of 10,000 to 90,000 vertices took 0.6e-6 to
1.3e-6 with NumPy, 2e-7 to 4.6e-7 with Numba."""

CONTACT = {"numpy": 6e-6, "numba": 3e-6}
"""The same with contact [s]: cotton of 48 x 48 and 72 x 72 vertices falling on a ball took 6.8e-6 and 6e-6 with NumPy,
2.9e-6 and 2.8e-6 with Numba, averaged over 24 frames."""

MEMORY = 6e3
"""Peak memory per vertex while the simulation is built [bytes]."""


def sentence(scene: Scene, objects: Iterable[Object] = ()) -> str:
    """A sentence on the cost of simulating a scene's live cloth and `objects` to be added; "" if it is small.

    A rough estimate for one core, with the kernels that the scene will use.
    """
    count = count_vertices(scene, objects)
    each = seconds_of_frame(scene, count)
    if each < LONG:
        return ""
    line = iface(
        "{count} vertices: the first frame takes about {first} s and {memory:.1f} GB of memory, "
        "each one after it {each} s or more"
    )
    first = seconds_to_prepare(count) + each
    return line.format(count=f"{count:,}", first=rounded(first), memory=MEMORY * count / 1e9, each=rounded(each))


def count_vertices(scene: Scene, objects: Iterable[Object] = ()) -> int:
    """Number of vertices of a scene's live cloth and of `objects` to be added."""
    return sum(len(obj.data.vertices) for obj in {*live_bodies(scene), *objects})


def seconds_to_prepare(count: int) -> float:
    """Estimated time to build the first frame with `count` vertices [s]."""
    return BUILD * count + BUILD_MORE * count**2


def seconds_to_begin(scene: Scene) -> float:
    """Estimated time to build the first frame of a scene, and to sort its layers [s]."""
    count = count_vertices(scene)
    hidden = sum(REST_FRAMES) if has_layers(scene) else 0
    return seconds_to_prepare(count) + hidden * seconds_of_frame(scene, count)


def has_layers(scene: Scene) -> bool:
    """Whether cloth that starts tangled is sorted before the first frame."""
    return scene.pbd.collisions != "OFF" and len({obj.pbd.layer for obj in live_bodies(scene)} - {0}) > 1


def seconds_of_frame(scene: Scene, count: int) -> float:
    """Estimated time of one frame with `count` vertices [s]."""
    pbd = scene.pbd
    meets = pbd.use_floor or bool(surfaces.colliders(scene))
    cost = CONTACT if meets else APART if pbd.collisions != "OFF" else FALL
    return cost["numba" if backends.wanted(scene) else "numpy"] * count * pbd.substeps * pbd.iterations


def rounded(seconds: float) -> str:
    """A duration rounded to one significant digit."""
    return f"{float(f'{seconds:.1g}'):g}"
