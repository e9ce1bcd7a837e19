"""Bake in a second Blender while the user continues working in this one.

The second one opens a copy of the file, `blender --command pbd_bake COPY --order FOLDER`, simulates, and writes the
shapes as PC2 files into a temporary folder. When it ends, they are written into the objects here, as one undo step.
Until then the user's data is not touched, and any failure is reported in one sentence.
"""

import atexit
import contextlib
import json
import shutil
import subprocess
import tempfile
from pathlib import Path

import bpy
from bpy.app.handlers import persistent
from bpy.app.translations import pgettext_iface as iface

from ...io import pc2
from ..errors import PBDError
from ..kinds import Object, Scene
from ..read import mesh_io
from ..scene.scene_objects import find
from ..timeline import session
from ..timeline.session import BakeProgress
from . import bake, command_line
from .recording import Recording, find_scene

POLL_SECONDS = 0.25
"""How often the process is polled [s]."""

ENDED = "Background bake: Blender was ended before it was done"


class Job:
    """One bake in the background.

    Attributes:
        scene_uid: The scene.
        names: Names of the objects by uid.
        mode: One of `properties.BAKE_MODES`.
        frames: First and last frame.
        share: Fraction done, from 0 to 1.
        text: Progress, or what it waits for; a few words.
    """

    def __init__(self, scene: Scene, objects: list[Object], mode: str, frame_start: int, frame_end: int) -> None:
        self.scene_uid = scene.session_uid
        self.names = {obj.session_uid: obj.name for obj in objects}
        self.mode = mode
        self.frames = frame_start, frame_end
        self.fingerprints = {obj.session_uid: mesh_io.fingerprint(obj) for obj in objects}
        self.share, self.text = 0.0, iface("Blender starts")
        self.folder = Path(tempfile.mkdtemp(prefix="pbd-bake-"))
        self.process: subprocess.Popen | None = None

    def start(self) -> None:
        """Copy the file and start the process; raises `OSError` or `RuntimeError`."""
        file = self.folder / "copy.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(file), copy=True, check_existing=False)
        command_line.write_order(self.folder, find_scene(self.scene_uid), self.names.values(), self.mode, *self.frames)
        package = __package__.removesuffix(".pbd_addon.blender.baking")
        command = [bpy.app.binary_path, "--background", "--addons", package]
        command += ["--command", command_line.COMMAND, str(file), "--order", str(self.folder)]
        with open(self.folder / "out.txt", "wb") as out, open(self.folder / "errors.txt", "wb") as errors:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=errors)

    def poll(self) -> bool:
        """Read the progress; returns whether the process has ended."""
        with contextlib.suppress(OSError, ValueError):
            values = json.loads((self.folder / command_line.PROGRESS).read_text(encoding="utf-8"))
            progress = BakeProgress(**values)
            self.share, self.text = progress.share, progress.describe()
        return self.process.poll() is not None

    def problem(self) -> str:
        """Why there is no result, one sentence, or ""."""
        if self.process.returncode == 0 and (self.folder / command_line.RESULT).is_file():
            return ""
        lines = (self.folder / "errors.txt").read_text(encoding="utf-8", errors="replace").splitlines()
        start = f"{command_line.COMMAND}: "
        problems = [line.removeprefix(start) for line in lines if line.startswith(start)]
        return f"Background bake: {problems[-1]}" if problems else f"{ENDED} (code {self.process.returncode})"

    def recordings(self) -> dict[int, Recording]:
        """The result of the process, recordings by uid; raises `PBDError`."""
        try:
            result = json.loads((self.folder / command_line.RESULT).read_text(encoding="utf-8"))
            return {
                uid: Recording(
                    list(pc2.read(str(self.folder / one["file"]))[1]), one["stretch"], one["loop"], one["apart"]
                )
                for uid, one in zip(self.names, result, strict=True)
            }
        except (OSError, ValueError, KeyError) as error:
            raise PBDError(f"Background bake: its result cannot be read ({error})") from error

    def end(self) -> None:
        """Kill the process if it runs, and remove its files."""
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


