"""The choice of output, a shape key or a modifier, and why; it only reads, so panels use it too."""

from typing import NamedTuple

from bpy.app.translations import pgettext_iface as iface

from ..kinds import Object
from . import output_modifier


class Choice(NamedTuple):
    """The output of an object, and why."""

    modifier: bool  # else a shape key
    reason: str  # one sentence


def is_modifier(obj: Object) -> bool:
    """Whether the output of an object is a modifier, by its setting or, if that is automatic, by what poses it."""
    return by_modifier_and_posed_after(obj)[0]


def by_modifier_and_posed_after(obj: Object) -> tuple[bool, bool]:
    """Whether the output is a modifier, and whether modifiers or the parent pose the mesh after the simulation."""
    chosen, posed = obj.pbd.output, bool(output_modifier.movers(obj)) or output_modifier.is_bound_to_parent(obj)
    by_modifier = chosen == "MODIFIER" or (chosen != "SHAPE_KEY" and posed)
    return by_modifier, posed and not by_modifier


def choose(obj: Object) -> Choice:
    """The output of an object, and why."""
    movers = output_modifier.movers(obj)
    bound = output_modifier.is_bound_to_parent(obj)
    poser = f"'{movers[-1].name}'" if movers else ""
    if bound and not movers:
        poser = iface("its parent '{name}'").format(name=obj.parent.name)
    if obj.pbd.output == "MODIFIER":
        reason = "Pins follow the modifiers before 'PBD Output', and those after it act on the cloth"
        return Choice(True, iface(reason))
    if obj.pbd.output == "SHAPE_KEY":
        if not poser:
            return Choice(False, iface("The shape key stands before all modifiers"))
        reason = iface(
            "The shape key stands before all modifiers; {poser} deforms the cloth, and pins do not follow it"
        )
        return Choice(False, reason.format(poser=poser))
    if poser:
        reason = iface("By modifier: pins follow {poser}, which does not deform the cloth a second time")
        return Choice(True, reason.format(poser=poser))
    return Choice(False, iface("By shape key, as no modifier poses this mesh"))
