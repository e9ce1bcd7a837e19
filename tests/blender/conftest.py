"""Real Blender with the real zip: built by Blender's own tool and installed by Blender's own installer.

Blender takes its user folder from the environment when bpy is first imported, so that is set while this file is
imported. Without bpy nothing in this folder is collected.
"""

import atexit
import importlib
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = "bl_ext.user_default.pbd_cloth"

if importlib.util.find_spec("bpy") is None:
    collect_ignore_glob = ["test_*.py"]
else:
    profile = tempfile.mkdtemp(prefix="pbd-blender-profile-")
    atexit.register(shutil.rmtree, profile, ignore_errors=True)
    os.environ["BLENDER_USER_RESOURCES"] = profile


class Extension(str):
    """The module name of the installed extension, and its modules as Blender has loaded them."""

    __slots__ = ()

    def module(self, name):
        """A module of the extension by its path inside it, e.g. `operators.body`."""
        return importlib.import_module(f"{PACKAGE}.{name}")

    def bridge(self, name):
        """A module of the bridge, e.g. `session`."""
        return self.module(f"pbd_addon.blender.{name}")

    def enable(self):
        """Switch the extension on, as in the preferences."""
        import bpy

        bpy.ops.preferences.addon_enable(module=PACKAGE)

    def disable(self):
        """Switch the extension off, as in the preferences."""
        import bpy

        bpy.ops.preferences.addon_disable(module=PACKAGE)


def build_zip(folder):
    """Build the extension with the builder that comes with bpy; returns the path of the zip."""
    import bpy

    builder = pathlib.Path(bpy.utils.resource_path("LOCAL"), "scripts/addons_core/bl_pkg/cli/blender_ext.py")
    command = [sys.executable, builder, "build", "--source-dir", ROOT, "--output-dir", folder]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(pathlib.Path(folder).glob("*.zip"))


@pytest.fixture(scope="session")
def extension(tmp_path_factory):
    """Install and enable; disable at the end, because a handler left at exit keeps the process from ending."""
    import bpy

    path = build_zip(tmp_path_factory.mktemp("zip"))
    bpy.ops.extensions.package_install_files(filepath=str(path), repo="user_default", enable_on_install=True)
    found = Extension(PACKAGE)
    assert hasattr(bpy.types.Object, "pbd"), "the extension did not register"
    yield found
    found.disable()
    assert not hasattr(bpy.types.Object, "pbd")


@pytest.fixture(autouse=True)
def empty_file(extension):
    """Each test starts in an empty file, with the extension on."""
    import bpy

    bpy.ops.wm.read_homefile(use_empty=True)
    if not hasattr(bpy.types.Object, "pbd"):
        extension.enable()
    yield
    bpy.ops.wm.read_homefile(use_empty=True)
