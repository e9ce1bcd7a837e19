"""What the body is made of: density, stiffness, damping."""

from ..pbd_addon.blender.doctor import setup_findings
from ..pbd_addon.blender.kinds import Context, Layout, Object
from .places import BodyPanel
from .rows import columns, draw_group, draw_sentence


class Physical(BodyPanel):
    """Weight and air"""

    is_open = True
    parent = "main"
    bl_label = "Physical Properties"

    def draw_settings(self, context: Context, layout: Layout) -> None:
        settings = context.object.pbd
        draw_group(columns(layout), settings, "weight of a solid" if settings.rigid else "weight")
        sentence = setup_findings.unit_sentence(context.scene, context.object)
        if sentence:
            draw_sentence(layout, context, sentence, "INFO")


class Stiffness(BodyPanel):
    """How much it resists: physical units with XPBD, pure numbers with PBD"""

    parent = "physical"
    of_rigid = False

    def draw_settings(self, context: Context, layout: Layout) -> None:
        settings = context.object.pbd
        flow = columns(layout)
        draw_group(flow, settings, "stiffness, PBD" if context.scene.pbd.method == "PBD" else "stiffness")
        draw_group(flow, settings, "bending")


class Weave(BodyPanel):
    """How cloth resists along its weft, and where its threads run"""

    parent = "physical"
    of_rigid = False

    def draw_settings(self, context: Context, layout: Layout) -> None:
        layout.active = layout.active and context.scene.pbd.method == "XPBD"
        draw_group(columns(layout), context.object.pbd, "weft")
        layout.operator("object.pbd_test_sheet", icon="SPREADSHEET")


class Plasticity(BodyPanel):
    """Yield points: what is bent or stretched beyond them stays so. Foil, paper, metal sheets"""

    parent = "physical"
    of_rigid = False
    is_rare = True

    @classmethod
    def is_used(cls, obj: Object) -> bool:
        return obj.pbd.bend_yield > 0.0 or obj.pbd.stretch_yield > 0.0

    def draw_settings(self, context: Context, layout: Layout) -> None:
        settings = context.object.pbd
        flow = columns(layout)
        draw_group(flow, settings, "yield")
        col = flow.column()
        col.active = layout.active and self.is_used(context.object)
        draw_group(col, settings, "yield rate")


class Damping(BodyPanel):
    """How motion dies out"""

    parent = "physical"
    of_rigid = False

    def draw_settings(self, context: Context, layout: Layout) -> None:
        group = "damping, PBD" if context.scene.pbd.method == "PBD" else "damping"
        draw_group(columns(layout), context.object.pbd, group)


class InitialVelocity(BodyPanel):
    """How it moves when simulation begins: thrown, spinning. Firmly pinned vertices stay"""

    parent = "physical"

    def draw_settings(self, context: Context, layout: Layout) -> None:
        draw_group(layout, context.object.pbd, "start")
