"""The zip that brings Numba: Blender's own installer unpacks it, and NumPy computes until another process has compiled.

Each story is told by a Blender of its own, see in_a_blender_of_its_own.py, that finds all packages of this environment
except for Numba: it has to come from the zip, as it does for users.
"""

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import bpy
import pytest

from helpers import compiled

PROGRAM = Path(__file__).parents[1] / "helpers" / "in_a_blender_of_its_own.py"
SYSTEMS = {"linux": "linux-x64", "win32": "windows-x64", "darwin": "macos-arm64"}
HIDDEN = ("numba", "llvmlite")
LIMIT = 1500.0
"""Longest time of a story [s]. The first compiles for about 30 s of CPU time, which others may share; the runner of the
tests stops a suite after 1800 s without a finished test."""

pytestmark = pytest.mark.skipif(
    (4, 2) < bpy.app.version[:2] < (5, 3), reason="the oldest and the newest Blender have both Pythons and are enough"
)


class Stage:
    """A clean profile, and a folder with links to the packages that Blender may find."""

    def __init__(self, folder):
        self.profile, self.packages = folder / "profile", folder / "packages"
        self.profile.mkdir()
        self.packages.mkdir()
        for package in Path(sysconfig.get_path("purelib")).iterdir():
            if not package.name.startswith(HIDDEN) and package.suffix != ".pth":
                (self.packages / package.name).symlink_to(package)

    def tell(self, story, *arguments):
        """Run a story; returns what it saw."""
        ours = ("PYTHON", "NUMBA", "PBD_KERNELS")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        environment |= {"BLENDER_USER_RESOURCES": str(self.profile), "PYTHONPATH": str(self.packages)}
        done = subprocess.run(
            [sys._base_executable, "-S", PROGRAM, story, *arguments],
            cwd=self.profile,
            env=environment,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def zips(tmp_path_factory, build_zip):
    """The zip that brings Numba for this platform, and the one for all platforms."""
    bundle = build_zip(tmp_path_factory.mktemp("zips"), SYSTEMS[sys.platform])
    (plain,) = (archive for archive in bundle.parent.glob("*.zip") if archive != bundle)
    return bundle, plain


@pytest.fixture(scope="module")
def with_numba(tmp_path_factory, zips):
    """A profile into which the zip with Numba was installed, and what was seen while it began."""
    stage = Stage(tmp_path_factory.mktemp("numba"))
    seen = stage.tell("install_and_play", zips[0])
    compiled.give(stage.profile)
    return stage, seen


@pytest.mark.slow
def test_numpy_computes_while_numba_is_compiled(with_numba):
    _, seen = with_numba
    assert seen["status"][:2] == ["Numba: compiles on first use", "Numba: compiling…"]
    assert seen["first kernels"] == "numpy"
    assert seen["written before"] == 0
    assert seen["timer"]
    assert seen["last numpy frame"] >= 3


@pytest.mark.slow
def test_the_running_simulation_goes_on_with_numba(with_numba):
    _, seen = with_numba
    assert seen["status"][2] == "Numba: ready"
    assert seen["next kernels"] == "numba"
    assert seen["cached"] == [1, seen["last numpy frame"] + 1]


@pytest.mark.slow
def test_blender_itself_compiles_nothing(with_numba):
    stage, seen = with_numba
    python = "".join(map(str, sys.version_info[:2]))
    assert len([name for name in seen["compiled"] if name.endswith(".nbc")]) > 15
    assert {name.split("/")[0].rpartition("-")[2] for name in seen["compiled"]} == {f"py{python}"}
    assert seen["compiled in Blender"] == []
    assert seen["variable"] is None
    assert Path(seen["numba"]).is_relative_to(stage.profile)


@pytest.mark.slow
def test_both_kernels_give_the_same(with_numba):
    _, seen = with_numba
    assert seen["kernels"] == [["numba"], ["numpy"]]
    assert seen["status"][3] == "Numba: switched off"
    assert seen["apart"] < 1e-9
    assert seen["fallen"] > 0.3


@pytest.mark.slow
def test_the_next_session_compiles_nothing_and_a_bake_is_numbas_from_the_first_frame(with_numba):
    stage, _ = with_numba
    seen = stage.tell("come_again")
    assert seen["kernels"] == "numba"
    assert [Path(name).name for name in seen["changed"]] == ["log.txt"]
    # Switched off and on again, the extension has them still: no process checks them a second time.
    assert (seen["again"], seen["written again"]) == ("Numba: ready", False)


@pytest.mark.slow
def test_in_the_next_session_kernels_are_loaded_while_blender_is_idle(with_numba):
    """In slices, of which Numba itself is the longest; the first frame finds them ready."""
    stage, _ = with_numba
    seen = stage.tell("come_again_with_a_window")
    assert (seen["timer before"], seen["timer"]) == (False, True)
    assert seen["status"] == "Numba: ready"
    assert seen["kernels"] == "numba"
    assert len(seen["slices"]) > 10
    slices = sorted(seen["slices"])
    assert slices[-1] < 0.6 * sum(slices)
    assert slices[-3] < 0.25 * sum(slices), slices


@pytest.mark.slow
def test_switching_the_extension_off_ends_process_and_timer(with_numba):
    stage, _ = with_numba
    seen = stage.tell("switch_off")
    assert seen["ran"]
    assert seen["timer"]
    assert seen["code"] not in (None, 0)
    assert not seen["timer after"]


@pytest.mark.slow
def test_a_numba_that_fails_leaves_numpy_and_one_sentence(with_numba):
    stage, _ = with_numba
    seen = stage.tell("meet_a_broken_numba")
    assert seen["kernels"] == ["numpy"]
    assert seen["status"] == "Numba: cannot be used, ImportError: it was built for another Python"
    assert seen["message"] == ""
    assert seen["fallen"] > 0.3


@pytest.mark.slow
@pytest.mark.skipif(bpy.app.version < (4, 5, 0), reason="4.2 as a module ends with a crash after all is done")
def test_the_zip_for_all_platforms_takes_numba_away_again(with_numba, zips):
    stage, _ = with_numba
    seen = stage.tell("replace_it", zips[1])  # the last story in this profile
    assert seen["kernels"] == [["numba"], ["numpy"]]
    assert seen["status"] == "Numba: not installed"


def test_the_zip_for_all_platforms_is_numpy_and_writes_nothing(tmp_path, zips):
    seen = Stage(tmp_path).tell("play_with_numpy_alone", zips[1])
    assert seen == {
        "kernels": ["numpy"],
        "status": "Numba: not installed",
        "timer": False,
        "written": [],
        "imported": [],
    }
