"""Validate the extension and build its zips with Blender's own tool.

    python tools/build.py [--output-dir DIR] [--platforms [NAME ...]]      default: dist, no platforms

The zip pbd_cloth-VERSION.zip runs everywhere, with NumPy. Another one per platform bundles Numba for the Pythons in
`PYTHONS`; its wheels, pinned in pyproject.toml, are downloaded once, by pip into build/wheels.

The tool is a file inside the bpy wheel: that of the running Python, if it has bpy, or else of the newest Blender's
environment, which is created if needed. The last lines printed are the paths of the zips, the one for all platforms
first. If wheels are missing and cannot be downloaded, a sentence says so, and the exit code is 3.
"""

from __future__ import annotations

import argparse
import fcntl
import importlib.util
import os
import re
import shutil
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Collection
from pathlib import Path

from environments import BLENDERS, ROOT, EnvironmentProblem, newest, pins, run, say

SHIPPED = {"__init__.py", "blender_manifest.toml", "LICENSE", "pbd_addon", "operators", "panels"}

PLATFORMS = {
    "linux-x64": ("manylinux_2_27_x86_64", "manylinux_2_28_x86_64"),
    "windows-x64": ("win_amd64",),
    "macos-arm64": ("macosx_12_0_arm64",),
}
"""Platforms that Numba is bundled for, by Blender's names, and the wheels' tags of each."""

PYTHONS = tuple(dict.fromkeys([*(blender.python for blender in reversed(BLENDERS)), "3.14"]))
"""Pythons that Numba is bundled for: those of Blender itself, and the one that distributions build Blender with, as
Debian does. In another one Blender leaves Numba's wheels out, and NumPy computes."""

COMPILED_FOR_ONE_PYTHON = re.compile(r"\.(cpython-\d+|abi3)[^/]*\.so$|\.pyd$")
"""Names of extension modules, in wheels for Linux, macOS and Windows."""

PERMISSION = "Save bakes and presets on request, and compiled kernels"
"""What a zip with Numba writes to disk, in the words of the manifest."""

BUILD = ROOT / "build"
NO_WHEELS = 3


class WheelsMissing(EnvironmentProblem):
    """Wheels are missing and could not be downloaded."""


def blender_tool(python: Path) -> Path:
    """Blender's extension builder in the environment of this Python."""
    where = "import importlib.util; print(importlib.util.find_spec('bpy').origin)"
    package = Path(run(python, "-c", where).stdout.strip()).parent
    return next(package.glob("*/scripts/addons_core/bl_pkg/cli/blender_ext.py"))


def check(archive: Path, wheels: Collection[str]) -> None:
    """Refuse a zip that contains other files than `SHIPPED`, or lacks one."""
    with zipfile.ZipFile(archive) as zipped:
        names = {name for name in zipped.namelist() if not name.endswith("/")}
    bundled = {f"wheels/{name}" for name in wheels}
    wrong = ({name.split("/")[0] for name in names - bundled} ^ SHIPPED) | (bundled - names)
    if wrong:
        raise EnvironmentProblem(
            f"{archive.name} is not what is shipped ({', '.join(sorted(wrong))}): "
            "see paths_exclude_pattern in blender_manifest.toml."
        )
    size = archive.stat().st_size / 1024
    say(f"{archive.name}: {len(names)} files, {f'{size:.0f} KiB' if size < 1024 else f'{size / 1024:.0f} MiB'}")


def build(python: Path, source: Path, archive: Path, wheels: Collection[str]) -> None:
    """Validate the extension in a folder, build its zip, and check that."""
    tool = blender_tool(python)
    archive.unlink(missing_ok=True)
    for command in (
        ("validate", source),
        ("build", "--source-dir", source, "--output-filepath", archive),
        ("validate", archive),
    ):
        done = run(python, tool, *command)
        if done.returncode:
            raise EnvironmentProblem(f"Blender's extension tool, {command[0]}:\n{done.stdout.strip()}")
    check(archive, wheels)


def fetch_wheel(python: Path, pin: str, version: str, platform: str) -> Path:
    """The wheel of a pinned requirement for a Python ("3.11") and a platform, downloaded if it is missing.

    Raises:
        WheelsMissing: Pip could not download it.
    """
    folder = BUILD / "wheels"
    name, _, release = pin.partition("==")
    tag = f"cp{version.replace('.', '')}"

    def find() -> Path | None:
        found = folder.glob(f"{name}-{release}-{tag}-{tag}-*.whl")
        return next((wheel for wheel in found if any(tags in wheel.name for tags in PLATFORMS[platform])), None)

    if wheel := find():
        return wheel
    say(f"Downloading {pin} for {platform}, Python {version}")
    done = run(
        python, "-m", "pip", "download", "--quiet", "--no-input", "--disable-pip-version-check",
        "--progress-bar", "off", "--no-deps", "--only-binary=:all:", f"--python-version={version}",
        *(f"--platform={tag}" for tag in PLATFORMS[platform]), "--dest", folder, pin,
    )  # fmt: skip
    if done.returncode == 0 and (wheel := find()):
        return wheel
    reason = next((line for line in reversed(done.stdout.splitlines()) if line.strip()), "no answer")
    raise WheelsMissing(f"No zip for {platform}: pip could not download {pin} for Python {version} ({reason}).")


