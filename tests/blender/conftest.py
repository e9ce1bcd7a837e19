"""Real Blender with the real zip: built by Blender's own tool and installed by Blender's own installer.

Blender takes its user folder from the environment when bpy is first imported, so that is set while this file is
imported. Without bpy nothing in this folder is collected.
"""

import importlib
import importlib.util
import os
import pathlib
import sys

import pytest

from helpers import compiled


def load_installer():
    """The module tools/extension.py; tools/ is no package."""
    path = pathlib.Path(__file__).resolve().parents[2] / "tools" / "extension.py"
    spec = importlib.util.spec_from_file_location("extension", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


installer = load_installer()
PACKAGE = installer.PACKAGE

if importlib.util.find_spec("bpy") is None:
    collect_ignore_glob = ["test_*.py"]
else:
    installer.clean_profile()
    # What is tested of the bridge does not depend on the kernels; those have tests of their own.
    os.environ.setdefault("PBD_KERNELS", "numpy")


class Extension(str):
    """The module name of the installed extension, and its modules as Blender has loaded them."""

    __slots__ = ()

    def module(self, name):
        """A module of the extension by its path inside it, e.g. `operators.body`."""
        return importlib.import_module(f"{PACKAGE}.{name}")

    def bridge(self, name):
        """A module of the bridge, e.g. `timeline.session`."""
        return self.module(f"pbd_addon.blender.{name}")

    def enable(self):
        """Switch the extension on, as in the preferences."""
        import bpy

        bpy.ops.preferences.addon_enable(module=PACKAGE)

    def disable(self):
        """Switch the extension off, as in the preferences."""
        import bpy

        bpy.ops.preferences.addon_disable(module=PACKAGE)


@pytest.fixture(scope="session")
def build_zip():
    """The function `build_zip` of tools/extension.py."""
    return installer.build_zip


@pytest.fixture(scope="session")
def extension(tmp_path_factory, build_zip):
    """Install and enable; disable at the end, because a handler left at exit keeps the process from ending."""
    import bpy

    installer.install(build_zip(tmp_path_factory.mktemp("zip")))
    found = Extension(PACKAGE)
    if os.environ["PBD_KERNELS"] == "numba":
        compiled.share(found)
    yield found
    bpy.ops.wm.read_homefile(use_empty=True)
    found.disable()
    assert not hasattr(bpy.types.Object, "pbd")


@pytest.fixture(autouse=True)
def empty_file(extension):
    """Each test starts in an empty file, with the extension on."""
    import bpy

    bpy.ops.wm.read_homefile(use_empty=True)
    if not hasattr(bpy.types.Object, "pbd"):
        extension.enable()


@pytest.fixture
def few_substeps(empty_file):
    """A quarter of the usual substeps, for tests of what is done with frames, whatever they show."""
    import bpy

    bpy.context.scene.pbd.substeps = 5


@pytest.fixture
def usual_substeps(few_substeps):
    """As many as a new scene has, for single tests among those with few."""
    import bpy

    bpy.context.scene.pbd.property_unset("substeps")


def pytest_sessionfinish(session, exitstatus):
    """Remember the exit code for `pytest_unconfigure`."""
    session.config.exit_code = int(exitstatus)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config):
    """Leave Blender 4.2 without its own farewell once its glTF exporter has run: as a module it crashes there."""
    exported = any(name.startswith("io_scene_gltf2.blender.exp") for name in sys.modules)
    bpy = sys.modules.get("bpy")
    if exported and bpy is not None and bpy.app.version < (4, 3, 0):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(getattr(config, "exit_code", 1))
