"""Run the tests in the supported Blenders whose Python is on this machine; progress meanwhile, one table at the end.

    python tools/run_tests.py [--part first] [--blender 4.5 ...] [--jobs 2] [-- PYTEST ARGUMENTS]

The first part is what to run while working: with the newest Blender, Python and NumPy all tests but those that are
marked slow, with the oldest what tells versions apart. The rest is the slow ones with the newest, all others with the
oldest but those that no version changes, and in the Blenders between them what most people do. All is both.

The physics tests need no Blender. Tests that leave the choice of kernels open, with and without Blender, compute with
Numba in the newest, in less time, and with NumPy in the others; samples and guides always with Numba; PBD_KERNELS
chooses otherwise.
Those that run once per backend, or with the fastest, run only there, unless arguments narrow the run.
Physics tests never share a process with the tests in tests/blender: there the add-on is an installed extension, here
`pbd_addon` is a plain package, and Blender objects to seeing both.

The last line printed is "N passed, N failed". The exit code is not 0 when a test failed, when none ran,
and when a Blender could not be run. One whose Python is not on this machine is left out, unless the
environment variable CI is set or there is no other.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from environments import ROOT, Blender, EnvironmentProblem, PythonMissing, prepare_blender, say, select
from progress import VARIABLE, Progress

STALL_LIMIT = 30 * 60
"""Longest time without a finished test [s]. The slowest test takes two minutes on an idle computer, so it passes on one
that is fifteen times as slow or busy; a suite as a whole has no limit."""

EXIT_LIMIT = 15
"""Longest time from the last test to the end of the process [s]. A handler that is still registered when
the interpreter exits makes the bpy module print forever."""

STEPS = 10
"""Equal parts of a suite's tests; when one is done, a line says so."""

SILENCE = 30.0
"""Longest time without a line about a running suite [s]."""

HASTE = 5.0
"""Shortest time between two lines about it [s]."""

OUTPUT_LIMIT = 100_000
"""Maximum number of characters of one suite's output that are kept."""

COMMON = ("operators", "playback", "bake", "lifecycle", "properties")
"""Tests in Blender of what most people do: the first part runs them in the oldest, the rest in those in between."""

NUMERIC = ("arguments", "body", "coloring", "frame_cache", "gradients", "mesh", "pc2", "simulation")
"""Physics tests in which an old NumPy can differ: indexing, types, files. In the first part with the oldest."""

ALONE = ("bad_input", "export", "full_disk", "guide_steps", "read_only", "rigged_kept", "soak", "tearing")
"""Tests that export glTF: in the oldest Blender each file has its own process. After such an export 4.2 always crashes
on exit, with or without this extension, and late in a long run it did so in another export and during garbage
collection."""

LONG = ("samples", "guide", "guide_steps", "plasticity")
"""Tests in Blender that simulate for long: they have a process of their own, with Numba."""

NO_TESTS_COLLECTED = 5
"""Pytest's exit code."""


@dataclasses.dataclass
class Suite:
    """One pytest process: what to run, where, and its result."""

    blender: Blender
    name: str
    python: Path
    arguments: list[str]
    kernels: str = ""
    """Kernels for tests that do not choose them, if not the default ones."""
    expected: float = 1.0
    """Its share of the whole, for the progress: CPU time where all its tests run [s], as measured."""
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0
    problem: str = ""
    """A problem other than failed tests."""
    output: str = ""
    progress: Progress = dataclasses.field(default_factory=Progress)
    finished: bool = False

    @property
    def title(self) -> str:
        """What its lines begin with."""
        return f"Blender {self.blender.label}, {self.name}"


class Board:
    """Says in a line how far a suite is and how far all are: at each tenth of its tests, and when nothing else happens.

    Args:
        suites: All that will run.
        live: Whether the output of the only suite is printed as it comes, which tells enough.
    """

    def __init__(self, suites: Sequence[Suite], live: bool = False) -> None:
        self.suites, self.live = suites, live
        self.began = time.monotonic()
        self.told: dict[int, tuple[int, float]] = {}
        """The step of a suite's last line and when it was said [s], by the suite's id."""

    def look(self, suite: Suite) -> None:
        """Say how far a suite is if it is time to."""
        now = time.monotonic()
        step = int(STEPS * suite.progress.part)
        before, when = self.told.setdefault(id(suite), (0, now))
        due = SILENCE if step == before else HASTE
        if self.live or (now - when < due and not suite.finished):
            return
        self.told[id(suite)] = step, now
        say(self.line(suite, now))

    def line(self, suite: Suite, now: float) -> str:
        """One line about a suite and the whole."""
        progress = suite.progress
        if progress.total:
            here = f"{progress.done} of {progress.total} ({percent(progress.part)}), {progress.failed} failed"
        else:
            here = "no tests" if suite.finished else "collecting tests"
        if suite.finished:
            here += f", took {suite.seconds:.0f} s"
        done = sum(other.expected * (1.0 if other.finished else other.progress.part) for other in self.suites)
        part = done / sum(other.expected for other in self.suites)
        return f"{suite.title}: {here}; all: {percent(part)}, {now - self.began:.0f} s"


