"""``blender --command pbd_bake FILE``: bake without a window.

Exit codes: 0 for success, 2 for bad arguments, 3 when the simulation or saving failed. One line per error.
"""

import argparse
import contextlib
import os
import sys

import bpy

from . import bake, session
from .errors import PBDError

COMMAND = "pbd_bake"
BAD_ARGUMENTS = 2
FAILED = 3


class BadArguments(Exception):
    """The command was called in a way that cannot work; one sentence."""


class Parser(argparse.ArgumentParser):
    """Raises instead of printing the whole usage for each slip."""

    def error(self, message):
        """Refuse the arguments."""
        raise BadArguments(message)


def parser():
    """The arguments of the command."""
    made = Parser(prog=COMMAND, description="Bake the PBD cloth and balloons of a .blend file to shape keys.")
    made.add_argument("file", metavar="FILE", help="the .blend file")
    made.add_argument("--objects", nargs="+", metavar="NAME", help="bake these objects only (default: all)")
    made.add_argument(
        "--frames", nargs=2, type=int, metavar=("A", "B"), help="first and last frame (default: the file's range)"
    )
    made.add_argument("--output", metavar="OUT", help="save to this file (default: FILE itself)")
    made.add_argument("--relative", action="store_true", help="relative keys, for games (default: absolute keys)")
    return made


def main(argv):
    """Run the command; returns its exit code."""
    try:
        arguments = parser().parse_args(argv)
        with _sentence_for(RuntimeError, BadArguments):
            _open(arguments.file)
        objects = _choose(arguments.objects)
        first, last = arguments.frames or session.frame_range(bpy.context.scene)
        if last < first:
            raise BadArguments(f"frames {first} to {last} are none")
        mode = "RELATIVE" if arguments.relative else "ABSOLUTE"
        for _progress in bake.start(bpy.context.scene, objects, mode, first, last):
            pass
        with _sentence_for(RuntimeError, PBDError):
            bpy.ops.wm.save_as_mainfile(filepath=os.path.abspath(arguments.output or arguments.file))
    except BadArguments as error:
        print(f"{COMMAND}: {error}", file=sys.stderr)
        return BAD_ARGUMENTS
    except PBDError as error:
        print(f"{COMMAND}: {error}", file=sys.stderr)
        return FAILED
    except SystemExit:  # --help has printed what it is for.
        return 0
    return 0


def _open(path):
    """Load the file."""
    if not os.path.isfile(path):
        raise BadArguments(f"there is no file {path}")
    bpy.ops.wm.open_mainfile(filepath=os.path.abspath(path))


def _choose(names):
    """The objects to bake: those named, or all that are simulated and not baked."""
    scene = bpy.context.scene
    simulated = {obj.name: obj for obj in session.bodies(scene)}
    if names is None:
        chosen = [obj for obj in simulated.values() if not obj.pbd.baked]
        if not chosen:
            raise BadArguments(f"scene '{scene.name}' has no PBD cloth or balloon to bake")
        return chosen
    for name in names:
        if name not in simulated:
            raise BadArguments(f"scene '{scene.name}' has no PBD cloth or balloon '{name}'")
    return [simulated[name] for name in names]


@contextlib.contextmanager
def _sentence_for(kind, instead):
    """Turn errors of Blender's operators, which may run over lines, into one sentence."""
    try:
        yield
    except kind as error:
        raise instead(" ".join(str(error).removeprefix("Error: ").split())) from error


_handles: list[object] = []


def register():
    """Add the command to Blender's command line."""
    _handles.append(bpy.utils.register_cli_command(COMMAND, main))


def unregister():
    """Undo `register`."""
    while _handles:
        bpy.utils.unregister_cli_command(_handles.pop())
