"""``blender --command pbd_bake FILE``: bake without a window.

Exit codes: 0 for success, 2 for bad arguments, 3 when the simulation or saving failed. One line per error. A bake
that succeeded prints one line of JSON.
"""

import argparse
import contextlib
import json
import os
import sys
import time
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from typing import NoReturn

import bpy

from ...frames.metrics import summary
from ...io import pc2
from .. import about
from ..errors import PBDError
from ..kinds import Object, Scene
from ..settings import properties
from ..timeline import session
from ..timeline.session import BakeProgress
from . import assignments, bake, loops, metrics, recording
from .recording import Recording

COMMAND = "pbd_bake"
BAD_ARGUMENTS, FAILED = 2, 3
"""Exit codes: as other programs have it, and one more."""

ORDER, PROGRESS, RESULT = "order.json", "progress.json", "result.json"
"""Files in the folder of an order: what to simulate, the progress, and the result."""


class BadArguments(Exception):
    """The command was called with arguments that cannot work; one sentence."""


class Parser(argparse.ArgumentParser):
    """A parser that raises instead of printing the whole usage."""

    def error(self, message: str) -> NoReturn:
        """Refuse the arguments."""
        raise BadArguments(message)


MODES = tuple(identifier.lower() for identifier, _name, _about in properties.BAKE_MODES)


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    made = Parser(prog=COMMAND, description="Bake the PBD cloth and balloons of a .blend file.")
    made.add_argument("file", metavar="FILE", help="the .blend file")
    made.add_argument("--objects", nargs="+", metavar="NAME", help="bake these objects only (default: all)")
    made.add_argument(
        "--frames", nargs=2, type=int, metavar=("A", "B"), help="first and last frame (default: the file's range)"
    )
    made.add_argument("--output", metavar="OUT", help="save to this file (default: FILE itself)")
    made.add_argument("--relative", action="store_true", help="short for --mode relative")
    made.add_argument("--mode", choices=MODES, help="how the bake is kept (default: absolute)")
    made.add_argument(
        "--set", nargs=1, action="extend", default=[], metavar="OBJECT.pbd.NAME=VALUE", dest="assignments",
        help="set this before baking; may be repeated",
    )  # fmt: skip
    made.add_argument("--metrics", metavar="CSV", help="write the figures of each frame into this file")
    made.add_argument(
        "--order", metavar="FOLDER", help="save no file, but the shapes that order.json in this folder asks for"
    )
    return made


def main(argv: list[str]) -> int:
    """Run the command; returns its exit code."""
    try:
        arguments = parser().parse_args(argv)
        with _sentence_for(RuntimeError, BadArguments):
            _open(arguments.file)
        if arguments.order is not None:
            _fill(Path(arguments.order))
            return 0
        scene = bpy.context.scene
        with _sentence_for(ValueError, BadArguments):
            for text in arguments.assignments:
                assignments.assign(scene, text)
        objects = _choose(arguments.objects)
        first, last = arguments.frames or session.frame_range(scene)
        if last < first:
            raise BadArguments(f"frames {first} to {last} are none")
        mode = (arguments.mode or ("relative" if arguments.relative else "absolute")).upper()
        output, began = os.path.abspath(arguments.output or arguments.file), time.monotonic()
        for _progress in bake.start(scene, objects, mode, first, last):
            pass
        seconds = time.monotonic() - began
        if arguments.metrics is not None:
            metrics.write(scene, os.path.abspath(arguments.metrics))
        with _sentence_for(RuntimeError, PBDError):
            bpy.ops.wm.save_as_mainfile(filepath=output)
        print(json.dumps(_told(bpy.context.scene, objects, seconds) | {"output": output, "set": arguments.assignments}))
    except BadArguments as error:
        print(f"{COMMAND}: {error}", file=sys.stderr)
        return BAD_ARGUMENTS
    except PBDError as error:
        print(f"{COMMAND}: {error}", file=sys.stderr)
        return FAILED
    except SystemExit:  # --help has printed its text.
        return 0
    return 0


