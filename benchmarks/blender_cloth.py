"""Blender's own Cloth modifier on the curtain."""

from __future__ import annotations

import time

import numpy as np

from .contestants import DEFAULT_QUALITY
from .curtain import Curtain
from .stage import Stage

STATED = (
    *("mass", "tension_stiffness", "compression_stiffness", "shear_stiffness", "bending_stiffness"),
    *("tension_damping", "compression_damping", "shear_damping", "bending_damping", "air_damping", "time_scale"),
)
"""Settings of the modifier that the report names."""


class BlenderCloth:
    """Blender's Cloth with its default settings but for the quality, which is its number of steps in a frame."""

    def __init__(self, curtain: Curtain, quality: int) -> None:
        self.stage = Stage(curtain.vertices, curtain.faces)
        start = time.process_time()
        pins = self.stage.object.vertex_groups.new(name="Pins")
        pins.add(list(curtain.pins), 1.0, "REPLACE")
        modifier = self.stage.object.modifiers.new("Cloth", "CLOTH")
        modifier.settings.quality = quality
        modifier.settings.vertex_group_mass = pins.name
        modifier.point_cache.frame_start, modifier.point_cache.frame_end = 1, self.stage.scene.frame_end
        self.stage.show(1)
        self.setup = time.process_time() - start

    def step(self, frame: int) -> None:
        self.stage.show(1 + frame)

    def positions(self) -> np.ndarray:
        return self.stage.read()


def stated_settings() -> dict[str, float]:
    """What Blender's defaults are, read from Blender itself."""
    settings = BlenderCloth(Curtain.of_size(2), DEFAULT_QUALITY).stage.object.modifiers["Cloth"].settings
    return {"quality": settings.quality, **{name: round(float(getattr(settings, name)), 6) for name in STATED}}
