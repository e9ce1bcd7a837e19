"""The job type for Flamenco, compiled by Node with stand-ins for what Flamenco's manager gives to it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / "docs/pbd_wedges.js"
NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="there is no node on this machine")

STAND_INS = """
const path = {
    join: function () { return Array.prototype.slice.call(arguments).join("/"); },
    stem: function (name) { return name.split("/").pop().replace(/\\.[^.]*$/, ""); },
};
const author = {
    Task: function (name, type) {
        return {name: name, type: type, commands: [], needs: [],
                addCommand: function (one) { this.commands.push(one); },
                addDependency: function (one) { this.needs.push(one.name); }};
    },
    Command: function (name, given) { return {name: name, given: given}; },
};
const tasks = [];
const job = {settings: SETTINGS, addTask: function (one) { tasks.push(one); }};
"""


def compiled(**changed):
    """The tasks of a job with these settings, or what it threw."""
    settings = {
        "wedges": "Flag.pbd.stretch=100|1000; Scene.pbd.substeps=10 | 20|40",
        "frames": "1-50",
        "sheet_frame": 30,
        "mode": "absolute",
        "output_root": "/out",
        "blendfile": "/shots/flag.v2.blend",
        **changed,
    }
    end = "\ntry { compileJob(job); console.log(JSON.stringify(tasks)); } catch (e) { console.log(JSON.stringify(e)); }"
    program = STAND_INS.replace("SETTINGS", json.dumps(settings)) + SCRIPT.read_text(encoding="utf-8") + end
    done = subprocess.run([NODE, "-"], input=program, capture_output=True, text=True, timeout=60, check=True)
    return json.loads(done.stdout)


def test_each_combination_is_baked_and_rendered_then_tiled():
    tasks = compiled()
    bakes = [task for task in tasks if task["name"].startswith("bake")]
    renders = [task for task in tasks if task["name"].startswith("render")]
    assert len(bakes) == len(renders) == 6 and len(tasks) == 13
    given = bakes[3]["commands"][0]["given"]
    assert given["argsBefore"] == ["--command", "pbd_bake"] and given["blendfile"] == "/shots/flag.v2.blend"
    assert given["args"] == [
        *("--frames", "1", "50", "--mode", "absolute", "--output", "/out/flag.v2_0004.blend"),
        *("--set", "Flag.pbd.stretch=1000", "--set", "Scene.pbd.substeps=10"),
    ]
    assert renders[3]["needs"] == [bakes[3]["name"]]
    assert renders[3]["commands"][0]["given"]["blendfile"] == "/out/flag.v2_0004.blend"
    sheet = tasks[-1]
    assert sheet["needs"] == [task["name"] for task in renders]
    arguments = sheet["commands"][0]["given"]["args"]
    assert "/out/wedge_%04d_0030.png" in arguments and "tile=3x2" in arguments


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"frames": "all"}, "'all' are no frames: write first-last"),
        ({"wedges": "Flag.pbd.stretch"}, "'Flag.pbd.stretch' is no setting: write OBJECT.pbd.name=value|value"),
    ],
)
def test_bad_settings_are_one_sentence(changed, sentence):
    assert compiled(**changed) == sentence


def test_every_setting_that_is_read_is_declared():
    text = SCRIPT.read_text(encoding="utf-8")
    declared = set(re.findall(r'key: "(\w+)"', text))
    assert set(re.findall(r"settings\.(\w+)", text)) == declared
