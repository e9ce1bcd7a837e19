"""Kinds of constraints, one class each; what they have in common is in `base`."""

from .attachment import AttachmentConstraints
from .base import Constraints
from .bend import DihedralConstraints, IsometricConstraints, hinge_geometry
from .distance import DistanceConstraints, PairConstraints
from .grab import GRIP, Grab, GrabConstraints
from .inflation import InflationConstraints
from .levels import LevelConstraints
from .plane import Plane, PlaneConstraints
from .skin import PressurizedSkin
from .tether import TetherConstraints, tether_rows
from .volume import Piece, VolumeConstraints

__all__ = [
    "GRIP",
    "AttachmentConstraints",
    "Constraints",
    "DihedralConstraints",
    "DistanceConstraints",
    "Grab",
    "GrabConstraints",
    "InflationConstraints",
    "IsometricConstraints",
    "LevelConstraints",
    "PairConstraints",
    "Piece",
    "Plane",
    "PlaneConstraints",
    "PressurizedSkin",
    "TetherConstraints",
    "VolumeConstraints",
    "hinge_geometry",
    "tether_rows",
]
