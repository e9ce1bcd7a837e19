"""Validate the extension and build its zip with Blender's own tool.

    python tools/build.py [--output-dir DIR]      default: dist

The tool is a file inside the bpy wheel. Run by a Python that has bpy, it is that one's; otherwise the
newest Blender's environment is made and used. The last line printed is the path of the zip.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import tomllib
import zipfile
from pathlib import Path

from environments import ROOT, EnvironmentProblem, newest, run, say

SHIPPED = {"__init__.py", "blender_manifest.toml", "LICENSE", "pbd_addon", "operators", "panels"}


def blender_tool(python: Path) -> Path:
    """Blender's extension builder in the environment of this Python."""
    where = "import importlib.util; print(importlib.util.find_spec('bpy').origin)"
    package = Path(run(python, "-c", where).stdout.strip()).parent
    return next(package.glob("*/scripts/addons_core/bl_pkg/cli/blender_ext.py"))


def check(archive: Path) -> None:
    """Refuse a zip with files that no user needs, or without one that every user needs."""
    with zipfile.ZipFile(archive) as zipped:
        names = [name for name in zipped.namelist() if not name.endswith("/")]
    wrong = {name.split("/")[0] for name in names} ^ SHIPPED
    if wrong:
        raise EnvironmentProblem(
            f"{archive.name} is not what is shipped ({', '.join(sorted(wrong))}): "
            "see paths_exclude_pattern in blender_manifest.toml."
        )
    say(f"{archive.name}: {len(names)} files, {archive.stat().st_size / 1024:.0f} KiB")


def main() -> None:
    """Validate, build, look into the zip."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output-dir", type=Path, default=ROOT / "dist")
    output = parser.parse_args().output_dir.resolve()
    output.mkdir(parents=True, exist_ok=True)
    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
    archive = output / f"{manifest['id']}-{manifest['version']}.zip"
    archive.unlink(missing_ok=True)

    python = Path(sys.executable) if importlib.util.find_spec("bpy") else newest()[1]
    tool = blender_tool(python)
    for command in (
        ("validate", ROOT),
        ("build", "--source-dir", ROOT, "--output-filepath", archive),
        ("validate", archive),
    ):
        done = run(python, tool, *command)
        if done.returncode:
            raise EnvironmentProblem(f"Blender's extension tool, {command[0]}:\n{done.stdout.strip()}")
    check(archive)
    say(str(archive))


if __name__ == "__main__":
    try:
        main()
    except EnvironmentProblem as problem:
        sys.exit(str(problem))
