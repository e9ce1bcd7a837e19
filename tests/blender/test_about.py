"""The version, the links, and what a report of a bug says."""

import re
import tomllib
from pathlib import Path

import bpy
import pytest

from helpers import scenes
from helpers.scenes import go

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def about(extension):
    return extension.bridge("about")


@pytest.fixture
def at_home(about, monkeypatch):
    """The manifest as it will be once the project has an address."""
    found = {**about.manifest(), "website": "https://example.org/cloth/"}
    monkeypatch.setattr(about, "manifest", lambda: found)
    return found


def test_the_header_tells_the_version(extension, about):
    """Blender shows no tooltip for a panel's name; of what stands beside it, the cross has the version in its own."""
    wanted = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))["version"]
    assert about.version() == wanted
    said = extension.module("operators.body").OBJECT_OT_pbd_remove.description(bpy.context, None)
    assert said.startswith(bpy.types.OBJECT_OT_pbd_remove.bl_rna.description)
    assert said.endswith(f"PBD Cloth & Balloons {wanted}")


def test_a_report_says_what_is_asked_first(about, monkeypatch):
    monkeypatch.setenv("PBD_KERNELS", "numpy")
    scenes.add_grid("Secret Project", rx=9, ry=9)
    for frame in (1, 2, 3):
        go(frame)
    said = about.report(bpy.context.scene)
    assert f"PBD Cloth & Balloons {about.version()}, Blender {bpy.app.version_string}" in said
    assert "1 live objects, 81 vertices" in said
    assert "Backend: numpy" in said
    assert re.search(r"Frame 3: \d+ ms, 20 substeps \(settings\), strain", said)
    assert "Secret" not in said


def test_without_an_address_it_is_said_where_to_set_one(about, monkeypatch):
    homeless = {name: value for name, value in about.manifest().items() if name != "website"}
    monkeypatch.setattr(about, "manifest", lambda: homeless)
    with pytest.raises(RuntimeError, match=r"website.*blender_manifest\.toml"):
        bpy.ops.object.pbd_whats_new()
    assert bpy.ops.object.pbd_report_bug() == {"FINISHED"}


def test_links_lead_to_the_manifests_website(about, at_home):
    scene = bpy.context.scene
    assert about.changes_address() == "https://example.org/cloth/blob/HEAD/CHANGELOG.md"
    address = about.report_address(scene)
    assert address.startswith("https://example.org/cloth/issues/new?body=What%20happened%2C%20")
    assert re.fullmatch(r"[\w\-.~%:/?=]+", address)
    assert about.quoted("ü 1/s\n") == "%C3%BC%201%2Fs%0A"
    assert bpy.ops.object.pbd_whats_new.poll()
