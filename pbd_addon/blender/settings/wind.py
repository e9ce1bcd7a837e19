"""The air of a scene: its wind, its density, and how Blender's force fields are read."""

from typing import NamedTuple

import bpy
import numpy as np

from ..kinds import Group, Scene
from .field_properties import Choice, Link, Real, Switch, Vector, Whole

READINGS = (
    ("PHYSICAL", "Physical", "The strength of wind is the speed of air in m/s, that of all others m/s², on particles"),
    (
        "CLOTH",
        "As Blender's Cloth",
        "The pressure that Blender's own cloth would feel, for scenes that were made with it. "
        "Wind of 10 blows with 3 m/s, of 100 with 10 m/s at 24 fps",
    ),
)


def properties() -> dict[str, object]:
    """The properties of a scene, by name."""
    return {
        "wind_speed": Real(
            "Wind",
            "Speed of the air. A breeze 3 m/s, a flag streams at 8 m/s, storm 25 m/s",
            low=0.0,
            high=1000.0,
            soft_high=40.0,
            unit="VELOCITY",
        ),
        "wind_object": Link(
            "Blows Along",
            "Object whose -Z axis the wind blows along, as light does from a sun. None: the direction below counts",
            type=bpy.types.Object,
        ),
        "wind_direction": Vector(
            "Direction",
            "Where the wind blows to: (1, 0, 0) is along X. Its length does not count",
            (1.0, 0.0, 0.0),
            size=3,
            subtype="XYZ",
        ),
        "wind_turbulence": Real(
            "Turbulence",
            "Strength of gusts as a share of the speed. Over open ground 15 %, between houses 30 %; "
            "in steady wind of 0 % cloth soon hangs still",
            25.0,
            low=0.0,
            high=1000.0,
            soft_high=100.0,
            subtype="PERCENTAGE",
            precision=1,
        ),
        "wind_eddy": Real(
            "Eddy Size",
            "Length of the strongest gusts. As long as the cloth they move it most: flag 1 m, sail 5 m",
            1.0,
            low=0.001,
            soft_high=20.0,
            subtype="DISTANCE",
        ),
        "wind_seed": Whole("Seed", "Which gusts blow. 1, 2, 3: others of the same strength", low=0),
        "wind_loop": Whole(
            "Loop",
            "Number of frames after which steady wind repeats itself. With 0 it never does",
            low=0,
            soft_high=500,
        ),
        "wind_shelter": Switch(
            "Shelter",
            "Colliders, other cloth and balloons keep the wind off what is behind them. "
            "Usually off: it takes one ray per triangle and frame",
        ),
        "field_reading": Choice(
            "Force Fields", "What the strength of Blender's force fields means to cloth", items=READINGS
        ),
    }


class WindSettings(NamedTuple):
    """What a scene says of its wind."""

    speed: float  # [m/s]
    direction: tuple[float, ...]  # of any length
    turbulence: float  # [%]
    eddy: float  # [m]
    seed: int
    loop: int  # frames
    shelter: bool


STILL = WindSettings(0.0, (1.0, 0.0, 0.0), 0.0, 1.0, 0, 0, False)
"""No wind: while nothing blows, the rest does not matter."""


def raw_wind(scene: Scene) -> WindSettings:
    """The wind of a scene, evaluated or not."""
    pbd = scene.pbd
    if pbd.wind_speed == 0.0:
        return STILL
    gusts = pbd.wind_turbulence, pbd.wind_eddy, pbd.wind_seed, pbd.wind_loop
    return WindSettings(pbd.wind_speed, direction(pbd), *gusts, pbd.wind_shelter)


def direction(pbd: Group) -> tuple[float, ...]:
    """Where the wind of a ``Scene.pbd`` blows to, of any length."""
    if pbd.wind_object is None:
        return tuple(pbd.wind_direction)
    return tuple((-np.array(pbd.wind_object.matrix_world.col[2][:3])).tolist())
