"""The engine of PBD Cloth & Balloons.

Everything here runs without Blender and needs only NumPy, except the sub-package `blender`, the bridge, which is not
imported here. Start reading at `solver`.
"""

from .air.force_functions import AirVelocity
from .air.wind import Wind
from .bodies.body import Body
from .bodies.creases import Creases
from .bodies.mesh import Polygons
from .bodies.rail import Rail
from .bodies.settings import PRESETS, Material, SolverSettings
from .constraints import Plane
from .contact import Collider
from .frames.frame_inputs import FrameInputs
from .frames.report import StepReport
from .simulation import Simulation
from .solver import UnstableError

__all__ = [
    "PRESETS",
    "AirVelocity",
    "Body",
    "Collider",
    "Creases",
    "FrameInputs",
    "Material",
    "Plane",
    "Polygons",
    "Rail",
    "Simulation",
    "SolverSettings",
    "StepReport",
    "UnstableError",
    "Wind",
]
