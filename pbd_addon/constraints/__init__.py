"""Kinds of constraints, one class each. Read `distance` first, then `base`, what all kinds share.

Each file begins with the formulas of its rows: C, its gradient, the compliance that XPBD divides by h², and the source.
A row moves particles by w ∇C Δλ with Δλ = (−C − α̃ λ) / (Σ w |∇C|² + α̃), α̃ = α / h² (Macklin et al. 2016, eq. 18).
"""

from .attachment import AttachmentConstraints as AttachmentConstraints
from .base import Constraints as Constraints
from .bend import (
    DihedralConstraints as DihedralConstraints,
    IsometricConstraints as IsometricConstraints,
    hinge_geometry as hinge_geometry,
    resolved_shares as resolved_shares,
)
from .custom import CustomConstraints as CustomConstraints
from .distance import DistanceConstraints as DistanceConstraints
from .folds import Folds as Folds
from .grab import GRIP as GRIP, Grab as Grab, GrabConstraints as GrabConstraints
from .inflation import InflationConstraints as InflationConstraints
from .levels import LevelConstraints as LevelConstraints
from .plane import Plane as Plane, PlaneConstraints as PlaneConstraints
from .plate import PlateConstraints as PlateConstraints, Sheet as Sheet
from .rigid import RigidConstraints as RigidConstraints
from .ropes import RopeBendConstraints as RopeBendConstraints, rope_rows as rope_rows
from .seam_folds import SeamFoldConstraints as SeamFoldConstraints, folds_across as folds_across
from .seams import SeamConstraints as SeamConstraints, WeldConstraints as WeldConstraints
from .skin import PressurizedSkin as PressurizedSkin
from .slide import SlideConstraints as SlideConstraints, Sliding as Sliding
from .struts import StrutConstraints as StrutConstraints
from .tether import TetherConstraints as TetherConstraints, tether_rows as tether_rows
from .volume import Piece as Piece, VolumeConstraints as VolumeConstraints
