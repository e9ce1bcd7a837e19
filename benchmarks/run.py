"""Our solver beside Blender's and pyPBD, each run in a process of its own; from the root of the repository:

    make bench                       everything: about 25 minutes on two cores; writes benchmarks/results/
    make bench ARGS=--quick          small scenes once, about three minutes; writes nothing
    make bench ARGS="--only curtain"
    make bench ARGS="--only truth"   whether the physics is true at the default settings
    make bench ARGS="--only truth --subjects damping sheets --backends numba"    a part of that; writes nothing
    make bench ARGS="--only bodies"  garments on figures, many objects, worst frames: half an hour
    make bench ARGS="--only contact --full"    some more minutes: finer sheets, Blender's own self distance
    make bench ARGS="--sizes 50 --rounds 5 --output /tmp/results"

or, with a Python that has bpy, `python -m benchmarks.run`. Leave the machine alone meanwhile.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pbd_addon.kernels import available

from . import bars, contact_report, contact_scenes, contestants, details_report, machine, picture, report
from .bodies import report as bodies_report, rows, shared
from .contact_race import ContactResult
from .curtain import FRAMES, Result
from .processes import Job, Processes
from .truth.check import Check, table

RESULTS = Path(__file__).resolve().parent / "results"
README = RESULTS.parent.parent / "README.md"
MARKERS = "<!-- {}: written by make bench -->", "<!-- {}: end -->"
"""What is between them in the README, for a part, is ours to write."""

SOLVERS = (contestants.OURS, contestants.CLOTH, contestants.DYNAMICS, contestants.PYPBD)
SIZES, QUICK_SIZES = (32, 64, 100, 200), (32, 64)
UNSTRUCTURED = 100
LARGE, MANY = 400, {"count": 100, "n": 14}
"""A curtain, of ours alone, and many small cloths in Blender."""

ROUNDS = 3
PATIENCE = 40.0
"""Wall time that the frames of a run may take [s]."""

SUBSTEPS_OF_MOTION = (10, 20, 40)


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.run", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--quick", action="store_true", help="only small sheets and balloons, one round")
    add("--only", nargs="+", choices=PARTS, default=list(PARTS), help="instead of all parts")
    add("--solvers", nargs="+", choices=SOLVERS, default=list(SOLVERS), help="curtain, contact: only these")
    add(
        "--full",
        action="store_true",
        help="contact: larger scenes, Blender's self distance; truth: what is compared with made anew",
    )
    add("--sizes", type=int, nargs="+", metavar="N", help="vertices along a side, instead of 32 64 100 200")
    add("--rounds", type=int, metavar="N", help=f"how often, at most (default {ROUNDS})")
    add("--frames", type=int, default=0, metavar="N", help=f"how many (default {FRAMES}, or the scene's)")
    add("--patience", type=float, default=PATIENCE, metavar="S", help="longest time of a run's frames (%(default)g s)")
    add("--substeps", type=int, nargs="+", default=[], metavar="N", help="curtain: ours with these too")
    add("--output", type=Path, metavar="FOLDER", help="for the results, instead of benchmarks/results")
    add("--subjects", nargs="+", choices=TRUTHS, default=list(TRUTHS), help="truth: only these")
    add(
        "--backends", nargs="+", choices=available(), default=available(), help="truth, bodies: only with these kernels"
    )
    add("--pypbd", type=Path, metavar="PYTHON", help="a Python that has pyPBD")
    options = parser.parse_args(words)
    if min(options.sizes or [3]) < 3:
        parser.error("a curtain has at least 3 vertices along a side")
    if options.rounds is None:
        options.rounds = 1 if options.quick else ROUNDS
    if options.rounds < 1 or options.frames < 0:
        parser.error("rounds and frames must be at least 1")
    return options


def say(text: str = "") -> None:
    """Print a line now, also when the output is a file."""
    print(text, flush=True)


def main() -> None:
    """Measure, print, save."""
    options = arguments()
    begun = time.perf_counter()
    environment = machine.describe()
    processes = Processes(options.pypbd, say)
    say("\n".join(f"{name}: {value}" for name, value in environment.items()))
    say("Starting Blender; Numba's kernels may have to be compiled, which takes up to a minute.\n")
    stated = processes.run({"task": "detail", "name": "details:machine"})
    if "trouble" in stated:
        raise SystemExit(f"Blender cannot be run here: {stated['trouble']}")
    for part in options.only:
        text, everything = PARTS[part](options, processes, stated)
        environment.update(processes.versions)
        said = "\n".join(f"- {name}: {value}" for name, value in environment.items())
        text = text.replace(ENVIRONMENT, f"Written by `make bench`.\n\n{said}")
        say(f"\n{text}\n")
        fewer = len(options.solvers) < len(SOLVERS) or len(options.subjects) < len(TRUTHS)
        fewer = fewer or len(options.backends) < len(available())
        partial = options.quick or options.sizes or options.frames or fewer
        folder = options.output or (None if partial else RESULTS)
        if folder:
            save(folder, part, text, {"environment": environment, "stated": stated, **everything})
            if folder == RESULTS and part in READMES:
                write_readme(part, READMES[part](everything[part], environment))
    say(f"The whole run took {(time.perf_counter() - begun) / 60.0:.1f} minutes.")


ENVIRONMENT = "ENVIRONMENT"
"""Stands in a text for what is known only when all has been run."""

Part = tuple[str, dict[str, Any]]


def hang(options: argparse.Namespace, processes: Processes, stated: dict[str, Any]) -> Part:
    """The curtain."""
    sizes = sorted(set(options.sizes or (QUICK_SIZES if options.quick else SIZES)))
    scenes = [(f"{n} × {n}", n, False) for n in sizes]
    if not options.quick and not options.sizes:
        scenes.append((f"{UNSTRUCTURED} × {UNSTRUCTURED}, unstructured", UNSTRUCTURED, True))
    frames = options.frames or FRAMES
    results, runs = [], []
    for name, n, unstructured in scenes:
        job: Job = {"task": "curtain", "scene": {"n": n, "unstructured": unstructured}, "frames": frames}
        who = [one for one in contestants.of_the_curtain(n, tuple(options.substeps)) if one.solver in options.solvers]
        for contestant, fields, each in timed(f"curtain {name}", processes.race, who, job, options):
            results.append(Result(name, n, contestant.solver, contestant.setting, **fields))
            runs.append({"scene": name, "contestant": contestant.name, "runs": each})
    held = bars.of_curtains(results)
    if not options.quick and not options.sizes and contestants.OURS in options.solvers:
        job = {"task": "curtain", "scene": {"n": LARGE}, "frames": frames}
        who = [contestants.ours("numba", False)]
        for _, fields, _ in timed(f"curtain {bars.LARGE}", processes.race, who, job, options):
            held += bars.of_curtains([Result(bars.LARGE, LARGE, contestants.OURS, bars.NUMBA, **fields)])
        held.append(bars.of_many(processes.run({"task": "detail", "name": "in_blender:many_cloths", **MANY})))
    text = "\n\n".join(part for part in (
        "# Time and strain of a curtain, ours beside Blender's and pyPBD",
        ENVIRONMENT,
        "## Curtain: 1 m square, hung by two corners",
        report.curtains(results),
        report.absent(processes.left_out),
        "## Beside Blender's main thread, and bars",
        bars.text(held),
        *report.verdicts(results),
        "![CPU time against strain](curtain.svg)",
        report.notes(sizes[-1], frames, stated["cloth"]),
    ) if part)  # fmt: skip
    return text, {"curtain": results, "bars": held, "runs": runs, "left_out": processes.left_out}


def touch(options: argparse.Namespace, processes: Processes, stated: dict[str, Any]) -> Part:
    """The scenes of contact."""
    if any(quick != slow for quick, slow in stated["checked"]):
        raise SystemExit(f"crossings are miscounted (count, brute force): {stated['checked']}")
    results, runs = [], []
    sizes = options.sizes or ((QUICK_SIZES[0],) if options.quick else (64, 100) if options.full else (64,))
    balloons = contact_scenes.BALLOONS[: 1 if options.quick else 3]
    plan = [] if options.quick else [("drape", n, False) for n in sizes]
    plan += [("drape", n, True) for n in sizes] + [("fold", sizes[0], True)]
    plan += [("balloon", subdivisions, False) for subdivisions in balloons]
    for kind, size, itself in plan:
        scene = {"kind": kind, "size": size, "self_collision": itself}
        name = contact_scenes.of_kind(**scene).name
        job: Job = {"task": "contact", "scene": scene, "frames": options.frames}
        who = [one for one in contestants.of_contact(itself, options.quick, options.full)
               if one.solver in options.solvers]  # fmt: skip
        for contestant, fields, each in timed(name, processes.race, who, job, options):
            results.append(ContactResult.of(name, contestant.solver, contestant.setting, fields))
            runs.append({"scene": name, "contestant": contestant.name, "runs": each})
    text = "\n\n".join(part for part in (
        "# Contact, ours beside Blender's Cloth",
        ENVIRONMENT,
        "## Time",
        contact_report.times(results),
        report.absent(processes.left_out),
        "## Beside Blender's main thread, and bars",
        bars.text(bars.of_contact(results)),
        "## What came out",
        contact_report.quality(results),
        "## How",
        contact_report.notes(contact_scenes.drape(sizes[0], True), stated["contact"], stated["checked"]),
    ) if part)  # fmt: skip
    return text, {"contact": results, "runs": runs, "left_out": processes.left_out}


def look_inside(options: argparse.Namespace, processes: Processes, stated: dict[str, Any]) -> Part:
    """What our solver costs, part by part."""
    n = max(options.sizes or [32 if options.quick else 100])
    subdivisions = (3,) if options.quick else (4, 5)

    def run(name: str, **arguments: Any) -> dict[str, Any]:
        started = time.perf_counter()
        result = processes.run({"task": "detail", "name": name, **arguments})
        trouble = result.get("trouble") or result.get("left_out") or "done"
        say(f"  {name} {', '.join(f'{key} {value}' for key, value in arguments.items())}: {trouble}; "
            f"{time.perf_counter() - started:.0f} s in all")  # fmt: skip
        return result

    say("ours")
    backends = available()
    found = {
        "costs": run("details:costs", n=n, subdivisions=subdivisions[-1]),
        "balloons": [run("details:balloon", subdivisions=s, kernels=kernels) for s in subdivisions
                     for kernels in backends],
        "motion": run("details:motion", n=min(n, 64), substeps=list(SUBSTEPS_OF_MOTION)),
        "memory": [run("details:memory", n=n, kernels=kernels, self_collision=itself) for kernels in backends
                   for itself in (False, True)],
        "cached": run("in_blender:cached_frame", n=n),
    }  # fmt: skip
    text = "\n\n".join(["# What our solver costs", ENVIRONMENT, *details_report.sections(found)])
    return text, found


TRUTHS: tuple[str, ...] = ("balloons", "bending", "loops", "drapes", "sheets", "motion", "damping", "price")
"""Files in `truth`, in the order of the report."""


def tell_truth(options: argparse.Namespace, processes: Processes, stated: dict[str, Any]) -> Part:
    """The physics at the default settings, subject by subject, in both backends, with fixed and automatic substeps."""
    parts, found = ["# Truth of the physics at the default settings", ENVIRONMENT], []
    for subject in options.subjects:
        for kernels in options.backends:
            for automatic in (False, True):
                started = time.perf_counter()
                job: Job = {
                    "task": "truth", "subject": subject, "kernels": kernels, "automatic": automatic,
                    "quick": options.quick, "full": options.full,
                }  # fmt: skip
                result = processes.run(job, limit=LONGEST_TRUTH)
                setting = f"{subject}, {kernels}, {'automatic' if automatic else 'default'} substeps"
                checks = [Check(**check) for check in result.get("checks", [])]
                held = table(checks) if checks else str(result.get("trouble"))
                say(f"  {setting}: {time.perf_counter() - started:.0f} s; {held.splitlines()[0]}")
                parts += [f"## {setting.capitalize()}", held]
                found.append({"setting": setting, **result})
    return "\n\n".join(parts), {"truth": found}


PATIENT = 400.0
"""Wall time after which a row of bodies begins no further frame [s]."""

BESIDE = (("drape", 64, False, 1 / 9), ("drape", 100, True, 1 / 7), ("fold", 64, True, 1 / 5))
"""Scenes of contact, and which share of the time of Blender's Cloth ours may take."""


