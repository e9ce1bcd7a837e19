"""Parts: one file a feature, with all that the solver calls of it.

What a scene does not have is not entered. `model/part.py` says what a part is; here stands in which order they act.
"""

from __future__ import annotations

from ..model.part import Kept, Part
from .air import Air
from .damping import Damping
from .dynamic_mesh import RestShapes
from .gas import Gas
from .grabs import Grabs
from .lift import Lift
from .obstacles import Obstacles
from .pace import Pace
from .pins import Pins
from .plasticity import Plasticity
from .rigid import Rigid
from .ropes import Ropes
from .sewing import Sewing
from .skin import Skin
from .slides import Slides
from .springs import Springs
from .struts import Struts
from .tearing import Tearing
from .tethers import Tethers
from .welds import Welds

PARTS: tuple[type[Part], ...] = (
    *(RestShapes, Tearing, Gas, Pins, Grabs, Slides, Damping, Skin, Springs, Obstacles, Rigid, Air, Lift),
    *(Struts, Ropes, Tethers, Sewing, Welds, Plasticity, Pace),
)
"""All parts, in the order in which they act at the same time.

Damping comes before air and lift, and skins note velocities in between. At the end of a frame what is joined is put
where the one is that stands for it before anything else looks at positions, and seams become one last. What yields has
other rest lengths after a substep: it comes after all that measures the old ones.
"""

KEPT: dict[str, dict[str, Kept]] = {part.name: dict(part.MEMORY) for part in PARTS if part.MEMORY}
"""What is known of all that states remember, by the names of part and memory."""

ORDER = (
    *("attachment", "grab", "inflation", "plate bend", "isometric bend", "dihedral bend", "seam bend", "rope bend"),
    *("shear", "levels", "tether", "struts", "sliding pin", "stretch", "welds", "seams", "volume"),
    *("", "rigid", "plane", "contact"),
)
"""Kinds of constraints by name, in the order of projection: what acts far first, contact last. "" are all others."""