def percent(part: float) -> str:
    """A part from 0 to 1 in words; it is 100 % only when nothing is left."""
    return f"{int(100 * part + 1e-9)} %"


def split_arguments(arguments: list[str]) -> tuple[list[str], list[str], list[str]]:
    """Pytest arguments, sorted into options, paths of physics tests and paths of tests in Blender."""
    options, physics, blender = [], [], []
    for argument in arguments:
        path = (ROOT / argument.split("::")[0]).resolve()
        if argument.startswith("-") or not path.exists() or path == ROOT:
            options.append(argument)
        elif path == ROOT / "tests":
            physics.append(argument)
            blender.append("tests/blender")
        elif path.is_relative_to(ROOT / "tests" / "blender"):
            blender.append(argument)
        else:
            physics.append(argument)
    if not physics and not blender:
        physics, blender = ["tests"], ["tests/blender"]
    return options, physics, blender


def plan(environments: list[tuple[Blender, Path]], part: str, arguments: list[str]) -> list[Suite]:
    """The suites of a part, "first", "rest" or "all"; if tests or folders are named, they run in each Blender."""
    options, physics, in_blender = split_arguments(arguments)
    # Physics tests run without Blender: the option keeps pytest out of its folder, even if bpy is installed. An empty
    # pythonpath keeps the extension's folder off sys.path, where Blender would refuse it.
    without, within = [*options, "--ignore=tests/blender"], [*options, "-o", "pythonpath="]
    common, numeric, alone, long = paths_of(COMMON), paths_of(NUMERIC, "tests"), paths_of(ALONE), paths_of(LONG)
    marked = any(option.startswith("-m") for option in options)
    quick = [] if marked else ["-m", "not slow"]
    telling = [] if marked else ["-m", "not slow and not newest"]
    shared = len(environments) > 1 and not arguments  # each backend has its Blender
    numba, numpy = ([f"--kernels={name}"] if shared else [] for name in ("numba", "numpy"))
    slow = [] if marked else ["-m", "slow"]
    of_newest, times = {
        "first": (quick, (300, 200, 60)),
        "rest": (slow, (200, 60, 10)),
        "all": ([], (500, 260, 70)),
    }[part]
    suites = []
    for blender, python in environments:
        chosen: list[tuple[str, list[str], float]] = []
        if (physics, in_blender) != (["tests"], ["tests/blender"]):
            chosen += [("physics", [*without, *physics], 1)] if physics else []
            chosen += [("blender", [*within, *in_blender], 1)] if in_blender else []
        elif blender is environments[-1][0]:
            chosen += [
                ("physics", [*without, *numba, *of_newest, "tests"], times[0]),
                ("blender", [*within, *of_newest, *ignored(long), "tests/blender"], times[1]),
                ("samples", [*within, *of_newest, *long], times[2]),
            ]
        elif blender is environments[0][0]:
            if part != "rest":
                chosen.append(("physics", [*without, *numpy, *telling, *numeric], 20))
                chosen.append(("blender", [*within, *quick, *common], 40))
            if part != "first":
                chosen.append(("physics, rest", [*without, *numpy, *telling, *ignored(numeric), "tests"], 100))
                rest = [*within, *telling, *ignored(common + alone + long), "tests/blender"]
                chosen.append(("blender, rest", rest, 100))
                chosen.append(("samples", [*within, *telling, *(path for path in long if path not in alone)], 30))
                chosen += [(name, [*within, *quick, path], 10) for name, path in zip(ALONE, alone)]
                # They are slow only because Numba compiles, which differs between Pythons.
                chosen.append(("backends", [*within, *slow, *paths_of(["backends"])], 40))
        elif part != "first":
            chosen.append(("blender", [*within, *quick, *common], 40))
        newest = blender is environments[-1][0]
        suites += [
            Suite(blender, name, python, selection, "numba" if newest or name == "samples" else "", expected)
            for name, selection, expected in chosen
        ]
    # The longest start first, or the other core would wait for them at the end. The newest Blender's physics tests
    # compile Numba's kernels for its other suites, so these come after the oldest's.
    return sorted(suites, key=lambda suite: (not suite.name.startswith("physics"), suite.python != environments[-1][1]))


