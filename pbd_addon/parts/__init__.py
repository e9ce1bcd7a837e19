"""Parts: one file a feature, with all that the solver calls of it.

What a scene does not have is not entered. `model/part.py` says what a part is; here stands in which order they act.
"""

from __future__ import annotations

import dataclasses

from ..model.inertia import WEIGHT_MAPS, Weight
from ..model.part import Kept, Part
from ..settings.fields import Map
from .air import Air, Sail
from .buckling import Buckling
from .damping import Damping, Slowing
from .dynamic_mesh import RestShapes
from .gas import Gas, Inflation
from .grabs import Grabs
from .hysteresis import Hysteresis, Rubbing
from .lift import Lift
from .obstacles import Obstacles, Touch
from .pace import Pace
from .pins import Pinning, Pins
from .plasticity import Plasticity, Yielding
from .resilience import Resilience, Returning
from .rigid import Rigid, Solid
from .ropes import Ropes
from .rounds import Rounds
from .rubber import Elastomer, Rubber
from .sewing import Seam, Sewing
from .skin import Skin
from .slides import Slides
from .springs import Elasticity, Springs
from .struts import Inside, Struts
from .tearing import Strength, Tearing
from .tethers import Tethering, Tethers
from .welds import Welds

PARTS: tuple[type[Part], ...] = (
    *(
        RestShapes,
        Tearing,
        Gas,
        Pins,
        Grabs,
        Slides,
        Damping,
        Rubber,
        Resilience,
        Skin,
        Springs,
        Obstacles,
        Rigid,
        Air,
        Lift,
    ),
    *(Struts, Ropes, Tethers, Sewing, Welds, Plasticity, Hysteresis, Pace, Rounds, Buckling),
)
"""All parts, in the order in which they act at the same time.

Damping comes before air and lift, and skins note velocities in between. At the end of a frame what is joined is put
where the one is that stands for it before anything else looks at positions, and seams become one last. What yields has
other rest lengths after a substep: it comes after all that measures the old ones. Rubber is as stiff as skins count on.
"""


@dataclasses.dataclass(frozen=True)
class Fields(
    Touch,
    Inflation,
    Strength,
    Inside,
    Seam,
    Pinning,
    Tethering,
    Sail,
    Slowing,
    Rubbing,
    Returning,
    Yielding,
    Elastomer,
    Elasticity,
    Solid,
    Weight,
):
    """What a material says of each part, and what it weighs: the last ones come first."""


MAPS: dict[str, Map] = WEIGHT_MAPS | {name: one for part in PARTS for name, one in part.MAPS.items()}
"""What can vary over a body, by name."""

KEPT: dict[str, dict[str, Kept]] = {part.name: dict(part.MEMORY) for part in PARTS if part.MEMORY}
"""What is known of all that states remember, by the names of part and memory."""

ORDER = (
    *("attachment", "grab", "inflation", "plate bend", "isometric bend", "dihedral bend", "seam bend", "rope bend"),
    *("shear", "levels", "tether", "struts", "sliding pin", "stretch", "welds", "seams", "volume"),
    *("", "rigid", "plane", "contact"),
)
"""Kinds of constraints by name, in the order of projection: what acts far first, contact last. "" are all others."""
