"""The repository that a release makes: another Blender, with an empty profile, installs from it and finds an update."""

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import bpy
import pytest

ROOT = Path(__file__).resolve().parents[2]
ID = "pbd_cloth"

SCRIPT = """
import sys, shutil, bpy
first, later, served = sys.argv[-3:]
shutil.copytree(first, served)
preferences = bpy.context.preferences
for repo in [repo for repo in preferences.extensions.repos if repo.use_remote_url]:
    preferences.extensions.repos.remove(repo)  # nothing asks the network
preferences.system.use_online_access = True
bpy.ops.preferences.extension_repo_add(name="Ours", remote_url=f"file://{served}/index.json", type="REMOTE")
where = next(at for at, repo in enumerate(preferences.extensions.repos) if repo.remote_url.startswith("file"))
module = preferences.extensions.repos[where].module
bpy.ops.extensions.repo_sync(repo_index=where)
bpy.ops.extensions.package_install(repo_index=where, pkg_id="pbd_cloth", enable_on_install=True)
def version():
    import importlib
    return importlib.import_module(f"bl_ext.{module}.pbd_cloth.pbd_addon.blender.about").version()
print("INSTALLED", version(), bpy.ops.mesh.primitive_pbd_cloth_add())
shutil.rmtree(served)
shutil.copytree(later, served)
bpy.ops.extensions.repo_sync(repo_index=where)
bpy.ops.extensions.package_upgrade_all()
print("UPDATED", version())
bpy.ops.preferences.addon_disable(module=f"bl_ext.{module}.pbd_cloth")
"""


def with_manifest(archive, copy, old, new):
    with zipfile.ZipFile(archive) as zipped, zipfile.ZipFile(copy, "w") as made:
        for entry in zipped.infolist():
            content = zipped.read(entry)
            if entry.filename == "blender_manifest.toml":
                content = re.sub(old, new, content.decode(), count=1).encode()
            made.writestr(entry, content)


def generate(zips, folder):
    command = [sys.executable, ROOT / "tools" / "repository.py", "--zips", zips, "--output-dir", folder]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.fixture(scope="module")
def archive(tmp_path_factory, build_zip):
    return build_zip(tmp_path_factory.mktemp("zips"))


@pytest.fixture(scope="module")
def repository(archive, tmp_path_factory):
    folder = tmp_path_factory.mktemp("repository") / "made"
    done = generate(archive.parent, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_blender_installs_from_the_repository_and_finds_an_update(archive, repository, tmp_path):
    later, entry = tmp_path / "later", json.loads((repository / "index.json").read_text())["data"][0]
    later.mkdir()
    name = archive.name.replace(entry["version"], "9.9.9")
    with_manifest(archive, later / name, r'(?m)^version = ".*"$', 'version = "9.9.9"')
    tool = Path(bpy.utils.system_resource("SCRIPTS"), "addons_core", "bl_pkg", "cli", "blender_ext.py")
    subprocess.run([sys.executable, tool, "server-generate", "--repo-dir", later], check=True, capture_output=True)
    (tmp_path / "profile").mkdir()
    environment = {**os.environ, "BLENDER_USER_RESOURCES": str(tmp_path / "profile"), "PBD_KERNELS": "numpy"}
    command = [sys.executable, "-c", SCRIPT, repository, later, tmp_path / "served"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
    assert f"INSTALLED {entry['version']} {{'FINISHED'}}" in done.stdout, done.stdout + done.stderr
    assert "UPDATED 9.9.9" in done.stdout, done.stdout + done.stderr


def test_each_platform_finds_one_zip(archive, tmp_path):
    """The one without a platform's name says that it is for all that have none of their own."""
    zips = tmp_path / "zips"
    zips.mkdir()
    (zips / archive.name).write_bytes(archive.read_bytes())
    named = r'platforms = ["linux-x64"]\n\n[permissions]'
    with_manifest(archive, zips / f"{archive.stem}-linux_x64.zip", r"\[permissions\]", named)
    folder = tmp_path / "made"
    done = generate(zips, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    listed = json.loads((folder / "index.json").read_text())["data"]
    found = {entry["archive_url"]: entry["platforms"] for entry in listed}
    assert found.pop(f"./{archive.stem}-linux_x64.zip") == ["linux-x64"]
    (others,) = found.values()
    assert "linux-x64" not in others and {"windows-x64", "macos-arm64", "macos-x64"} < set(others)


def test_its_pages_have_the_text_the_pictures_and_what_is_new(repository):
    page = (repository / "index.html").read_text(encoding="utf-8")
    assert "<h1>PBD Cloth &amp; Balloons</h1>" in page and f"{ID}-" in page
    for picture in re.findall(r'src="([^"]+)"', page):
        assert (repository / picture).exists(), picture
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    news = (repository / "whats_new.html").read_text(encoding="utf-8")
    assert news.count("<li>") == sum(line.startswith("- ") for line in changes.splitlines())
    assert not re.search(r"\*|\]\(|`", re.sub(r"<code>.*?</code>", "", news))


def test_without_a_zip_it_says_what_to_do(tmp_path):
    done = generate(tmp_path, tmp_path / "made")
    assert done.returncode == 1 and "run `make build` first" in done.stderr
