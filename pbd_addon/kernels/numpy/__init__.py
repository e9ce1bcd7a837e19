"""Kernels in NumPy: the reference, and the backend that runs everywhere."""

import numpy as _np

from .air import *
from .blocks import *
from .bvh import *
from .chains import *
from .closest import *
from .cones import *
from .contact import *
from .frames import *
from .inflation import *
from .levels import *
from .motion import *
from .packing import *
from .pairs import *
from .planes import *
from .projections import *
from .skins import *
from .springs import *
from .steps import *

_np.empty(30 * 2**20, _np.uint8)
"""Freed at once: from then on glibc keeps up to twice as much freed memory. Else it returns that of temporary arrays to
the system and asks for it again, which cost a frame of 10,000 vertices 12,000 page faults and a fifth of its time. Its
threshold follows the largest block that was freed, up to 32 MiB (mallopt(3), M_MMAP_THRESHOLD)."""
