"""Settings of Blender's that the panels show with our tooltips, because Blender's are about something else.

Each is a property of `Scene.pbd` that reads and writes Blender's; nothing is stored twice.
"""

import operator
from typing import Any

from bpy.props import BoolProperty, IntProperty

from .field_properties import OVERRIDABLE

BLENDERS = {
    "use_range": "use_custom_simulation_range",
    "range_start": "simulation_frame_start",
    "range_end": "simulation_frame_end",
    "lock_interface": "render.use_lock_interface",
}
"""Path of Blender's property, from the scene, by name of ours."""


def properties() -> dict[str, Any]:
    """The properties by name."""
    return {
        "use_range": BoolProperty(
            name="Simulation Range",
            description="Simulate and bake other frames than those of the timeline",
            **_access("use_range"),
        ),
        "range_start": IntProperty(
            name="Start",
            description="First frame that is simulated, where the cloth has the shape of the mesh. Usually 1",
            default=1,
            **_access("range_start"),
        ),
        "range_end": IntProperty(
            name="End",
            description="Last frame that is simulated and baked. Usually 250",
            default=250,
            **_access("range_end"),
        ),
        "lock_interface": BoolProperty(
            name="Lock Interface in Renders",
            description="Keep the 3D Views from reading cloth while a render writes it, which can crash Blender",
            **_access("lock_interface"),
        ),
    }


def _access(name: str) -> dict[str, Any]:
    """Getter, setter and options of a property."""
    owner, _, own = f".{BLENDERS[name]}".rpartition(".")
    read = operator.attrgetter(BLENDERS[name])

    def write(group: Any, value: Any) -> None:
        scene = group.id_data
        setattr(operator.attrgetter(owner[1:])(scene) if owner else scene, own, value)

    return {"get": lambda group: read(group.id_data), "set": write, "options": set(), "override": OVERRIDABLE}
