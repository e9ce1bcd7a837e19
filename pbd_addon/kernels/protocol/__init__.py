"""The functions of every backend: the one place for their signatures; files are named as in the backends."""

from __future__ import annotations

from typing import Protocol

from .air import Air
from .blocks import Blocks
from .bvh import Hierarchies
from .chains import Chains
from .closest import Closest
from .cones import Cones
from .contact import Contacts
from .frames import Frames
from .inflation import Inflation
from .levels import Levels
from .motion import Motion
from .packing import Packing
from .pairs import Pairs
from .planes import Planes
from .projections import Projections
from .skins import Skins
from .springs import SoftSprings
from .steps import Steps


class Kernels(
    Air, Blocks, Hierarchies, Chains, Closest, Cones, Contacts, Frames, Inflation, Levels, Motion, Packing, Pairs,
    Planes, Projections, Skins, SoftSprings, Steps, Protocol,
):  # fmt: skip
    """All kernels of a backend, which is a module."""

    __name__: str
