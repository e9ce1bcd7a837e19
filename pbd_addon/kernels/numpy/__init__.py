"""Kernels in NumPy: the reference, and the backend that runs everywhere."""

from .air import *
from .blocks import *
from .bvh import *
from .chains import *
from .cones import *
from .contact import *
from .inflation import *
from .levels import *
from .motion import *
from .projections import *
