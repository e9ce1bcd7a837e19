"""Build the sample scenes, with the extension's own operators and properties, in real Blender.

    python sample_blends/make_samples.py [--output DIR] [NAME ...]

Needs the bpy module. The files in this folder are to open in every supported Blender, and none opens what a newer
one has saved; so the oldest saves them:

    python tools/environments.py setup 4.2
    .venvs/blender-4.2/bin/python sample_blends/make_samples.py

With `--output`, into another folder, any Blender may save. What is in the scenes stands in the modules that
`samples.py` lists. They are in the public domain (CC0).
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
OLDEST = "4.2"


def load_tool(name: str) -> object:
    """A module of tools/, which is no package; nothing of this repository goes onto sys.path."""
    spec = importlib.util.spec_from_file_location(name, HERE.parent / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    """Build the samples that are asked for, all of them by default."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="curtain, flag, ...; default: all")
    parser.add_argument("--output", type=Path, default=HERE, help="folder for the files; default: this one")
    arguments = parser.parse_args()

    output = arguments.output.resolve()
    blender = importlib.metadata.version("bpy")
    if output == HERE and not blender.startswith(f"{OLDEST}."):
        sys.exit(
            f"Blender {blender} would save files that Blender {OLDEST} cannot open: "
            "run this with the oldest one, or write elsewhere with --output"
        )
    with load_tool("extension").installed():
        # Only now: Blender takes its profile from the environment when it is first imported.
        import kit
        import samples

        known = samples.SAMPLES
        unknown = set(arguments.names) - set(known)
        if unknown:
            sys.exit(f"There is no sample {', '.join(sorted(unknown))}, only {', '.join(known)}")
        output.mkdir(parents=True, exist_ok=True)
        for name in arguments.names or known:
            known[name]()
            path = output / f"{name}.blend"
            kit.save(path)
            print(f"{path.name}: {path.stat().st_size / 1024:.0f} KiB", flush=True)


if __name__ == "__main__":
    main()
