"""Kernels compiled by Numba; what gains little from it is NumPy's."""

from ..numpy.blocks import *
from .bvh import *
from .chains import *
from .cones import *
from .contact import *
from .inflation import *
from .levels import *
from .motion import *
from .projections import *