def paths_of(names: Sequence[str], folder: str = "tests/blender") -> list[str]:
    """Test files by their names."""
    return [f"{folder}/test_{name}.py" for name in names]


def ignored(paths: list[str]) -> list[str]:
    """Options that exclude these files."""
    return [f"--ignore={path}" for path in paths]


def prepare(versions: list[str], part: str) -> tuple[list[tuple[Blender, Path]], dict[Blender, str], bool]:
    """Environments to test in, oldest first, problems of others, and whether one of these was required.

    The first part needs only the oldest and the newest of those whose Python is installed.
    """
    wanted = select(versions)
    ends_alone = part == "first" and not versions
    orders = [wanted[::-1], wanted] if ends_alone else [[blender] for blender in wanted]
    with ThreadPoolExecutor(max_workers=2) as pool:  # it is pip that takes long, on one core
        tried = {blender: result for found in pool.map(until_ready, orders) for blender, result in found.items()}
    ready = [(blender, tried[blender]) for blender in wanted if isinstance(tried.get(blender), Path)]
    absent = {blender: problem for blender, problem in tried.items() if isinstance(problem, EnvironmentProblem)}
    needed = bool(os.environ.get("CI")) or any(not isinstance(problem, PythonMissing) for problem in absent.values())
    return ready, {blender: str(problem) for blender, problem in absent.items()}, needed


def until_ready(order: list[Blender]) -> dict[Blender, Path | EnvironmentProblem]:
    """The first environment of an order that can be made, and the problems of those before it."""
    found: dict[Blender, Path | EnvironmentProblem] = {}
    for blender in order:
        try:
            found[blender] = prepare_blender(blender)
            break
        except EnvironmentProblem as problem:
            found[blender] = problem
    return found


