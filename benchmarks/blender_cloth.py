"""Blender's own Cloth modifier on the curtain."""

from __future__ import annotations

import math

import numpy as np

from .curtain import FRAMES, Curtain
from .stage import Stage

DEFAULT_QUALITY = 5

STATED = (
    *("mass", "tension_stiffness", "compression_stiffness", "shear_stiffness", "bending_stiffness"),
    *("tension_damping", "compression_damping", "shear_damping", "bending_damping", "air_damping", "time_scale"),
)
"""Settings of the modifier that the report names."""


class BlenderCloth:
    """Blender's Cloth with its default settings but for the quality, which is its number of steps in a frame."""

    solver = "Blender's Cloth"
    setup = math.nan

    def __init__(self, curtain: Curtain, quality: int) -> None:
        self.setting = f"quality {quality}" + (" (default)" if quality == DEFAULT_QUALITY else "")
        self.stage = Stage(f"Cloth quality {quality}", curtain.vertices, curtain.quads)
        pins = self.stage.object.vertex_groups.new(name="Pins")
        pins.add(list(curtain.pins), 1.0, "REPLACE")
        modifier = self.stage.object.modifiers.new("Cloth", "CLOTH")
        modifier.settings.quality = quality
        modifier.settings.vertex_group_mass = pins.name
        modifier.point_cache.frame_start, modifier.point_cache.frame_end = 1, FRAMES + 1
        self.stage.show(1)

    def step(self, frame: int) -> None:
        self.stage.show(1 + frame)

    def positions(self) -> np.ndarray:
        return self.stage.read()

    def close(self) -> None:
        """Remove its scene."""
        self.stage.close()


def stated_settings() -> dict[str, float]:
    """What Blender's defaults are, read from Blender itself."""
    cloth = BlenderCloth(Curtain.of_size(2), DEFAULT_QUALITY)
    settings = cloth.stage.object.modifiers["Cloth"].settings
    values = {"quality": settings.quality, **{name: round(float(getattr(settings, name)), 6) for name in STATED}}
    cloth.close()
    return values
