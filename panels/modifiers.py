"""How the simulation stands among the modifiers of the mesh."""

from ..pbd_addon.blender.kinds import Context, Layout
from ..pbd_addon.blender.output import output_choice
from .places import BodyPanel
from .rows import draw_group, draw_sentence


class Modifiers(BodyPanel):
    """Which modifiers pose the cloth before it is simulated, and which act on it after"""

    parent = "main"

    def draw_settings(self, context: Context, layout: Layout) -> None:
        obj = context.object
        choice = output_choice.choose(obj)
        draw_group(layout, obj.pbd, "output")
        draw_sentence(layout, context, choice.reason, "INFO")
        if obj.pbd.bake_switched_off:
            sentence = "The bake has switched off modifiers up to 'PBD Output'; Delete Bake switches them on"
            draw_sentence(layout, context, sentence, "MODIFIER_OFF")
