"""What is to show the simulated shape, and why; it only reads, so the panels ask it too."""

from typing import NamedTuple

from bpy.app.translations import pgettext_iface as iface

from ..kinds import Object
from . import output_modifier


class Choice(NamedTuple):
    """What shows the simulated shape, and why."""

    modifier: bool
    reason: str  # one sentence


def choose(obj: Object) -> Choice:
    """What is to show the simulated shape of an object, by its setting or, if that is automatic, its modifiers."""
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


def is_posed_after(obj: Object) -> bool:
    """Whether the simulated shape stands before what poses the mesh, so that it is posed once it is simulated."""
    posed = bool(output_modifier.movers(obj)) or output_modifier.is_bound_to_parent(obj)
    return posed and not choose(obj).modifier
