"""Make the extension's own repository: a folder of static files that Blender installs from and finds updates in.

    python tools/repository.py [--zips DIR] [--output-dir DIR]       default: dist, dist/repository

Takes the zips of the manifest's version that `build.py` has made, lists them with Blender's own tool, and adds what a
visitor reads: the page with text and pictures of docs/store/, and what is new. Any web server can offer the folder;
Blender wants the address of its index.json. The last line printed is the path of that file.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import shutil
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path

import page
from build import PLATFORMS, blender_tool
from environments import ROOT, EnvironmentProblem, newest, run, say

STORE = ROOT / "docs" / "store"

BLENDERS_PLATFORMS = ("linux-arm64", "linux-x64", "macos-arm64", "macos-x64", "windows-arm64", "windows-x64")
"""All systems that Blender is built for, by the names that its tool takes from a running system."""


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zips", type=Path, default=ROOT / "dist")
    parser.add_argument("--output-dir", type=Path, default=ROOT / "dist" / "repository")
    arguments = parser.parse_args()
    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
    folder = arguments.output_dir.resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    platforms = collect(arguments.zips, f"{manifest['id']}-{manifest['version']}", folder)
    list_zips(folder, manifest, platforms)
    write_pages(folder, manifest)
    say(str(folder / "index.json"))


def collect(zips: Path, name: str, folder: Path) -> list[str]:
    """Copy the zips into the folder; returns the platforms that have their own.

    Blender takes any zip that its platform may have: the one for all others says which these are.

    Raises:
        EnvironmentProblem: The zip for all platforms is missing.
    """
    if not (zips / f"{name}.zip").exists():
        raise EnvironmentProblem(f"{name}.zip is not in {zips}: run `make build` first.")
    own = [platform for platform in PLATFORMS if (zips / f"{name}-{platform.replace('-', '_')}.zip").exists()]
    for platform in own:
        shutil.copy(zips / f"{name}-{platform.replace('-', '_')}.zip", folder)
    small = folder / f"{name}.zip"
    if own:
        listed = json.dumps([platform for platform in BLENDERS_PLATFORMS if platform not in own])
        copy_with(zips / small.name, small, f"platforms = {listed}")
    else:
        shutil.copy(zips / small.name, small)
    return own


def copy_with(archive: Path, copy: Path, line: str) -> None:
    """Copy a zip with one more line in its manifest, before the permissions."""
    with zipfile.ZipFile(archive) as zipped, zipfile.ZipFile(copy, "w", zipfile.ZIP_DEFLATED) as made:
        for entry in zipped.infolist():
            content = zipped.read(entry)
            if entry.filename == "blender_manifest.toml":
                content = content.replace(b"\n[permissions]\n", f"{line}\n\n[permissions]\n".encode(), 1)
            made.writestr(entry, content)


def list_zips(folder: Path, manifest: dict[str, object], own: list[str]) -> None:
    """Write index.json, which Blender reads, and index.html, with Blender's own tool.

    Raises:
        EnvironmentProblem: The tool fails, or a platform would not find exactly one zip.
    """
    python = Path(sys.executable) if importlib.util.find_spec("bpy") else newest()[1]
    with tempfile.TemporaryDirectory(prefix="page-") as scratch:
        template = Path(scratch) / "template.html"
        text = page.to_html((STORE / "page.md").read_text(encoding="utf-8"), str(manifest.get("website", "")))
        # To Blender's tool a dollar sign is the beginning of a key.
        body = page.whole(str(manifest["name"]), text).replace("$", "$$")
        template.write_text(body.replace("<!-- list -->", "${body}<p>${date}</p>"), encoding="utf-8")
        command = ("server-generate", "--repo-dir", folder, "--html", "--html-template", template)
        done = run(python, blender_tool(python), *command)
    if done.returncode:
        raise EnvironmentProblem(f"Blender's extension tool, server-generate:\n{done.stdout.strip()}")
    listed = json.loads((folder / "index.json").read_text(encoding="utf-8"))["data"]
    for platform in BLENDERS_PLATFORMS:
        found = [entry["archive_url"] for entry in listed if platform in entry.get("platforms", [platform])]
        if len(found) != 1:
            raise EnvironmentProblem(f"{platform} would find {len(found)} zips: {', '.join(found)}")
    say(f"{len(listed)} zips, {', '.join(own) or 'none'} with Numba")


def write_pages(folder: Path, manifest: dict[str, object]) -> None:
    """Write what is new, and copy the pictures."""
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    news = page.whole("What is new", page.to_html(changes, str(manifest.get("website", ""))))
    (folder / "whats_new.html").write_text(news, encoding="utf-8")
    for picture in sorted(STORE.glob("*.jpg")) + sorted(STORE.glob("*.png")):
        shutil.copy(picture, folder)


if __name__ == "__main__":
    try:
        main()
    except EnvironmentProblem as problem:
        sys.exit(str(problem))
