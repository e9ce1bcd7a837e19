"""The fields of materials, by what they belong to.

Every field has the label, unit, range and tooltip that the panels show, so the words are the same here and in Blender.
`Part.FIELDS` names the group of a feature; `settings.Material` has them all.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from ..arrays import arguments

BEND_MODELS = ("AUTO", "ISOMETRIC", "DIHEDRAL")
PRESSURE_MODES = ("OFF", "VOLUME", "OVERPRESSURE", "GAS")

ATMOSPHERE = 101_325.0
"""Standard air pressure outside every balloon [Pa]."""


AIR_DENSITY = 1.2
"""Density of air at 20 °C and `ATMOSPHERE` [kg/m³]."""


HALF_TURN = 3.1415927
"""180° in the eight digits that 32 bits keep [rad]."""

EIGHTH_TURN = 0.7853982
"""45° in the seven digits that 32 bits keep [rad]."""


def setting(
    default: Any,
    label: str,
    description: str,
    *,
    unit: str = "",
    low: float | None = None,
    high: float | None = None,
    soft_high: float | None = None,
    choices: tuple[str, ...] = (),
    panel: str = "",
) -> Any:
    """A dataclass field with metadata for a user interface and a validator.

    Args:
        default: Default value.
        label: Label in a panel, without unit.
        description: One sentence for the tooltip, with a typical value.
        unit: SI unit, "" for pure numbers.
        low: Smallest legal value.
        high: Largest legal value.
        soft_high: Where a slider ends.
        choices: Legal values of a text field.
        panel: The group of settings beside which it stands in the panels, if they do not name it themselves.
    """
    metadata = {
        "label": label,
        "description": description,
        "unit": unit,
        "low": low,
        "high": high,
        "soft_high": soft_high,
        "choices": choices,
        "panel": panel,
    }
    return dataclasses.field(default=default, metadata=metadata)


class Checked:
    """Refuses values of another type or out of range."""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            about = field.metadata
            if "label" not in about:
                continue
            value = getattr(self, field.name)
            where = f"{type(self).__name__}.{field.name}"
            if about["choices"]:
                value = arguments.choice(where, value, about["choices"])
            elif isinstance(field.default, bool):
                value = arguments.switch(where, value)
            elif isinstance(field.default, int):
                value = arguments.whole(where, value, about["low"], about["high"])
            else:
                value = arguments.number(where, value, about["low"], about["high"], about["unit"])
            object.__setattr__(self, field.name, value)


@dataclasses.dataclass(frozen=True)
class Weight(Checked):
    """What cloth weighs."""

    density: float = setting(
        0.15,
        "Density",
        "Mass of one square meter of the material. Silk 0.07, cotton 0.12, denim 0.37, leather 0.6 kg/m²",
        unit="kg/m²",
        low=1e-4,
        soft_high=2.0,
    )


@dataclasses.dataclass(frozen=True)
class Solid(Checked):
    """Rigid bodies, see `parts.rigid`."""

    rigid: bool = setting(
        False,
        "Rigid",
        "Keep the shape: the mesh is a solid that pushes cloth and is pushed by it. Mass is its weight",
    )
    mass: float = setting(
        1.0,
        "Mass",
        "Mass of a rigid object, spread over its surface. Tennis ball 0.06, football 0.43, tray 1, bowling ball 6 kg",
        unit="kg",
        low=1e-6,
        soft_high=100.0,
    )


@dataclasses.dataclass(frozen=True)
class Elasticity(Checked):
    """Springs and bending, by the method "XPBD"."""

    stretch: float = setting(
        5000.0,
        "Tension",
        "Resistance to stretching: Young's modulus times thickness. Knitwear 600, cotton 6000, canvas 20000 N/m",
        unit="N/m",
        low=0.0,
        soft_high=50_000.0,
    )
    compression: float = setting(
        5000.0,
        "Compression",
        "Resistance to compression in the plane. The same as Tension or less. Cotton 6000 N/m",
        unit="N/m",
        low=0.0,
        soft_high=50_000.0,
    )
    shear: float = setting(
        1000.0,
        "Shear",
        "Resistance of quads to being skewed. Woven cloth 80 N/m or 1 % of Tension, film and leather a third",
        unit="N/m",
        low=0.0,
        soft_high=50_000.0,
    )
    bend: float = setting(
        1e-5,
        "Bending",
        "Resistance to folding (flexural rigidity). Silk 3e-6, cotton 1.2e-5, denim 6e-5, paper 2.7e-4 N·m",
        unit="N·m",
        low=0.0,
        soft_high=0.01,
    )
    bend_model: str = setting(
        "AUTO",
        "Bending Model",
        "Isometric is quick and made for sheets that are flat at rest, Dihedral keeps any rest angle. "
        "Automatic takes Isometric where the rest shape is flat",
        choices=BEND_MODELS,
    )
    stretch_damping: float = setting(
        0.0,
        "Tension",
        "Internal friction against stretching (Rayleigh time): higher values settle sooner. Rubber 0.01 s",
        unit="s",
        low=0.0,
        soft_high=0.1,
    )
    bend_damping: float = setting(
        0.0,
        "Bending",
        "Internal friction against folding (Rayleigh time): higher values settle sooner. Stiff leather 0.01 s",
        unit="s",
        low=0.0,
        soft_high=0.1,
    )


@dataclasses.dataclass(frozen=True)
class Yielding(Checked):
    """What stays deformed, see `parts.plasticity`."""

    stretch_yield: float = setting(
        0.0,
        "Yield Strain",
        "Lengthening beyond which it stays longer; Tethers are off then. Paper 0.005, film 0.02, 0 springs back always",
        low=0.0,
        soft_high=0.2,
    )
    bend_yield: float = setting(
        0.0,
        "Yield Curvature",
        "Curvature in 1/m, 1 over the radius, beyond which it stays bent. Foil 90, paper 150, steel of 1 mm 3, "
        "0 springs back always",
        unit="1/m",
        low=0.0,
        soft_high=200.0,
    )
    plastic_rate: float = setting(
        100.0,
        "Yield Rate",
        "Rate in 1/s at which what is beyond these limits becomes permanent. Metal and paper 100, dough 5",
        unit="1/s",
        low=0.0,
        soft_high=200.0,
    )


@dataclasses.dataclass(frozen=True)
class Slowing(Checked):
    """Damping and drag, see `parts.damping`."""

    damping: float = setting(
        0.2,
        "Internal Damping",
        "Rate in 1/s at which deformation dies out; the motion of a piece as a whole is not damped. Cloth 0.2, jelly 5",
        unit="1/s",
        low=0.0,
        soft_high=20.0,
    )
    drag: float = setting(
        0.2,
        "Air Drag",
        "Rate in 1/s at which still air slows all motion. Heavy cloth 0.1, silk 0.7, beach ball 1.7, party balloon 8",
        unit="1/s",
        low=0.0,
        soft_high=20.0,
    )


@dataclasses.dataclass(frozen=True)
class Sail(Checked):
    """What moving air does to a surface, see `parts.air`."""

    air_normal: float = setting(
        0.0,
        "Air Across",
        "Drag coefficient of air that blows against the surface. Cloth 1.2, each side of a ball 0.31, 0 feels no wind",
        low=0.0,
        soft_high=2.0,
    )
    air_tangent: float = setting(
        0.0,
        "Air Along",
        "Drag coefficient of air that slides along the surface. Cloth 0.03, film 0.02",
        low=0.0,
        soft_high=0.2,
    )


@dataclasses.dataclass(frozen=True)
class Tethering(Checked):
    """Long range attachments, see `parts.tethers`."""

    tethers: bool = setting(
        True,
        "Tethers",
        "Keep every vertex within reach of its pins (long range attachments), and of far vertices in meshes of "
        "irregular triangles, which stops fine meshes from sagging",
    )


@dataclasses.dataclass(frozen=True)
class Pinning(Checked):
    """How pins and what slides are held, see `parts.pins` and `parts.slides`."""

    hold_pins: bool = setting(
        True,
        "Hold Pins",
        "Hold pinned and attached vertices. Key it off to let the cloth go; keyed on again, they return in one frame",
    )
    pin_stiffness: float = setting(
        100.0,
        "Pin Stiffness",
        "Spring of a vertex pinned with weight 0.5; weight 1 holds it firmly. Usually 100 N/m",
        unit="N/m",
        low=0.0,
        soft_high=10_000.0,
    )


@dataclasses.dataclass(frozen=True)
class Seam(Checked):
    """What is sewn, see `parts.sewing`."""

    sewing: bool = setting(
        False,
        "Sewing",
        "Draw the ends of loose edges between faces together and weld them. Key it off to open the seams",
    )
    closing_time: float = setting(
        1.0,
        "Closing Time",
        "Time in s in which seams close. Panels around a body 1 s; sooner, cloth is stretched",
        unit="s",
        low=0.0,
        soft_high=5.0,
    )
    sewing_force: float = setting(
        0.0,
        "Max Sewing Force",
        "Largest force in N with which each seam pulls until it is closed. Usually 0 N: no limit",
        unit="N",
        low=0.0,
        soft_high=1.0,
    )
    seam_bend: float = setting(
        0.0,
        "Seam Bending",
        "Factor on Bending across closed seams. 0 lets panels fold there freely, 1 makes them one cloth, a hem 5",
        low=0.0,
        soft_high=5.0,
    )
    seam_angle: float = setting(
        0.0,
        "Seam Angle",
        "Angle at which closed seams rest: above 0 a ridge, seen from the front of the faces, 0 flat. A box 90°",
        unit="rad",
        low=-HALF_TURN,
        high=HALF_TURN,
    )


@dataclasses.dataclass(frozen=True)
class Inside(Checked):
    """Springs through the inside, see `parts.struts`."""

    internal_springs: bool = setting(
        False,
        "Internal Springs",
        "Connect opposite sides of the mesh through its inside: foam, or the threads and straps of a quilt or mattress",
    )
    internal_spring_length: float = setting(
        0.0,
        "Max Spring Creation Length",
        "Largest length of an internal spring in the rest shape. Usually 0 m: any length",
        unit="m",
        low=0.0,
        soft_high=1.0,
    )
    internal_spring_diversion: float = setting(
        EIGHTH_TURN,
        "Max Creation Diversion",
        "Largest angle between an internal spring and the normal where it begins. Foam 45°, upright straps 0°",
        unit="rad",
        low=0.0,
        high=EIGHTH_TURN,
    )
    internal_spring_normals: bool = setting(
        True,
        "Check Surface Normals",
        "Connect only sides whose normals face away from each other, so that springs run through the inside",
    )
    internal_tension: float = setting(
        20_000.0,
        "Tension",
        "Young's modulus of what is inside while it is longer than at rest. Soft foam 20000, straps 10000000 Pa, "
        "0 does not resist",
        unit="Pa",
        low=0.0,
        soft_high=1e7,
    )
    internal_compression: float = setting(
        20_000.0,
        "Compression",
        "Young's modulus of what is inside while it is shorter than at rest. Down 500, soft foam 20000 Pa, threads and "
        "straps 0",
        unit="Pa",
        low=0.0,
        soft_high=1e5,
    )


@dataclasses.dataclass(frozen=True)
class Strength(Checked):
    """When cloth tears, see `parts.tearing`."""

    tear_strength: float = setting(
        0.0,
        "Tear Strength",
        "Tension per width at which vertices at the same place come apart. Tissue 150, thin film 500, cotton "
        "10000 N/m; cloth tears at the strain Tear Strength / Tension. Usually 0 N/m: nothing tears",
        unit="N/m",
        low=0.0,
        soft_high=2000.0,
    )


@dataclasses.dataclass(frozen=True)
class Inflation(Checked):
    """What is in closed skins, see `parts.gas`, `parts.skin` and `parts.lift`."""

    pressure_mode: str = setting(
        "OFF",
        "Pressure",
        "Volume holds a multiple of the rest volume, Overpressure blows with constant pascals, "
        "Gas holds the amount of air (P V = const)",
        choices=PRESSURE_MODES,
    )
    pressure: float = setting(
        1.0,
        "Volume",
        "Enclosed volume to hold, as a multiple (×) of the rest volume. 1 keeps it, 1.5 inflates it by half",
        unit="×",
        low=0.0,
        soft_high=5.0,
    )
    overpressure: float = setting(
        300.0,
        "Overpressure",
        "Pressure above the air outside. Party balloon and air mattress 3000, beach ball 2000, cushion 50 Pa",
        unit="Pa",
        low=-ATMOSPHERE,
        soft_high=10_000.0,
    )
    gas_density: float = setting(
        0.0,
        "Gas Density",
        "Mass of a cubic meter of what is inside, which lifts it. Helium 0.17, hydrogen 0.084, hot air 0.95, "
        "water 1000 kg/m³. 0: the same as outside",
        unit="kg/m³",
        low=0.0,
        soft_high=2.0,
    )
    pump: float = setting(
        0.0,
        "Pump",
        "Gas: air that is pumped in, in liters of air as it is outside. A breath 1 l/s; below 0 it leaks out",
        unit="l/s",
        low=-1e6,
        soft_high=5.0,
    )
    burst_pressure: float = setting(
        0.0,
        "Burst Pressure",
        "Overpressure at which it bursts: the pressure is gone, the skin stays whole. Party balloon 5000 Pa, 0 never",
        unit="Pa",
        low=0.0,
        soft_high=20_000.0,
    )
    burst_strain: float = setting(
        0.0,
        "Burst Strain",
        "Mean lengthening of the skin at which it bursts. 0.5 is half as long again, 0 never",
        low=0.0,
        soft_high=5.0,
    )


@dataclasses.dataclass(frozen=True)
class Touch(Checked):
    """How a surface meets others, see `parts.obstacles`."""

    thickness: float = setting(
        0.002,
        "Distance",
        "How far the cloth stays away from obstacles. Cotton 0.001 m, velvet 0.002 m",
        unit="m",
        low=0.0,
        soft_high=0.02,
    )
    friction: float = setting(
        0.4,
        "Friction",
        "Coulomb coefficient against obstacles, other cloth and itself. Silk 0.2, cotton 0.5, rubber 1",
        low=0.0,
        soft_high=2.0,
    )
    self_collision: bool = setting(
        True,
        "Self Collision",
        "Keep the layers of this object apart where it folds onto itself",
    )
    join_borders: bool = setting(
        True,
        "Join Borders",
        "Make borders that lie at the same place one cloth, as UV seams of imported meshes are. Key it off to let "
        "them part",
    )
    self_distance: float = setting(
        0.0,
        "Self Distance",
        "How far layers of cloth stay away from each other. Usually 0 m: half the length of a usual edge is taken. "
        "Less than a fifth of an edge may not hold",
        unit="m",
        low=0.0,
        soft_high=0.02,
    )


@dataclasses.dataclass(frozen=True)
class Classic(Checked):
    """Pure numbers of the method "PBD" (Müller et al. 2007)."""

    k_stretch: float = setting(
        0.9,
        "Stretch",
        "PBD: share of the stretch error that one substep removes. Usually 0.9",
        low=0.0,
        high=1.0,
    )
    k_compression: float = setting(
        0.9,
        "Compression",
        "PBD: share of the compression error that one substep removes. The same as Stretch or less, usually 0.9",
        low=0.0,
        high=1.0,
    )
    k_shear: float = setting(
        0.5,
        "Shear",
        "PBD: share of the shear error that one substep removes. Usually 0.5",
        low=0.0,
        high=1.0,
    )
    k_bend: float = setting(
        0.1,
        "Bend",
        "PBD: share of the bending error that one substep removes. Usually 0.1",
        low=0.0,
        high=1.0,
    )
    k_volume: float = setting(
        1.0,
        "Volume",
        "PBD: share of the volume error that one substep removes. Usually 1",
        low=0.0,
        high=1.0,
    )
