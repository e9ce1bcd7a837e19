"""What a simulation of so many vertices will take, told before a window stands still for it."""

from bpy.app.translations import pgettext_iface as iface

from ..scene.scene_objects import live_bodies

LARGE = 50_000
"""Vertices from which on it is told."""

BUILD, BUILD_MORE = 6e-5, 2.5e-10
"""To prepare the first frame: for each vertex [s], and more for each pair, as large arrays leave the cache."""

STEP = 8e-7
"""To move a vertex through one substep in free fall, with NumPy [s]."""

MEMORY = 6e3
"""Of each vertex, at most, while the first frame is prepared [bytes]."""


def count_vertices(objects):
    """How many vertices these mesh objects have, together."""
    return sum(len(obj.data.vertices) for obj in objects)


def sentence(scene, objects=()):
    """What the live cloth of a scene, with objects that are to join it, will take; "" if that is little.

    Measured on grids of 22 500 to 490 000 vertices, on one core: a scale, not a promise.
    """
    count = count_vertices({*live_bodies(scene), *objects})
    if count < LARGE:
        return ""
    each = STEP * count * scene.pbd.substeps
    said = iface(
        "{count} vertices: the first frame takes about {first} s and {memory:.1f} GB of memory, "
        "each one after it {each} s or more"
    )
    first = BUILD * count + BUILD_MORE * count**2 + each
    return said.format(count=f"{count:,}", first=rounded(first), memory=MEMORY * count / 1e9, each=rounded(each))


def rounded(seconds):
    """A duration with one figure that means something."""
    return f"{float(f'{seconds:.1g}'):g}"
