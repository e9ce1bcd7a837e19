"""Cloth in several scenes: evaluated data is read only where Blender has just evaluated it.

What was read of a scene that Blender has not evaluated since its meshes changed crashes Blender, so the story is told
by a process of its own.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import bpy
import pytest

from helpers import scenes
from helpers.scenes import go, play

PROGRAM = Path(__file__).parents[1] / "helpers" / "in_a_blender_of_its_own.py"


@pytest.mark.parametrize("kind", ["LINK_COPY", "FULL_COPY"])
def test_a_copy_of_a_scene_and_a_mesh_that_is_gone(build_zip, tmp_path, kind):
    (tmp_path / "profile").mkdir()
    done = subprocess.run(
        [sys.executable, PROGRAM, "play_in_a_copy", str(build_zip(tmp_path)), kind],
        env=os.environ | {"BLENDER_USER_RESOURCES": str(tmp_path / "profile"), "PBD_KERNELS": "numpy"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0 and "Traceback" not in said, said
    assert json.loads(done.stdout.splitlines()[-1])["frames"] == [[1, 4], [1, 6]]


def test_a_scene_that_was_never_evaluated(extension, capfd):
    """A script steps a scene that no window shows."""
    scenes.add_grid()
    other = bpy.data.scenes.new("Other")
    other.collection.objects.link(bpy.data.objects["Flag"])
    for frame in (3, 4):
        other.frame_set(frame)
    found = extension.bridge("timeline.session").get(other)
    assert (found.message, found.first_frame, found.last_frame) == ("", 1, 4)
    assert "Traceback" not in capfd.readouterr().err


def test_nothing_listens_before_a_frame_change(extension):
    """Whatever is evaluated then is of the frame that is left, and may be stale."""
    play([scenes.add_grid()], 1, 3)
    ours = [one for one in bpy.app.handlers.frame_change_pre if one.__module__.startswith(str(extension))]
    assert [one.__name__ for one in ours] in ([], ["on_maybe_import"])  # Which reads no evaluated data.
    go(1)