_jobs: list[Job] = []
"""The running job, if any."""

_problems: list[str] = []
"""Why the last job failed, if it did."""


def job() -> Job | None:
    """The running job, or None."""
    return _jobs[0] if _jobs else None


def message() -> str:
    """Why the last background bake failed, one sentence, or ""."""
    return _problems[-1] if _problems else ""


def start(scene: Scene, objects: list[Object], mode: str, frame_start: int, frame_end: int) -> None:
    """Start a bake of PBD objects of a scene, in one of `properties.BAKE_MODES`, in a second Blender.

    Raises a `PBDError` if an object cannot be baked, or Blender cannot be started.
    """
    bake.check(scene, objects, mode, frame_start, frame_end)
    running = session.get(scene)
    if running is not None and running.shaped:
        raise PBDError("A second Blender does not know what a hand has shaped: use Bake, or Apply Shape as Base first")
    _problems.clear()
    begun = Job(scene, objects, mode, frame_start, frame_end)
    try:
        begun.start()
    except (OSError, RuntimeError) as error:
        begun.end()
        raise PBDError(f"Blender could not be started in the background: {' '.join(str(error).split())}") from error
    _jobs.append(begun)
    atexit.register(cancel)
    bpy.app.handlers.load_pre.append(before_load)
    bpy.app.timers.register(watch, first_interval=POLL_SECONDS, persistent=True)


def cancel() -> None:
    """Cancel the background bake and remove its files."""
    _remove_callbacks()
    if bpy.app.timers.is_registered(watch):
        bpy.app.timers.unregister(watch)
    while _jobs:
        _jobs.pop().end()


def _remove_callbacks() -> None:
    """Remove the callbacks that cancel a job when Blender quits or loads another file."""
    atexit.unregister(cancel)
    if before_load in bpy.app.handlers.load_pre:
        bpy.app.handlers.load_pre.remove(before_load)


@persistent
def before_load(*_: object) -> None:
    """Cancel before another file is loaded, which the result would not match."""
    cancel()


def watch() -> float | None:
    """Timer: poll the process; once it has ended and no tool or mode is active, apply its result."""
    for running in list(_jobs):
        if not running.poll():
            continue
        problem = running.problem()
        if not problem:
            running.share, running.text = 1.0, waits_for()
            if running.text:
                continue
            try:
                apply_result(running)
            except PBDError as error:
                problem = str(error)
        _jobs.remove(running)
        running.end()
        _problems[:] = [problem] if problem else []
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            area.tag_redraw()
    if _jobs:
        return POLL_SECONDS
    _remove_callbacks()
    return None


def waits_for() -> str:
    """What a finished bake waits for, a few words, or "": nothing is written in Edit Mode or during a modal tool."""
    if any(obj.mode != "OBJECT" and obj.pbd.enabled for obj in bpy.data.objects):
        return iface("Done: leave Edit Mode to take it in")
    if any(len(window.modal_operators) for window in bpy.context.window_manager.windows):
        return iface("Done: waits for the running tool")
    return ""


def apply_result(finished: Job) -> None:
    """Write the result into the objects, as one undo step; on a `PBDError` nothing has changed."""
    scene = find_scene(finished.scene_uid)
    objects = [find(scene, uid, name) for uid, name in finished.names.items()]
    if None in objects:
        raise PBDError("Background bake: an object was deleted in the meantime, nothing is kept")
    for obj in objects:
        if mesh_io.fingerprint(obj) != finished.fingerprints[obj.session_uid]:
            raise PBDError(f"Background bake: the mesh of '{obj.name}' is another one now, nothing is kept")
    bake.check(scene, objects, finished.mode, *finished.frames)
    bake.write(scene, finished.names, finished.mode, finished.frames[0], finished.recordings())
    scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)
    windows = bpy.context.window_manager.windows
    with bpy.context.temp_override(window=windows[0]) if windows else contextlib.nullcontext():
        bpy.ops.ed.undo_push(message="Bake in Background")


def unregister() -> None:
    """Cancel the running job."""
    cancel()
    _problems.clear()
