"""The extension's root: what Blender and its platform read first."""

import importlib.util
import re
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def extension():
    """The root `__init__.py` under a name of its own; loading it must need neither Blender nor our packages."""
    before = set(sys.modules)
    spec = importlib.util.spec_from_file_location("root_of_the_extension", ROOT / "__init__.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert set(sys.modules) == before
    return module


class Part:
    """Something to register, that keeps a diary."""

    def __init__(self, name, diary, broken=False):
        self.name, self.diary, self.broken = name, diary, broken

    def register(self):
        if self.broken:
            raise RuntimeError(self.name)
        self.diary.append(f"+{self.name}")

    def unregister(self):
        self.diary.append(f"-{self.name}")


def test_registers_in_order_and_unregisters_in_reverse(extension, monkeypatch):
    diary = []
    monkeypatch.setattr(extension, "_parts", lambda: tuple(Part(name, diary) for name in "abc"))
    extension.register()
    extension.unregister()
    assert diary == ["+a", "+b", "+c", "-c", "-b", "-a"]


def test_a_failure_while_registering_leaves_nothing_behind(extension, monkeypatch):
    diary = []
    parts = Part("a", diary), Part("b", diary), Part("c", diary, broken=True)
    monkeypatch.setattr(extension, "_parts", lambda: parts)
    with pytest.raises(RuntimeError, match="c"):
        extension.register()
    assert diary == ["+a", "+b", "-b", "-a"]


def test_manifest_keeps_the_rules_of_the_platform():
    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
    assert re.fullmatch(r"\d+\.\d+\.\d+", manifest["version"])
    assert len(manifest["tagline"]) <= 64
    assert manifest["tagline"][-1].isalnum()
    assert "blender" not in manifest["name"].lower()
    for reason in manifest.get("permissions", {}).values():
        assert len(reason) <= 64
        assert reason[-1].isalnum()


def test_changelog_has_the_version():
    version = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))["version"]
    assert f"\n## {version}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
