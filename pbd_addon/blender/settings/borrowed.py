"""Settings of Blender's that the panels show with our tooltips, because Blender's are about something else.

Each is a property of `Scene.pbd` that reads and writes Blender's; nothing is stored twice.
"""

import operator
from typing import Any

from ..kinds import Group
from .field_properties import Switch, Whole

BLENDERS = {
    "use_range": "use_custom_simulation_range",
    "range_start": "simulation_frame_start",
    "range_end": "simulation_frame_end",
    "lock_interface": "render.use_lock_interface",
}
"""Path of Blender's property, from the scene, by name of ours."""


def properties() -> dict[str, object]:
    """The properties by name."""
    about: dict[str, tuple[Any, ...]] = {
        "use_range": (Switch, "Simulation Range", "Simulate and bake other frames than those of the timeline"),
        "range_start": (
            *(Whole, "Start", "First frame that is simulated, where the cloth has the shape of the mesh. Usually 1", 1),
        ),
        "range_end": (Whole, "End", "Last frame that is simulated and baked. Usually 250", 250),
        "lock_interface": (
            *(Switch, "Lock Interface in Renders"),
            "Keep the 3D Views from reading cloth while a render writes it, which can crash Blender",
        ),
    }
    return {name: make(*texts, **_access(name)) for name, (make, *texts) in about.items()}


def _access(name: str) -> dict[str, Any]:
    """Getter, setter and options of a property."""
    owner, _, own = f".{BLENDERS[name]}".rpartition(".")
    read = operator.attrgetter(BLENDERS[name])

    def write(group: Group, value: Any) -> None:
        scene = group.id_data
        setattr(operator.attrgetter(owner[1:])(scene) if owner else scene, own, value)

    return {"get": lambda group: read(group.id_data), "set": write, "options": set()}