def wear(options: argparse.Namespace, processes: Processes, stated: dict[str, Any]) -> Part:
    """Cloth on bodies from outside, many objects, frames under stress."""
    runs, blender = {}, {}
    wanted = [(name, "numba") for name in rows.ROWS]
    wanted += [key for each in rows.RATIOS for key in (each.one, each.other) if key[1] == "numpy"]
    for name, kernels in dict.fromkeys(key for key in wanted if key[1] in options.backends):
        job: Job = {"task": "bodies", "row": name, "kernels": kernels, "small": options.quick,
                    "frames": options.frames, "patience": PATIENT}  # fmt: skip
        run = runs[name, kernels] = processes.run(job, limit=2.0 * PATIENT)
        held = table([Check(**check) for check in run["checks"]]) if "checks" in run else str(run)
        say(f"  {rows.ROWS[name].case}, {kernels}: {held.splitlines()[0]}")
        if name in ("cape", "skirt") and kernels == "numba" and not options.quick:
            job = {"task": "detail", "name": "bodies.in_blender:dressed", "what": name, "frames": options.frames}
            blender[name] = processes.run(job, limit=2.0 * PATIENT)
    checks = bodies_report.ratios(runs)
    for kind, size, itself, bar in () if options.quick else BESIDE:
        scene = {"kind": kind, "size": size, "self_collision": itself}
        job = {"task": "contact", "scene": scene, "frames": options.frames}
        who = [one for one in contestants.of_contact(itself) if one.options.get("kernels") != "numpy"]
        name = contact_scenes.of_kind(**scene).name
        race = [(who.solver, fields.get("cpu", {}).get("mean", math.nan))
                for who, fields, _ in timed(name, processes.race, who, job, options)]  # fmt: skip
        checks += bodies_report.against_blender(name, race, bar)
    text = "\n\n".join(
        [
            "# Cloth on bodies, many objects, and the worst frame",
            ENVIRONMENT,
            "## Scenes",
            bodies_report.of_rows(runs, blender),
            "## Side by side",
            table(checks) if checks else "Nothing was compared.",
            "## How",
            bodies_report.notes([name for name in shared.FILES if shared.find(name)]),
        ]
    )
    named = [{"row": name, "kernels": kernels, **run} for (name, kernels), run in runs.items()]
    return text, {"bodies": named, "blender": blender, "ratios": [check._asdict() for check in checks]}


