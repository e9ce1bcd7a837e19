"""What the body is made of: density, stiffness, damping."""

from ..pbd_addon.blender.kinds import Context, Layout
from .places import BodyPanel
from .rows import columns, draw_rows


class Physical(BodyPanel):
    """Weight and air"""

    is_open = True
    parent = "main"
    bl_label = "Physical Properties"

    def draw_settings(self, context: Context, layout: Layout) -> None:
        settings = context.object.pbd
        draw_rows(columns(layout), settings, "mass" if settings.rigid else "density", "drag")


class Stiffness(BodyPanel):
    """How much it resists: physical units with XPBD, pure numbers with PBD"""

    is_open = True
    parent = "physical"
    of_rigid = False

    def draw_settings(self, context: Context, layout: Layout) -> None:
        settings = context.object.pbd
        flow = columns(layout)
        if context.scene.pbd.method == "PBD":
            names = ["k_stretch", "k_compression", "k_shear", "k_bend"]
        else:
            names = ["stretch", "compression", "shear", "bend"]
        draw_rows(flow, settings, *names)
        draw_rows(flow, settings, "bend_model", "tethers", labels={"bend_model": "Bend Model"})


class Plasticity(BodyPanel):
    """Yield points: what is bent or stretched beyond them stays so. Foil, paper, metal sheets"""

    parent = "physical"
    of_rigid = False

    def draw_settings(self, context: Context, layout: Layout) -> None:
        settings = context.object.pbd
        flow = columns(layout)
        draw_rows(flow, settings, "bend_yield", labels={"bend_yield": "Curvature"})
        draw_rows(flow, settings, "stretch_yield", labels={"stretch_yield": "Strain"})
        col = flow.column()
        col.active = layout.active and (settings.bend_yield > 0.0 or settings.stretch_yield > 0.0)
        draw_rows(col, settings, "plastic_rate", labels={"plastic_rate": "Rate"})


class Damping(BodyPanel):
    """How motion dies out"""

    parent = "physical"
    of_rigid = False

    def draw_settings(self, context: Context, layout: Layout) -> None:
        settings = context.object.pbd
        names = ["damping"]
        if context.scene.pbd.method == "XPBD":
            names += ["stretch_damping", "bend_damping"]
        draw_rows(columns(layout), settings, *names, labels={"damping": "Internal"})


class InitialVelocity(BodyPanel):
    """How it moves when simulation begins: thrown, spinning. Firmly pinned vertices stay"""

    parent = "physical"

    def draw_settings(self, context: Context, layout: Layout) -> None:
        draw_rows(layout, context.object.pbd, "velocity", "angular_velocity", labels={"angular_velocity": "Angular"})
