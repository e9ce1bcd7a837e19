"""What all our operators share: when they can be used, and how they say what they did or why they could not."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import bpy
from bpy.app.translations import pgettext_rpt

from ..pbd_addon.blender import error_sentences
from ..pbd_addon.blender.errors import PBDError
from ..pbd_addon.blender.kinds import Context, Options, Result


def rpt(text: str) -> str:
    """A report in the user's language."""
    return str(pgettext_rpt(text))  # Blender's stubs say that it returns nothing.


NO_UNDO: Options = {"REGISTER"}
"""`bl_options` of what makes no undo step."""

if TYPE_CHECKING:
    Mixin = bpy.types.Operator
else:
    Mixin = object  # Blender wants each operator to inherit from its own class once.


class Action(Mixin):
    """Base of operators: `run` does what the operator is for.

    Attributes:
        needs: Functions of the context; each returns why the operator cannot be used, one sentence, or "".
    """

    bl_options: Options = {"REGISTER", "UNDO"}
    needs: tuple[Callable[[Context], str], ...] = ()

    @classmethod
    def poll(cls, context: Context) -> bool:
        why = next(filter(None, (need(context) for need in cls.needs)), "")
        if why:
            cls.poll_message_set(why)
        return not why

    def run(self, context: Context) -> str | None:
        """Do it; returns what was done, one sentence in the user's language, or nothing. Raises `PBDError`."""
        raise NotImplementedError

    def execute(self, context: Context) -> Result:
        try:
            return self.finish(self.run(context))
        except PBDError as error:
            return self.fail(context, error)

    def finish(self, said: str | None) -> Result:
        """End, and say what was done, if anything."""
        if said:
            self.report({"INFO"}, said)
        return {"FINISHED"}

    def fail(self, context: Context, error: PBDError) -> Result:
        """End, and say why."""
        self.report({"ERROR"}, error_sentences.in_users_language(str(error)))
        return self.give_up(context)

    def give_up(self, _context: Context) -> Result:
        """After an error or Esc: put back what has to be."""
        return {"CANCELLED"}