LONGEST_TRUTH = 3600.0
"""Wall time after which one subject in one setting is stopped [s]."""

PARTS: dict[str, Callable[[argparse.Namespace, Processes, dict[str, Any]], Part]] = {
    "curtain": hang,
    "contact": touch,
    "ours": look_inside,
    "truth": tell_truth,
    "bodies": wear,
}


def timed(name: str, race: Any, who: Any, job: Job, options: argparse.Namespace) -> Any:
    """A race, with its name and its time said."""
    say(name)
    started = time.perf_counter()
    results = race(who, job, options.rounds, options.patience)
    say(f"{name}: {time.perf_counter() - started:.0f} s\n")
    return results


def save(folder: Path, part: str, text: str, everything: dict[str, Any]) -> None:
    """Write the report, the figures behind it in SI units, and of the curtain the picture."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{part}.md").write_text(text + "\n", encoding="utf-8")
    figures = json.dumps(plain(everything), indent=1, ensure_ascii=False, allow_nan=False)
    (folder / f"{part}.json").write_text(figures + "\n", encoding="utf-8")
    written = [f"{part}.md", f"{part}.json"]
    curves = picture.curves(everything["curtain"]) if part == "curtain" else []
    if curves:
        (folder / "curtain.svg").write_text(picture.draw(curves), encoding="utf-8")
        written.append("curtain.svg")
    say(f"Written to {os.path.relpath(folder)}: {', '.join(written)}")


def plain(value: Any) -> Any:
    """The same as JSON knows it: no dataclasses, null for what is not a number."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = dataclasses.asdict(value)
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


READMES: dict[str, Callable[[Any, dict[str, str]], str]] = {
    "curtain": report.readme, "contact": contact_report.readme,
}  # fmt: skip
"""The README's table of a part."""


def write_readme(part: str, table: str) -> None:
    """Put the README's table of a part between its markers."""
    begin, end = (marker.format(part) for marker in MARKERS)
    before, _, rest = README.read_text(encoding="utf-8").partition(begin)
    _, _, after = rest.partition(end)
    if not after:
        raise SystemExit(f"README.md has lost the markers {begin} and {end}")
    README.write_text(f"{before}{begin}\n\n{table}\n\n{end}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