def execute(suite: Suite, board: Board) -> Suite:
    """Run one suite and fill in its result.

    Args:
        suite: What to run; changed in place.
        board: Told how far it is.
    """
    say(f"Running {suite.title}")
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="pbd_tests_") as scratch:
        results = Path(scratch) / "results.xml"
        log = Path(scratch) / "log.txt"
        progress = Path(scratch) / "progress.txt"
        resources = Path(scratch) / "blender"
        resources.mkdir()
        # An empty profile: tests must neither depend on nor change the user's preferences.
        environment = {**os.environ, "BLENDER_USER_RESOURCES": str(resources), "PYTHONDONTWRITEBYTECODE": "1"}
        environment[VARIABLE] = str(progress)
        if suite.kernels:
            environment.setdefault("PBD_KERNELS", suite.kernels)
        command = [suite.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={results}"]
        command += ["-p", "tools.progress"]
        with log.open("wb") as sink:
            process = subprocess.Popen(
                [*command, *suite.arguments], cwd=ROOT, env=environment, stdin=subprocess.DEVNULL,
                stdout=sink, stderr=subprocess.STDOUT,
            )  # fmt: skip
            suite.problem = wait(process, suite, board, results, log, progress)
        with log.open("rb") as source:
            suite.output = source.read(OUTPUT_LIMIT).decode(errors="replace")
        if results.exists():
            count(suite, results)
        elif not suite.problem and process.returncode == 0:
            suite.problem = "pytest left no results"
    if process.returncode < 0 and not suite.problem:
        suite.problem = f"Blender crashed with {signal.Signals(-process.returncode).name}"
    elif process.returncode not in (0, 1, NO_TESTS_COLLECTED) and not suite.problem:
        suite.problem = f"pytest ended with code {process.returncode}"
    elif process.returncode == 1 and not suite.failed:
        suite.problem = "pytest ended with code 1 though no test failed"
    if suite.problem and not suite.failed:
        suite.failed = 1  # So that the total of a broken run is not "0 failed".
    suite.seconds = time.monotonic() - started
    suite.finished = True
    board.look(suite)
    return suite


def wait(process: subprocess.Popen[bytes], suite: Suite, board: Board, results: Path, log: Path, progress: Path) -> str:
    """Wait for the process, and tell how far it is; kill it when it hangs, and say so."""
    finished, ended, moved = None, False, time.monotonic()
    with log.open("rb") as source:
        while not ended:
            ended = process.poll() is not None
            time.sleep(0.1)
            now = time.monotonic()
            suite.progress = Progress.read(progress)
            board.look(suite)
            said = source.read()  # Pytest prints something after each test.
            if said:
                moved = now
                if board.live:
                    sys.stdout.write(said.decode(errors="replace"))
                    sys.stdout.flush()
            if ended:
                break
            if finished is None and results.exists():
                finished = now
            if finished is not None and now - finished > EXIT_LIMIT:
                process.kill()
                process.wait()
                return "the process did not end after the last test: a handler is still registered"
            if now - moved > STALL_LIMIT:
                process.kill()
                process.wait()
                return f"stopped: no test finished for {STALL_LIMIT // 60} minutes"
    return ""


def count(suite: Suite, results: Path) -> None:
    """Read the figures of pytest's JUnit file; an error counts as a failure."""
    try:
        totals = ElementTree.parse(results).getroot().iter("testsuite")
        for total in totals:
            suite.failed += int(total.get("failures", 0)) + int(total.get("errors", 0))
            suite.skipped += int(total.get("skipped", 0))
            suite.passed += int(total.get("tests", 0))
    except ElementTree.ParseError:
        suite.problem = suite.problem or "pytest's results were cut short"
    suite.passed = max(suite.passed - suite.failed - suite.skipped, 0)


def report(suite: Suite, live: bool) -> None:
    """Print the output of a finished suite, under a heading, unless it was printed live."""
    if not live:
        say(f"\n======== {suite.title} ({suite.seconds:.0f} s)")
        say(suite.output.strip())
    if suite.problem:
        say(f"PROBLEM: {suite.problem}")


def table(suites: list[Suite], absent: dict[Blender, str]) -> None:
    """Print one line per suite, and one per Blender that could not run."""
    say(
        f"\n{'Blender':<9}{'Python':<8}{'NumPy':<8}{'tests':<13}{'passed':>7}{'failed':>8}{'skipped':>9}"
        f"{'time':>8}{'CPU':>8}"
    )
    for suite in suites:
        blender = suite.blender
        figures = f"{suite.passed:>7}{suite.failed:>8}{suite.skipped:>9}"
        figures += f"{suite.seconds:>6.0f} s{suite.progress.cpu:>6.0f} s"
        where = f"{blender.label:<9}{blender.python:<8}{blender.numpy:<8}"
        say(f"{where}{suite.name:<13}{figures}  {suite.problem}".rstrip())
    for blender in absent:
        say(f"{blender.label:<9}{blender.python:<8}{blender.numpy:<8}not run")
    for problem in absent.values():
        say(problem)


def main() -> int:
    """Create the environments, run the suites, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=["first", "rest", "all"], default="first", help="which tests")
    parser.add_argument("--blender", nargs="*", default=[], help="only these versions")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="suites at a time")
    parser.add_argument("pytest", nargs="*", help="arguments for pytest, after --")
    options = parser.parse_args()
    extra = options.pytest

    environments, absent, needed = prepare(options.blender, options.part)
    suites = plan(environments, options.part, extra)
    board = Board(suites, live=len(suites) == 1)
    with ThreadPoolExecutor(max_workers=max(options.jobs, 1)) as pool:
        for suite in pool.map(lambda suite: execute(suite, board), suites):
            report(suite, board.live)
    table(suites, absent)
    say(f"All suites took {time.monotonic() - board.began:.0f} s.")

    passed, failed = sum(suite.passed for suite in suites), sum(suite.failed for suite in suites)
    good = not failed
    if not environments:
        say("No supported Blender could be run: see above for what to install.")
        good = False
    elif passed + failed == 0:
        say("No test ran.")
        good = False
    elif not extra:
        for suite in suites:
            if suite.passed + suite.failed == 0:
                say(f"{suite.title}: no test ran.")
                good = False
    if absent and needed:
        say("Not every Blender that should run here could.")
        good = False
    say(f"{passed} passed, {failed} failed")
    return 0 if good else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except EnvironmentProblem as problem:
        sys.exit(str(problem))
