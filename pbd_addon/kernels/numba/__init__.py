"""Kernels compiled by Numba; those that would speed up a frame by less than 1 % are NumPy's."""

from ..numpy import (
    apply_plane_friction as apply_plane_friction,
    solve_blocks as solve_blocks,
    sum_by_piece as sum_by_piece,
)
from .air import *
from .bvh import *
from .chains import *
from .cones import *
from .contact import *
from .frames import *
from .inflation import *
from .levels import *
from .motion import *
from .packing import *
from .projections import *
from .steps import *