def bundled_name(wheel: Path) -> str:
    """The name under which a wheel is bundled: as one for every Python 3 if nothing in it was compiled for its own.

    So is llvmlite, which calls LLVM, 40 to 60 MB, through ctypes: its wheels of all Pythons hold the same. The file
    itself stays as it was published; Blender and pip go by its name.
    """
    with zipfile.ZipFile(wheel) as zipped:
        if any(COMPILED_FOR_ONE_PYTHON.search(name) for name in zipped.namelist()):
            return wheel.name
    name, release, _, _, tags = wheel.name.split("-")
    return f"{name}-{release}-py3-none-{tags}"


def fetch_wheels(python: Path, platform: str) -> dict[str, Path]:
    """Numba's wheels for a platform, for each of `PYTHONS` or for all, by the names that they are bundled under.

    NumPy is not among them: Blender has its own, and an extension must not bundle another.

    Raises:
        WheelsMissing: Pip could not download them.
    """
    folder = BUILD / "wheels"
    folder.mkdir(parents=True, exist_ok=True)
    wheels = {}
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # Tests build in two processes at once.
        for pin in pins("numba"):
            for version in PYTHONS:
                wheel = fetch_wheel(python, pin, version, platform)
                name = bundled_name(wheel)
                wheels[name] = wheel
                if name != wheel.name:
                    break
    return wheels


def platform_manifest(text: str, platform: str, wheels: Collection[str]) -> str:
    """The text of the extension's manifest for the zip with wheels of these names."""
    listed = "".join(f'  "./wheels/{name}",\n' for name in wheels)
    added = f'platforms = ["{platform}"]\nwheels = [\n{listed}]\n\n[permissions]\n'
    text, count = re.subn(r"^\[permissions\]\n", lambda _: added, text, flags=re.MULTILINE)
    text, said = re.subn(r'^files = ".*"$', f'files = "{PERMISSION}"', text, flags=re.MULTILINE)
    if (count, said) != (1, 1):
        raise EnvironmentProblem("blender_manifest.toml has no permission for files.")
    return text


def build_for(platform: str, python: Path, archive: Path) -> None:
    """Build the zip that bundles Numba for a platform."""
    wheels = fetch_wheels(python, platform)
    with tempfile.TemporaryDirectory(prefix="source-", dir=BUILD) as scratch:
        source = Path(scratch)
        for name in SHIPPED:
            shipped = ROOT / name
            if shipped.is_dir():
                shutil.copytree(shipped, source / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(shipped, source)
        (source / "wheels").mkdir()
        for name, wheel in wheels.items():
            os.link(wheel, source / "wheels" / name)
        manifest = source / "blender_manifest.toml"
        text = platform_manifest(manifest.read_text(encoding="utf-8"), platform, wheels)
        manifest.write_text(text, encoding="utf-8")
        build(python, source, archive, wheels)


def main() -> int:
    """Run the command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output-dir", type=Path, default=ROOT / "dist")
    parser.add_argument("--platforms", nargs="*", default=[], choices=PLATFORMS, metavar="NAME")
    arguments = parser.parse_args()
    output = arguments.output_dir.resolve()
    output.mkdir(parents=True, exist_ok=True)
    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
    name = f"{manifest['id']}-{manifest['version']}"

    python = Path(sys.executable) if importlib.util.find_spec("bpy") else newest()[1]
    archives = [output / f"{name}.zip"]
    build(python, ROOT, archives[0], [])
    code = 0
    for platform in arguments.platforms:
        archive = output / f"{name}-{platform.replace('-', '_')}.zip"
        archive.unlink(missing_ok=True)  # Better none than an old one.
        try:
            build_for(platform, python, archive)
        except WheelsMissing as problem:
            say(str(problem))
            code = NO_WHEELS
        else:
            archives.append(archive)
    say("\n".join(map(str, archives)))
    return code


if __name__ == "__main__":
    try:
        sys.exit(main())
    except EnvironmentProblem as problem:
        sys.exit(str(problem))
