"""Blender with the real zip: an empty profile, and the extension built and installed as a user would.

For scripts and tests that run in the bpy module:

    with extension.installed():
        bpy.ops.mesh.primitive_pbd_cloth_add()

Blender takes its user folder from the environment when bpy is first imported, so `clean_profile` comes before that.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "bl_ext.user_default.pbd_cloth"


def clean_profile() -> Path:
    """Give Blender an empty folder for preferences and extensions, deleted when the process ends.

    Raises:
        RuntimeError: Blender has already started with another profile.
    """
    if "bpy" in sys.modules:
        raise RuntimeError("Blender has its profile already: call clean_profile() before the first import of bpy")
    profile = tempfile.mkdtemp(prefix="pbd-blender-profile-")
    atexit.register(shutil.rmtree, profile, ignore_errors=True)
    os.environ["BLENDER_USER_RESOURCES"] = profile
    return Path(profile)


def build_zip(folder: Path, *platforms: str) -> Path:
    """Build the extension into a folder with Blender's own tool.

    Args:
        folder: Where the zips go.
        platforms: Also build zips that bundle Numba for these platforms, see `build.PLATFORMS`.

    Returns:
        The path of the last zip.
    """
    command = [sys.executable, ROOT / "tools" / "build.py", "--output-dir", folder, "--platforms", *platforms]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"The extension could not be built:\n{done.stdout}{done.stderr}".strip())
    return Path(done.stdout.splitlines()[-1])


def install(archive: Path) -> None:
    """Install a zip with Blender's own installer, and switch the extension on."""
    import bpy

    bpy.ops.extensions.package_install_files(filepath=str(archive), repo="user_default", enable_on_install=True)
    if not hasattr(bpy.types.Object, "pbd"):
        raise RuntimeError(f"{archive.name} was installed but did not register")


@contextmanager
def installed() -> Iterator[None]:
    """A context with the extension of this folder, built from its sources, installed in Blender.

    It is switched off at the end: a handler that is still registered when the interpreter exits keeps it running.
    """
    profile = clean_profile()
    import bpy

    install(build_zip(profile / "zip"))
    try:
        yield
    finally:
        bpy.ops.preferences.addon_disable(module=PACKAGE)
