"""The engine of PBD Cloth & Balloons.

Everything here runs without Blender and needs only NumPy, except the sub-package `blender`, the bridge, which is not
imported here. Start reading at `solver`.
"""

from .air.force_functions import AirVelocity
from .air.wind import Wind
from .bodies.body import Body
from .bodies.material import PRESETS, Material
from .bodies.rail import Rail
from .constraints import Plane
from .contact import Collider
from .frames.frame_inputs import FrameInputs
from .frames.report import StepReport
from .meshes.creases import Creases
from .meshes.mesh import Polygons
from .settings.solver_settings import SolverSettings
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
