"""What is to show the simulated shape, and why; it only reads, so the panels ask it too."""

from typing import NamedTuple

from . import output_modifier


class Choice(NamedTuple):
    """What shows the simulated shape, and why."""

    modifier: bool
    reason: str  # one sentence


def choose(obj):
    """What is to show the simulated shape of an object, by its setting or, if that is automatic, its modifiers."""
    movers = output_modifier.movers(obj)
    bound = output_modifier.is_bound_to_parent(obj)
    poser = f"'{movers[-1].name}'" if movers else f"its parent '{obj.parent.name}'" if bound else ""
    if obj.pbd.output == "MODIFIER":
        return Choice(True, "Pins follow the modifiers before 'PBD Output', and those after it act on the cloth")
    if obj.pbd.output == "SHAPE_KEY":
        twice = f"; {poser} deforms the cloth, and pins do not follow it" if poser else ""
        return Choice(False, f"The shape key stands before all modifiers{twice}")
    if poser:
        return Choice(True, f"By modifier: pins follow {poser}, which does not deform the cloth a second time")
    return Choice(False, "By shape key, as no modifier poses this mesh")
