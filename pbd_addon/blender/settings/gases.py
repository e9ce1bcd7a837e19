"""Gases by name: a menu that reads and writes the density of what is inside of a balloon."""

from ..kinds import Group
from .field_properties import Choice

DENSITIES = {
    "SAME": ("As Outside", "The same as outside: no lift", 0.0),
    "HELIUM": ("Helium", "0.17 kg/m³: twelve liters lift 12 g", 0.17),
    "HYDROGEN": ("Hydrogen", "0.084 kg/m³", 0.084),
    "HOT_AIR": ("Hot Air", "0.95 kg/m³, air of 100 °C", 0.95),
    "AIR": ("Air", "1.2 kg/m³: no lift in air, rises in water", 1.2),
    "WATER": ("Water", "1000 kg/m³", 1000.0),
}
"""By its name in the menu: label, description and density [kg/m³]."""

SAME, OTHER = "SAME", "OTHER"


def _read(group: Group) -> int:
    """The place in the menu of what has the density that is set."""
    at = (
        at for at, (_label, _about, density) in enumerate(DENSITIES.values()) if abs(group.gas_density - density) < 1e-4
    )
    return next(at, len(DENSITIES))


def _write(group: Group, at: int) -> None:
    densities = [density for _label, _about, density in DENSITIES.values()]
    if at < len(densities):
        group.gas_density = densities[at]


def properties() -> dict[str, object]:
    """The menu, by the name of its property."""
    items = [(name, label, about, at) for at, (name, (label, about, _density)) in enumerate(DENSITIES.items())]
    return {
        "gas": Choice(
            "Gas",
            "What is inside: chooses Gas Density",
            items=[*items, (OTHER, "Other", "The density below", len(items))],
            options=set(),
            get=_read,
            set=_write,
        )
    }
