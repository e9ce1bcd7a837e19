"""Which kernels run: NumPy's, until a second process has compiled Numba's.

Numba is available if the extension's zip bundles it. Before the first simulated frame of a Blender session, a process
of Blender's own Python compiles the kernels into the extension's user folder, or checks that those already there fit
this processor. Blender loads them afterwards, a file at a time while it is idle. It never compiles itself, which would
block its window for many seconds. Where an earlier session has compiled them, all that happens as soon as a file has
something to simulate, so that the first frame does not wait.
"""

import contextlib
import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Generator
from pathlib import Path

import bpy
from bpy.app.translations import pgettext_iface as iface

from ... import kernels
from ..kinds import Scene

WAITS = bpy.app.background
"""Whether the first frame waits for the compiled kernels: without a window Blender runs no timers, and this way a bake
uses the same kernels from beginning to end."""

POLL_SECONDS, SOON_SECONDS = 0.25, 0.01
"""How often the process is polled, and the pause after each file that is loaded [s]."""

LIMIT = 600.0
"""Time limit for compiling [s]; it takes about ten seconds."""

PREFIX = "kernels-"
"""Prefix of the names of folders for compiled kernels."""


class Compilation:
    """The process that compiles the kernels.

    Attributes:
        folder: Where the compiled kernels go.
        process: The process while it runs, else None.
        ready: Whether Numba's kernels can be used.
        problem: Why they cannot be, or "".
    """

    def __init__(self) -> None:
        self.folder = Path()
        self.process: subprocess.Popen[bytes] | None = None
        self.ready = False
        self.problem = ""
        self.deadline = 0.0
        self._reading: Generator[None, None, object] | None = None

    @property
    def is_busy(self) -> bool:
        """Whether the process runs, or its kernels are being loaded."""
        return self.process is not None or self._reading is not None

    def start(self) -> None:
        """Start the process."""
        try:
            self.folder = find_folder(create=True)
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

    def poll(self) -> None:
        """Check whether the process has ended, and load a file of the kernels if so."""
        if self._reading is not None:
            self._read()
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
            self._reading = kernels.loading("numba")

    def _read(self) -> None:
        """Load the next file of the compiled kernels into this process."""
        before = os.environ.get("NUMBA_CACHE_DIR")
        os.environ["NUMBA_CACHE_DIR"] = str(self.folder)
        try:
            if self._reading is not None:
                next(self._reading)
        except StopIteration:
            self.ready, self._reading = True, None
        except Exception as error:  # A third-party package may raise anything on import.
            self.problem, self._reading = f"{type(error).__name__}: {error}", None
        finally:
            os.environ.pop("NUMBA_CACHE_DIR")
            if before is not None:
                os.environ["NUMBA_CACHE_DIR"] = before

    def wait(self) -> None:
        """Wait for the process to end, and for its kernels."""
        while self.is_busy:
            if self.process is not None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self.process.wait(max(self.deadline - time.monotonic(), 0.0))
            self.poll()

    def stop(self) -> None:
        """Kill the process if it runs."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


_compilations: list[Compilation] = []
"""The compilation of this Blender session, once it has begun; one at most."""


def choose(scene: Scene) -> str:
    """The kernels for the next frame of a scene: "numba" if enabled and ready, else "numpy"."""
    if not wanted(scene):
        return "numpy"
    compilation = _begun()
    if WAITS:
        compilation.wait()
    return "numba" if compilation.ready else "numpy"


def prepare() -> None:
    """Load what an earlier session has compiled while Blender is idle, if a scene wants it and there is a window."""
    if WAITS or _compilations or not any(map(wanted, bpy.data.scenes)):
        return
    with contextlib.suppress(ImportError, OSError, ValueError):
        if any(find_folder(create=False).glob("*/*.nbi")):
            _begun()


def _begun() -> Compilation:
    """The compilation of this session, which begins with this if it has not yet."""
    if not _compilations:
        _compilations.append(Compilation())
        _compilations[0].start()
        if not WAITS:
            bpy.app.timers.register(watch, first_interval=POLL_SECONDS, persistent=True)
    return _compilations[0]


def wanted(scene: Scene) -> bool:
    """Whether Numba is installed and neither the scene nor the environment variable PBD_KERNELS asks for NumPy."""
    return scene.pbd.kernels == "AUTO" and os.environ.get("PBD_KERNELS") != "numpy" and is_there()


def is_there() -> bool:
    """Whether Numba is installed, rather than merely still loaded from an earlier version of the extension."""
    if _compilations:
        return True
    spec = importlib.util.find_spec("numba")
    return spec is not None and spec.origin is not None and os.path.isfile(spec.origin)


def status(scene: Scene) -> str:
    """The state of Numba's kernels, or why a scene does not use them; one sentence."""
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
    """Timer: poll the process until it has ended, then load its kernels file by file."""
    for compilation in _compilations:
        compilation.poll()
        if compilation.is_busy:
            return POLL_SECONDS if compilation.process is not None else SOON_SECONDS
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            area.tag_redraw()
    return None


def find_folder(create: bool) -> Path:
    """The folder for kernels of this version of the add-on, Numba and Python; `create` it, and delete those of others.

    Numba itself checks the source and processor that a kernel was compiled for. Raises an `OSError` if the folder
    cannot be created, an `ImportError` without Numba, and a `ValueError` if the add-on has no user folder.
    """
    package = __package__.removesuffix(".pbd_addon.blender.timeline")
    manifest = tomllib.loads((root() / "blender_manifest.toml").read_text(encoding="utf-8"))
    python = "".join(map(str, sys.version_info[:2]))
    # Short, because Windows limits paths to 260 characters.
    name = f"{PREFIX}{manifest['version']}-{importlib.metadata.version('numba')}-py{python}"
    made = bpy.utils.extension_path_user(package, path=name, create=create)
    if not made:
        raise OSError("its user folder cannot be written")
    folder = Path(made)
    if not create:
        return folder
    for other in folder.parent.glob(f"{PREFIX}*"):
        if other != folder:
            shutil.rmtree(other, ignore_errors=True)
    return folder


def root() -> Path:
    """The extension's folder."""
    return Path(__file__).parents[3]


def environment(folder: Path) -> dict[str, str]:
    """Environment variables for a Python that finds the same packages and keeps Numba's cache in a folder.

    The user's own Python variables are left out, as in Blender.
    """
    packages = (importlib.util.find_spec(name) for name in ("numba", "llvmlite", "numpy"))
    folders = (str(Path(spec.origin).parents[1]) for spec in packages if spec is not None and spec.origin)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    path = os.pathsep.join(dict.fromkeys((str(root()), *folders)))
    return kept | {"PYTHONPATH": path, "NUMBA_CACHE_DIR": str(folder)}


def last_line(path: Path) -> str:
    """The last nonblank line of a text file, or ""."""
    lines = [line.strip() for line in path.read_text(encoding="utf-8", errors="replace").splitlines()]
    return next((line for line in reversed(lines) if line), "")


def unregister() -> None:
    """Stop the process and the timer; kernels that are loaded serve again when the extension is switched on again."""
    if bpy.app.timers.is_registered(watch):
        bpy.app.timers.unregister(watch)
    if _compilations and not _compilations[0].ready:
        _compilations.pop().stop()