def _told(scene: Scene, objects: list[Object], seconds: float) -> dict[str, object]:
    """What a finished bake says of itself, in one line of JSON."""
    running, pbd = session.get(scene), objects[0].pbd
    return {
        "command": COMMAND,
        "version": about.version(),
        "objects": [obj.name for obj in objects],
        "mode": pbd.baked_as.lower(),
        "frames": [pbd.bake_start, pbd.bake_end],
        "loop": pbd.bake_loop,
        "seconds": round(seconds, 3),
        **summary({} if running is None else running.reports),
    }


def _open(path: str) -> None:
    """Load the file."""
    if not os.path.isfile(path):
        raise BadArguments(f"there is no file {path}")
    bpy.ops.wm.open_mainfile(filepath=os.path.abspath(path))


def _choose(names: list[str] | None) -> list[Object]:
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


def write_order(folder: Path, scene: Scene, names: Iterable[str], mode: str, frame_start: int, frame_end: int) -> None:
    """Write an order into a folder: what a second Blender should simulate in a copy of this file."""
    order = {
        "scene": scene.name,
        "objects": list(names),
        "frames": [frame_start, frame_end],
        "with_user_keys": bake.holds_user_keys(mode),
    }
    (folder / ORDER).write_text(json.dumps(order), encoding="utf-8")


def _fill(folder: Path) -> None:
    """Carry out the order in a folder; the result file is written there last."""
    try:
        order = json.loads((folder / ORDER).read_text(encoding="utf-8"))
        first, last = order["frames"]
        scene_name, object_names, with_user_keys = order["scene"], order["objects"], order["with_user_keys"]
    except (OSError, ValueError, KeyError) as error:
        raise BadArguments(f"there is no order in {folder}: {error}") from error
    if scene_name not in bpy.data.scenes:
        raise BadArguments(f"there is no scene '{scene_name}'")
    bpy.context.window.scene = bpy.data.scenes[scene_name]
    objects = _choose(object_names)
    names = {obj.session_uid: obj.name for obj in objects}
    kept = _run_noting(
        folder / PROGRESS, recording.record(bpy.context.scene.session_uid, names, first, last, with_user_keys)
    )
    kept = loops.close(bpy.context.scene, kept, first)
    result = []
    try:
        for number, obj in enumerate(objects):
            one = kept[obj.session_uid]
            pc2.write(str(folder / f"{number}.pc2"), len(obj.data.vertices), one.shapes, float(first))
            said = {"stretch": one.stretch, "loop": one.loop, "apart": one.apart}
            result.append({"file": f"{number}.pc2", **said})
        _write_json(folder / RESULT, result)
    except OSError as error:
        raise PBDError(f"the result could not be written: {error.strerror or error}") from error


def _run_noting(path: Path, work: Generator[BakeProgress, None, dict[int, Recording]]) -> dict[int, Recording]:
    """Run a generator to its end, writing its progress to a file; returns its result."""
    while True:
        try:
            progress = next(work)
        except StopIteration as done:
            return done.value
        _write_json(path, progress._asdict())


def _write_json(path: Path, content: object) -> None:
    """Write a file atomically."""
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_text(json.dumps(content), encoding="utf-8")
    unfinished.replace(path)


@contextlib.contextmanager
def _sentence_for(kind: type[Exception], instead: type[Exception]) -> Iterator[None]:
    """Turn errors of Blender's operators, which may have several lines, into one sentence."""
    try:
        yield
    except kind as error:
        raise instead(" ".join(str(error).removeprefix("Error: ").split())) from error


_handles: list[object] = []


def register() -> None:
    """Add the command to Blender's command line."""
    _handles.append(bpy.utils.register_cli_command(COMMAND, main))


def unregister() -> None:
    """Undo `register`."""
    while _handles:
        bpy.utils.unregister_cli_command(_handles.pop())
