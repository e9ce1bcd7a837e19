"""The engine of PBD Cloth & Balloons.

Everything here runs without Blender and needs only NumPy, except the sub-package `blender`, the bridge, which is not
imported here. Start reading at `solver`.
"""

from .body import Body
from .constraints import Plane
from .contact import Collider
from .creases import Creases
from .force_functions import AirVelocity
from .frame_inputs import FrameInputs
from .mesh import Polygons
from .rail import Rail
from .report import StepReport
from .settings import PRESETS, Material, SolverSettings
from .simulation import Simulation
from .solver import UnstableError
from .wind import Wind

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
