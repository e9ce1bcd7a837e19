"""Our solver beside Blender's Cloth modifier, in one run; from the root of the repository:

    make bench                       some minutes; writes benchmarks/results/
    make bench ARGS=--quick          less than a minute; writes nothing
    make bench ARGS="--substeps 10 40"

or, with a Python that has bpy, `python -m benchmarks.run`.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import time
from pathlib import Path
from typing import Any

from . import blender_cloth, cost, curtain, machine, ours, picture, report, stage

RESULTS = Path(__file__).resolve().parent / "results"
QUALITIES = (blender_cloth.DEFAULT_QUALITY, 2)
SIZES = (32, 64, 100)
QUICK_SIZES = (32, 64)
SUBDIVISIONS = (4, 5)
QUICK_SUBDIVISIONS = (4,)
FRAME = 1.0 / curtain.FRAME_RATE


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.run", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="no curtain of 100 × 100, no large balloon")
    parser.add_argument("--sizes", type=int, nargs="+", metavar="N", help="vertices along a side, instead of 32 64 100")
    parser.add_argument("--substeps", type=int, nargs="+", default=[], metavar="N", help="ours with these too")
    parser.add_argument("--output", type=Path, help="folder for the results, instead of benchmarks/results")
    options = parser.parse_args()
    if options.sizes and min(options.sizes) < 3:
        parser.error("a curtain has at least 3 vertices along a side")
    return options


def say(text: str = "") -> None:
    """Print a line now, also when the output is a file."""
    print(text, flush=True)


def main() -> None:
    """Measure, print, save."""
    options = arguments()
    begun = time.perf_counter()
    sizes = sorted(set(options.sizes or (QUICK_SIZES if options.quick else SIZES)))
    substeps = list(dict.fromkeys([ours.DEFAULT_SUBSTEPS, *options.substeps]))
    stage.empty()
    environment = machine.describe()
    environment["Load"] = f"{os.getloadavg()[0]:.1f} processes wanted a core when this began"
    say("\n".join(f"{name}: {value}" for name, value in environment.items()))

    say()
    races, kinds, split = [], [], {}
    for n in sizes:
        started = time.perf_counter()
        sheet = curtain.Curtain.of_size(n)
        own = [ours.Ours(sheet, count) for count in substeps]
        contestants = [*own, *(blender_cloth.BlenderCloth(sheet, quality) for quality in QUALITIES)]
        races += curtain.race(sheet, contestants)
        if n == sizes[-1]:
            try:
                split = cost.of_a_frame(own[0].simulation, FRAME)
                kinds += cost.of_constraints(own[0].simulation, f"curtain {n} × {n}", FRAME)
                kinds += cost.of_constraints(ours.workbench(sheet), f"soft pins {n} × {n}", FRAME)
            except ArithmeticError as error:  # the race has said so already; the rest is worth knowing
                say(f"curtain {n} × {n}: {error}")
        for contestant in contestants:
            contestant.close()
        say(f"curtain {n} × {n}: {time.perf_counter() - started:.0f} s")
    balloons = []
    for subdivisions in QUICK_SUBDIVISIONS if options.quick else SUBDIVISIONS:
        started = time.perf_counter()
        result, simulation = ours.balloon(subdivisions)
        balloons.append(result)
        say(f"balloon of {result.vertices} vertices: {time.perf_counter() - started:.0f} s")
    kinds += cost.of_constraints(simulation, f"balloon of {balloons[-1].vertices}", FRAME)
    kinds = cost.first_of_each(kinds)

    blender_settings = blender_cloth.stated_settings()
    text = "\n\n".join([
        "# Time and strain, ours beside Blender's Cloth",
        "Written by `make bench`.",
        "\n".join(f"- {name}: {value}" for name, value in environment.items()),
        "## Curtain: 1 m square, hung by two corners",
        report.curtains(races),
        report.verdict(races),
        "![CPU time against strain](curtain.svg)",
        report.notes(sizes[-1], blender_settings),
        f"## One frame of ours, curtain of {sizes[-1]} × {sizes[-1]}",
        report.parts(split),
        "## One constraint of ours, projected once",
        f"In the state after {curtain.FRAMES} frames, over and over.",
        report.kinds(kinds),
        "## Balloon of ours on a floor, blown up to 1.2 times its volume",
        report.balloons(balloons),
    ])  # fmt: skip
    say(f"\n{text}\n")
    folder = options.output or (None if options.quick or options.sizes else RESULTS)
    if folder:
        everything = {
            "environment": environment, "curtain": races, "kinds": kinds, "frame": split, "balloon": balloons,
            "blender_settings": blender_settings,
        }  # fmt: skip
        save(folder, text, everything, races)
        say(f"Written to {os.path.relpath(folder)}: curtain.md, curtain.json, curtain.svg")
    say(f"The whole run took {time.perf_counter() - begun:.0f} s.")


def save(folder: Path, text: str, everything: dict[str, Any], races: list[curtain.Result]) -> None:
    """Write the report, the figures behind it in SI units, and the picture."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "curtain.md").write_text(text + "\n", encoding="utf-8")
    figures = json.dumps(everything, default=dataclasses.asdict, indent=1, ensure_ascii=False)
    (folder / "curtain.json").write_text(figures.replace("NaN", "null") + "\n", encoding="utf-8")
    curves = report.curves(races)
    if curves:
        title = "Curtain: time against strain"
        subtitle = f"Square cloth hung by two corners, {curtain.FRAMES} frames; the lower left is better"
        (folder / "curtain.svg").write_text(picture.draw(curves, title, subtitle), encoding="utf-8")


if __name__ == "__main__":
    main()
