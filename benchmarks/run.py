"""Our solver beside Blender's Cloth modifier, in one run; from the root of the repository:

    make bench                       some minutes; writes benchmarks/results/
    make bench ARGS=--quick          about a minute; writes nothing
    make bench ARGS="--only contact"
    make bench ARGS="--only contact --full"    some more minutes: finer sheets, Blender's own self distance
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

from pbd_addon.kernels import available

from . import (
    blender_cloth,
    contact_measures,
    contact_race,
    contact_report,
    contact_scenes,
    contact_solvers,
    cost,
    curtain,
    machine,
    ours,
    picture,
    report,
    stage,
)

PARTS = ("curtain", "contact")
CONTACT_SIZE = 64
BlenderSetting = tuple[str, float | None]
"""What mass Blender's Cloth has, see `contact_solvers`, and its self distance in edges, None for its default."""

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
    parser.add_argument("--quick", action="store_true", help="only small sheets and balloons")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), help="instead of both")
    parser.add_argument(
        "--full", action="store_true", help="contact: 100 × 100, a large balloon, and Blender's self distance too"
    )
    parser.add_argument(
        "--patience", type=float, default=contact_race.PATIENCE, metavar="S",
        help="contact: stop a solver after this much time in a scene [s] (default %(default)g)",
    )  # fmt: skip
    parser.add_argument(
        "--sizes", type=int, nargs="+", metavar="N", help="vertices along a side, instead of 32 64 100; contact: 64"
    )
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
    stage.empty()
    environment = machine.describe()
    environment["Load"] = f"{os.getloadavg()[0]:.1f} processes wanted a core when this began"
    say("\n".join(f"{name}: {value}" for name, value in environment.items()))
    say()
    if "curtain" in options.only:
        hang(options, environment)
    if "contact" in options.only:
        touch(options, environment)
    say(f"The whole run took {time.perf_counter() - begun:.0f} s.")


def hang(options: argparse.Namespace, environment: dict[str, str]) -> None:
    """The curtain, and what our constraints and balloons cost."""
    sizes = sorted(set(options.sizes or (QUICK_SIZES if options.quick else SIZES)))
    substeps = list(dict.fromkeys([ours.DEFAULT_SUBSTEPS, *options.substeps]))
    races, kinds, split = [], [], {}
    for n in sizes:
        started = time.perf_counter()
        sheet = curtain.Curtain.of_size(n)
        own = [ours.Ours(sheet, count) for count in substeps]
        own += [
            ours.Ours(sheet, ours.DEFAULT_SUBSTEPS, kernels, alone)
            for kernels in available()
            for alone in (True, False)
            if (kernels, alone) != ("numpy", True)
        ]
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
        save(folder, "curtain", text, everything)
        curves = report.curves(races)
        if curves:
            title = "Curtain: time against strain"
            subtitle = f"Square cloth hung by two corners, {curtain.FRAMES} frames; the lower left is better"
            (folder / "curtain.svg").write_text(picture.draw(curves, title, subtitle), encoding="utf-8")
        say(f"Written to {os.path.relpath(folder)}: curtain.md, curtain.json, curtain.svg")


def touch(options: argparse.Namespace, environment: dict[str, str]) -> None:
    """The scenes of contact."""
    checked = contact_measures.check()
    if any(quick != slow for quick, slow in checked):
        raise RuntimeError(f"crossings are miscounted (count, brute force): {checked}")
    results = []
    for scene, settings in contact_plan(options):
        started = time.perf_counter()
        contestants = [
            *(contact_solvers.OurContact(scene, kernels) for kernels in available()),
            *(contact_solvers.BlenderContact(scene, *s) for s in settings),
        ]
        came_out = contact_race.race(scene, contestants, options.patience)
        results += came_out
        say("\n".join(contact_report.line(result) for result in came_out))
        for contestant in contestants:
            contestant.close()
        say(f"{scene.name}: {time.perf_counter() - started:.0f} s")
    example = contact_scenes.drape(options.sizes[0] if options.sizes else CONTACT_SIZE, True)
    blender_settings = contact_solvers.stated_contact_settings(example)
    text = "\n\n".join([
        "# Contact, ours beside Blender's Cloth",
        "Written by `make bench`.",
        "\n".join(f"- {name}: {value}" for name, value in environment.items()),
        "## Time",
        contact_report.times(results),
        "## What came out",
        contact_report.quality(results),
        "## How",
        contact_report.notes(example, blender_settings, checked),
    ])  # fmt: skip
    say(f"\n{text}\n")
    folder = options.output or (None if options.quick or options.sizes else RESULTS)
    if folder:
        everything = {"environment": environment, "contact": results, "blender_settings": blender_settings}
        save(folder, "contact", text, everything)
        say(f"Written to {os.path.relpath(folder)}: contact.md, contact.json")


def contact_plan(options: argparse.Namespace) -> list[tuple[contact_scenes.ContactScene, list[BlenderSetting]]]:
    """The scenes, and of each one the settings that Blender runs with."""
    sizes = options.sizes or ((QUICK_SIZES[0],) if options.quick else (64, 100) if options.full else (CONTACT_SIZE,))
    balloons = contact_scenes.BALLOONS[: 1 if options.quick else 3 if options.full else 2]
    masses = (contact_solvers.DEFAULT, contact_solvers.LIGHT, contact_solvers.LIGHT_AND_STIFF)
    alone: list[BlenderSetting] = [(mass, None) for mass in masses]
    itself: list[BlenderSetting] = [(mass, contact_solvers.SELF_SHARE) for mass in masses]
    if options.full:
        itself += alone[:2]
    plan = [(contact_scenes.drape(n, False), alone) for n in sizes]
    plan += [(contact_scenes.drape(n, True), itself) for n in sizes]
    plan += [(contact_scenes.fold(n), itself) for n in sizes[:1]]
    return plan + [(contact_scenes.balloon(subdivisions), alone) for subdivisions in balloons]


def save(folder: Path, name: str, text: str, everything: dict[str, Any]) -> None:
    """Write the report and the figures behind it in SI units."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.md").write_text(text + "\n", encoding="utf-8")
    figures = json.dumps(everything, default=dataclasses.asdict, indent=1, ensure_ascii=False)
    (folder / f"{name}.json").write_text(figures.replace("NaN", "null") + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
