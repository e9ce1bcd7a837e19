"""Kinds of constraints, one class each. Read `distance` first, then `base`, what all kinds share.

Each file begins with the formulas of its rows: C, its gradient, the compliance that XPBD divides by h², and the source.
A row moves particles by w ∇C Δλ with Δλ = (−C − α̃ λ) / (Σ w |∇C|² + α̃), α̃ = α / h² (Macklin et al. 2016, eq. 18).
"""

from .attachment import AttachmentConstraints
from .base import Constraints
from .bend import DihedralConstraints, IsometricConstraints, hinge_geometry
from .custom import CustomConstraints
from .distance import DistanceConstraints
from .folds import Folds
from .grab import GRIP, Grab, GrabConstraints
from .inflation import InflationConstraints
from .levels import LevelConstraints
from .plane import Plane, PlaneConstraints
from .plate import PlateConstraints, Sheet
from .rigid import RigidConstraints
from .ropes import RopeBendConstraints, rope_rows
from .seam_folds import SeamFoldConstraints, folds_across
from .seams import SeamConstraints, WeldConstraints
from .skin import PressurizedSkin
from .slide import SlideConstraints, Sliding
from .struts import StrutConstraints
from .tether import TetherConstraints, tether_rows
from .volume import Piece, VolumeConstraints

__all__ = [
    "GRIP",
    "AttachmentConstraints",
    "Constraints",
    "CustomConstraints",
    "DihedralConstraints",
    "DistanceConstraints",
    "Folds",
    "Grab",
    "GrabConstraints",
    "InflationConstraints",
    "IsometricConstraints",
    "LevelConstraints",
    "Piece",
    "Plane",
    "PlaneConstraints",
    "PlateConstraints",
    "PressurizedSkin",
    "RigidConstraints",
    "RopeBendConstraints",
    "SeamConstraints",
    "SeamFoldConstraints",
    "Sheet",
    "SlideConstraints",
    "Sliding",
    "StrutConstraints",
    "TetherConstraints",
    "VolumeConstraints",
    "WeldConstraints",
    "folds_across",
    "hinge_geometry",
    "rope_rows",
    "tether_rows",
]
