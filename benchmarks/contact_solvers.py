"""The contestants of the contact scenes: our solver, Blender's Cloth modifier."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from .contact_scenes import ContactScene
from .contestants import CLOCK, DEFAULT, LIGHT
from .curtain import FRAME_RATE
from .ours import need
from .stage import Stage

STIFFNESSES = tuple(
    f"{kind}_{what}" for kind in ("tension", "compression", "shear", "bending") for what in ("stiffness", "damping")
)


class OurContact:
    """Our solver at its defaults; Blender shows its cloth and updates the scene, obstacle and all."""

    def __init__(self, scene: ContactScene, kernels: str) -> None:
        need(kernels)
        self.stage = Stage(scene.vertices, scene.faces, scene.frames)
        self.stage.add("Obstacle", scene.obstacle_vertices, scene.obstacle_faces)
        start = time.process_time()
        self.body, self.simulation = scene.simulation(kernels=kernels)
        self.setup = time.process_time() - start

    def step(self, frame: int) -> None:
        self.simulation.step(1.0 / FRAME_RATE)
        self.stage.write(self.simulation.positions(self.body))
        self.stage.show(1 + frame)

    def positions(self) -> np.ndarray:
        return self.simulation.positions(self.body)


class BlenderContact:
    """Blender's Cloth, and its Collision on the obstacle.

    Args:
        scene: What it simulates.
        mass: DEFAULT, LIGHT or LIGHT_AND_STIFF.
        share: Self distance in edges; None leaves Blender's default.
    """

    setup = math.nan
    """Blender sets up in the first frame."""

    def __init__(self, scene: ContactScene, mass: str = DEFAULT, share: float | None = None) -> None:
        self.stage = Stage(scene.vertices, scene.faces, scene.frames)
        self.obstacle: Any = self.stage.add("Obstacle", scene.obstacle_vertices, scene.obstacle_faces)
        self.obstacle.modifiers.new("Collision", "COLLISION")
        modifier: Any = self.stage.object.modifiers.new("Cloth", "CLOTH")
        modifier.point_cache.frame_start, modifier.point_cache.frame_end = 1, scene.frames + 1
        if scene.rest_vertices is not scene.vertices:
            self.stage.object.shape_key_add(name="Start")
            rest = self.stage.object.shape_key_add(name="Rest")
            rest.value = 0.0
            rest.points.foreach_set("co", scene.rest_vertices.astype(np.float32).ravel())
            modifier.settings.rest_shape_key = rest
        if mass != DEFAULT:
            lighter = scene.mass / len(scene.vertices) / modifier.settings.mass
            modifier.settings.mass *= lighter
            modifier.settings.air_damping = 0.0
            modifier.settings.time_scale = CLOCK
        if mass == LIGHT:
            for name in STIFFNESSES:
                setattr(modifier.settings, name, lighter * getattr(modifier.settings, name))
        modifier.settings.use_pressure = scene.inflated
        modifier.collision_settings.use_self_collision = scene.self_collision
        if share is not None:
            modifier.collision_settings.self_distance_min = share * scene.edge
        self.stage.show(1)

    def step(self, frame: int) -> None:
        self.stage.show(1 + frame)

    def positions(self) -> np.ndarray:
        return self.stage.read()


STATED_OF_CLOTH = ("collision_quality", "distance_min", "friction", "self_distance_min", "self_friction")
STATED_OF_PRESSURE = ("use_pressure_volume", "uniform_pressure_force", "target_volume", "pressure_factor")
STATED_OF_OBSTACLE = ("thickness_outer", "thickness_inner", "cloth_friction", "damping", "use_culling", "use_normal")


def stated_contact_settings(scene: ContactScene) -> dict[str, dict[str, float]]:
    """Blender's defaults of everything about contact, read from Blender itself."""
    cloth = BlenderContact(scene)
    modifier: Any = cloth.stage.object.modifiers["Cloth"]
    stated = (
        ("Cloth, collisions", modifier.collision_settings, STATED_OF_CLOTH),
        ("Cloth, pressure", modifier.settings, STATED_OF_PRESSURE),
        ("Collision of the obstacle", cloth.obstacle.collision, STATED_OF_OBSTACLE),
    )
    values = {title: {name: round(float(getattr(of, name)), 6) for name in names} for title, of, names in stated}
    return values
