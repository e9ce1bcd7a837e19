"""Look for the frames that a loop would join, before anything is baked."""

from collections.abc import Generator

import bpy

from ..pbd_addon.blender.baking import bake
from ..pbd_addon.blender.kinds import Context
from ..pbd_addon.blender.timeline.session import BakeProgress
from ..pbd_addon.frames.loop import Pair
from .bake import CAN_BAKE, frames_to_bake, to_bake
from .base import NO_UNDO, rpt
from .frame_by_frame import FrameByFrame


class OBJECT_OT_pbd_find_loop(FrameByFrame, bpy.types.Operator):
    """Simulate the frame range and look for the two frames that a loop would join; nothing is written"""

    bl_idname = "object.pbd_find_loop"
    bl_label = "Find Loop"
    bl_options = NO_UNDO
    needs = CAN_BAKE

    _verb = "search"
    _said = ""

    def start(self, context: Context) -> Generator:
        return self._searching(bake.find_loop(context.scene, to_bake(context), *frames_to_bake(context)))

    def _searching(self, work: Generator[BakeProgress, None, tuple[int, Pair]]) -> Generator:
        first, pair = yield from work
        said = rpt("Loop of {length} frames from frame {first} on: its ends are {apart:.2g} mm apart")
        self._said = said.format(length=pair.length, first=first, apart=1000.0 * pair.apart)

    def done(self, _context: Context) -> str:
        return self._said
