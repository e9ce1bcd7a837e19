"""Enter what a textile laboratory has measured of a fabric."""

import bpy
from bpy.props import EnumProperty, FloatProperty, FloatVectorProperty

from ..pbd_addon.blender.errors import refused
from ..pbd_addon.blender.kinds import Context, Event, Result
from ..pbd_addon.bodies import test_sheets
from . import checks
from .base import Action, rpt

FIELDS = {
    "KES": ("kes_weight", "kes_extension", "kes_shear", "kes_bending", "kes_hysteresis", "kes_resilience"),
    "FAST": ("fast_weight", "fast_extension", "fast_bias", "fast_length"),
}
"""The values of each sheet, in the order of `test_sheets`."""


class OBJECT_OT_pbd_test_sheet(Action, bpy.types.Operator):
    """Give the active object the values of a fabric's test sheet, by KES or FAST; what is 0 stays as it is"""

    bl_idname = "object.pbd_test_sheet"
    bl_label = "Enter Test Sheet"
    needs = (checks.is_active_body,)

    system: EnumProperty(
        name="Sheet",
        description="By whose machines the fabric was measured",
        items=(
            ("KES", "KES", "Kawabata's system: W, EMT, G, B, 2HB, RT"),
            ("FAST", "FAST", "The system of CSIRO: W, E100, EB5, bending length"),
        ),
    )
    kes_weight: FloatProperty(name="W mg/cm²", description="Weight. Shirts 12, denim 37 mg/cm²", min=0.0)
    kes_extension: FloatVectorProperty(
        name="EMT %", description="Extension at 500 gf/cm along warp and weft. Denim 5, wool 8 %", size=2, min=0.0
    )
    kes_shear: FloatProperty(name="G gf/cm·°", description="Shear stiffness. Wool 0.6, denim 2 gf/(cm·°)", min=0.0)
    kes_bending: FloatVectorProperty(
        name="B gf·cm²/cm",
        description="Bending rigidity along warp and weft. Wool 0.07, broadcloth 0.12 gf·cm²/cm",
        size=2,
        min=0.0,
        precision=4,
    )
    kes_hysteresis: FloatVectorProperty(
        name="2HB gf·cm/cm",
        description="Hysteresis of bending along warp and weft. Wool 0.03, broadcloth 0.12 gf·cm/cm",
        size=2,
        min=0.0,
        precision=4,
    )
    kes_resilience: FloatVectorProperty(
        name="RT %",
        description="Resilience of tension along warp and weft. Denim 55 %",
        size=2,
        min=0.0,
        soft_max=100.0,
    )
    fast_weight: FloatProperty(name="W g/m²", description="Weight. Shirts 120, wool suiting 170 g/m²", min=0.0)
    fast_extension: FloatVectorProperty(
        name="E100 %", description="Extension at 100 gf/cm along warp and weft. Wool suiting 5 %", size=2, min=0.0
    )
    fast_bias: FloatProperty(name="EB5 %", description="Extension on the bias at 5 gf/cm. Wool suiting 5 %", min=0.0)
    fast_length: FloatVectorProperty(
        name="Length mm", description="Bending length along warp and weft. Wool suiting 15 mm", size=2, min=0.0
    )

    def invoke(self, context: Context, _event: Event) -> Result:
        return context.window_manager.invoke_props_dialog(self, width=400)

    def draw(self, _context: Context) -> None:
        self.layout.use_property_split = True
        self.layout.row().prop(self, "system", expand=True)
        for name in FIELDS[self.system]:
            self.layout.prop(self, name)

    def run(self, context: Context) -> str:
        read = test_sheets.from_kes if self.system == "KES" else test_sheets.from_fast
        with refused():
            found = read(*(getattr(self, name) for name in FIELDS[self.system]))
        for name, value in found.items():
            setattr(context.object.pbd, name, value)
        return rpt("{count} settings were taken from the test sheet").format(count=len(found))
