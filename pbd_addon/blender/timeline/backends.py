"""Which kernels compute: NumPy's, until another process has compiled Numba's.

Numba is there when the extension comes from a zip that brings it. Once in a session of Blender, when the first frame
is to be simulated, a process of Blender's own Python compiles the kernels into the extension's user folder, or looks
through those that it finds there, for they must fit this very processor. Only then Blender reads them. It never
compiles anything itself: that would keep its window from drawing for many seconds.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import bpy
from bpy.app.translations import pgettext_iface as iface

from ... import kernels
from ..kinds import Scene

WAITS = bpy.app.background
"""Whether the first frame waits for the compiled kernels. Without a window nobody sits there watching, Blender runs no
timers, and so a bake begins and ends with the same kernels."""

INTERVAL = 0.25
"""How often the process is looked at [s]."""

LIMIT = 600.0
"""How long it may take [s]; it needs ten seconds."""

PREFIX = "kernels-"
"""How the names of the folders for compiled kernels begin."""


class Compilation:
    """The process that compiles, and how far it is.

    Attributes:
        folder: Where the compiled kernels go.
        process: The process while it runs, else None.
        ready: Whether Numba's kernels can be used.
        problem: Why they cannot, or "".
    """

    def __init__(self) -> None:
        self.folder = Path()
        self.process: subprocess.Popen[bytes] | None = None
        self.ready = False
        self.problem = ""
        self.deadline = 0.0

    def begin(self) -> None:
        """Start the process."""
        try:
            self.folder = make_folder()
            with open(self.folder / "log.txt", "wb") as log:
                self.process = subprocess.Popen(
                    [sys.executable, "-s", "-m", ".".join(kernels.__name__.split(".")[-2:])],
                    cwd=self.folder,
                    env=environment(self.folder),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
                )
        except (ImportError, OSError, ValueError) as error:
            self.problem = str(error)
        self.deadline = time.monotonic() + LIMIT

    def look(self) -> None:
        """Take note of a process that has ended."""
        if self.process is None:
            return
        code = self.process.poll()
        if code is None and time.monotonic() < self.deadline:
            return
        if code is None:
            self.stop()
            self.problem = f"it took more than {LIMIT:.0f} s"
        elif code:
            self.process = None
            self.problem = last_line(self.folder / "log.txt") or f"the process ended with code {code}"
        else:
            self.process = None
            self.read()

    def read(self) -> None:
        """Read the compiled kernels into this process."""
        before = os.environ.get("NUMBA_CACHE_DIR")
        os.environ["NUMBA_CACHE_DIR"] = str(self.folder)
        try:
            kernels.load("numba")
            self.ready = True
        except Exception as error:  # whatever a foreign package may raise while it is imported
            self.problem = f"{type(error).__name__}: {error}"
        finally:
            os.environ.pop("NUMBA_CACHE_DIR")
            if before is not None:
                os.environ["NUMBA_CACHE_DIR"] = before

    def wait(self) -> None:
        """Wait until the process has ended."""
        while self.process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(max(self.deadline - time.monotonic(), 0.0))
            self.look()

    def stop(self) -> None:
        """End the process if it runs."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


_compilations: list[Compilation] = []
"""The one of this session, once it has begun."""


def choose(scene: Scene) -> str:
    """The kernels for the next frame of a scene: "numba" if they are wanted and ready, else "numpy"."""
    if not wanted(scene):
        return "numpy"
    if not _compilations:
        _compilations.append(Compilation())
        _compilations[0].begin()
        if not WAITS:
            bpy.app.timers.register(watch, first_interval=INTERVAL, persistent=True)
    compilation = _compilations[0]
    if WAITS:
        compilation.wait()
    return "numba" if compilation.ready else "numpy"


def wanted(scene: Scene) -> bool:
    """Whether Numba is there and neither the scene nor the environment variable PBD_KERNELS says NumPy."""
    return scene.pbd.kernels == "AUTO" and os.environ.get("PBD_KERNELS") != "numpy" and is_there()


def is_there() -> bool:
    """Whether Numba is installed, not merely still loaded from a zip that was replaced by one without it."""
    if _compilations:
        return True
    spec = importlib.util.find_spec("numba")
    return spec is not None and spec.origin is not None and os.path.isfile(spec.origin)


def status(scene: Scene) -> str:
    """How far Numba is, or why it is not used in a scene; one sentence."""
    if not is_there():
        return iface("Numba: not installed")
    if not wanted(scene):
        return iface("Numba: switched off")
    if not _compilations:
        return iface("Numba: compiles on first use")
    compilation = _compilations[0]
    if compilation.problem:
        return iface("Numba: cannot be used, {problem}").format(problem=compilation.problem)
    return iface("Numba: ready") if compilation.ready else iface("Numba: compiling…")


def watch() -> float | None:
    """Timer: look at the process until it has ended."""
    for compilation in _compilations:
        compilation.look()
        if compilation.process is not None:
            return INTERVAL
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            area.tag_redraw()
    return None


def make_folder() -> Path:
    """The folder for the kernels that this add-on, this Numba and this Python compile; those of others go.

    Numba itself knows for which sources and which processor a kernel was compiled.

    Raises:
        ImportError: Numba does not say its version.
        OSError: The folder cannot be made.
        ValueError: We were not installed as an extension, so that there is no user folder.
    """
    package = __package__.removesuffix(".pbd_addon.blender.timeline")
    manifest = tomllib.loads((root() / "blender_manifest.toml").read_text(encoding="utf-8"))
    python = "".join(map(str, sys.version_info[:2]))
    # Short, because Windows cuts paths off at 260 characters.
    name = f"{PREFIX}{manifest['version']}-{importlib.metadata.version('numba')}-py{python}"
    made = bpy.utils.extension_path_user(package, path=name, create=True)
    if not made:
        raise OSError("its user folder cannot be written")
    folder = Path(made)
    for other in folder.parent.glob(f"{PREFIX}*"):
        if other != folder:
            shutil.rmtree(other, ignore_errors=True)
    return folder


def root() -> Path:
    """The extension's folder."""
    return Path(__file__).parents[3]


def environment(folder: Path) -> dict[str, str]:
    """Environment variables of a Python that finds what this one finds, and has Numba's cache in a folder.

    None of the user's own variables for Python get through, as in Blender.
    """
    packages = (importlib.util.find_spec(name) for name in ("numba", "llvmlite", "numpy"))
    folders = (str(Path(spec.origin).parents[1]) for spec in packages if spec is not None and spec.origin)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    path = os.pathsep.join(dict.fromkeys((str(root()), *folders)))
    return kept | {"PYTHONPATH": path, "NUMBA_CACHE_DIR": str(folder)}


def last_line(path: Path) -> str:
    """The last line of a text file with anything in it, or ""."""
    lines = [line.strip() for line in path.read_text(encoding="utf-8", errors="replace").splitlines()]
    return next((line for line in reversed(lines) if line), "")


def register() -> None:
    """Nothing is done before a frame is simulated."""


def unregister() -> None:
    """End the process and the timer."""
    if bpy.app.timers.is_registered(watch):
        bpy.app.timers.unregister(watch)
    while _compilations:
        _compilations.pop().stop()
