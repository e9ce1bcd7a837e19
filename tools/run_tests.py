"""Run the tests in the supported Blenders whose Python is on this machine; progress meanwhile, one table at the end.

    python tools/run_tests.py [--all] [--blender 4.5 ...] [--jobs 2] [-- PYTEST ARGUMENTS]

What to run while working: with the newest Blender, Python and NumPy all tests but those that are marked slow, with the
oldest what tells versions apart. `--all` adds the slow ones, in the oldest all others but those that no version
changes, and in the Blenders between them what most people do.

The physics tests need no Blender. Tests that leave the choice of kernels open compute with Numba in the newest, in less
time, and with NumPy in the others; what is long in the oldest Blender with Numba too; PBD_KERNELS chooses otherwise.
Those that run once per backend, or with the fastest, run only there, unless arguments narrow the run.
Physics tests never share a process with the tests in tests/blender: there the add-on is an installed extension, here
`pbd_addon` is a plain package, and Blender objects to seeing both.

The last line printed is "N passed, N failed". The exit code is not 0 when a test failed, when none ran,
and when a Blender could not be run. One whose Python is not on this machine is left out, unless the
environment variable CI is set or there is no other.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from environments import ROOT, Blender, EnvironmentProblem, PythonMissing, prepare_blender, python_of, say, select
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
"""Tests in Blender of what most people do: in every Blender, and while working in the oldest."""

NUMERIC = ("arguments", "body", "coloring", "frame_cache", "gradients", "mesh", "pc2", "simulation")
"""Physics tests in which an old NumPy can differ: indexing, types, files. With the oldest while working."""

ALONE = (
    *("bad_input", "export", "full_disk", "guide_steps", "loop", "proxy", "read_only", "rigged_kept", "soak"),
    *("tearing", "vertex_animation"),
)
"""Tests that export glTF: in the oldest Blender each file has its own process. After such an export 4.2 always crashes
on exit, with or without this extension, and late in a long run it did so in another export and during garbage
collection."""

BESIDE_CONTACT = ("foil", "volume")
"""Physics tests that run with those of contact, so that both cores are done at about the same time."""

LONG = ("samples", "guide", "guide_steps", "plasticity")
"""Tests in Blender that simulate for long: they have a process of their own, with Numba."""

NO_TESTS_COLLECTED = 5
"""Pytest's exit code."""


@dataclasses.dataclass
class Suite:
    """One pytest process: what to run, where, and its result."""

    blender: Blender
    name: str
    arguments: list[str]
    expected: float = 1.0
    """Its share of the whole, for the progress: about its CPU time, as in the table at the end [s]."""
    kernels: str = ""
    """Kernels for tests that do not choose them, if not the default ones."""
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

    @property
    def failed(self) -> int:
        """Failed tests; one at least after another problem, so that the total of a broken run is not "0 failed"."""
        return max(self.progress.failed, int(bool(self.problem)))


class Board:
    """Says in a line how far a suite is and how far all are: at each tenth of its tests, and when nothing else happens.

    Args:
        suites: All that will run.
    """

    def __init__(self, suites: Sequence[Suite]) -> None:
        self.suites = suites
        self.live = len(suites) == 1
        """Whether the output of the only suite is printed as it comes, which tells enough."""
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
    return options, physics, blender


def plan(blenders: list[Blender], everything: bool, arguments: list[str]) -> list[Suite]:
    """The suites for some Blenders, oldest first; if tests or folders are named, they run in each.

    They start in this order, the longest of those that may as early as possible, or the other core would wait for them
    at the end. The first suite of the newest and of the oldest compiles Numba's kernels for their others.
    """
    options, physics, in_blender = split_arguments(arguments)
    # Physics tests run without Blender: the option keeps pytest out of its folder, even if bpy is installed. An empty
    # pythonpath keeps the extension's folder off sys.path, where Blender would refuse it.
    without, within = [*options, "--ignore=tests/blender"], [*options, "-o", "pythonpath="]
    if physics or in_blender:
        named = [("physics", [*without, *physics]), ("blender", [*within, *in_blender])]
        chosen = [(name, selection) for name, selection in named if selection[-1] in physics + in_blender]
        return [
            Suite(blender, name, selection, kernels="numba" if blender is blenders[-1] else "")
            for blender in blenders
            for name, selection in chosen
        ]

    def marked(text: str) -> list[str]:
        return [] if not text or any(option.startswith("-m") for option in options) else ["-m", text]

    numba, numpy = ([f"--kernels={name}"] if len(blenders) > 1 and not options else [] for name in ("numba", "numpy"))
    quick, telling = marked("not slow"), marked("not slow and not newest")
    contact = [str(path.relative_to(ROOT)) for path in sorted(ROOT.glob("tests/test_contact*.py"))]
    contact += paths_of(BESIDE_CONTACT, "tests")
    common, alone, long, backends = (paths_of(names) for names in (COMMON, ALONE, LONG, ["backends"]))
    newest, oldest = blenders[-1], blenders[0]
    apart = backends if everything and oldest is not newest else []

    def of_newest(name: str, selection: list[str], *paths: str, expected: tuple[float, float]) -> Suite:
        some = [] if everything else quick
        return Suite(newest, name, [*selection, *some, *paths], expected[everything], "numba")

    first = of_newest("physics", without + numba, *ignored(contact), "tests", expected=(365, 480))
    suites = [
        of_newest("blender", within, *ignored(long + apart), "tests/blender", expected=(265, 290)),
        of_newest("contact", without + numba, *contact, expected=(45, 240)),
        of_newest("samples", within, *long, expected=(50, 285)),
    ]
    if oldest is newest:
        return [first, *suites]
    compiling = [Suite(blender, "backends", [*within, *apart], 75) for blender in (newest, oldest) if apart]
    if everything:
        between = [Suite(oldest, "physics", [*without, *numpy, *telling, "tests"], 150)]
        suites += [
            Suite(
                *(oldest, "blender", [*within, *telling, "--corners", *ignored(alone + apart), "tests/blender"]),
                *(120, "numba"),
            ),
            *(Suite(blender, "blender", [*within, *telling, "--corners", *common], 25) for blender in blenders[1:-1]),
            *(Suite(oldest, name, [*within, *telling, "--corners", path], 6) for name, path in zip(ALONE, alone)),
        ]
    else:
        between = [
            Suite(oldest, "physics", [*without, *numpy, *telling, *paths_of(NUMERIC, "tests")], 15),
            Suite(oldest, "blender", [*within, *quick, *common], 30),
        ]
    return [*compiling, first, *between, *sorted(suites, key=lambda suite: -suite.expected)]


def paths_of(names: Sequence[str], folder: str = "tests/blender") -> list[str]:
    """Test files by their names."""
    return [f"{folder}/test_{name}.py" for name in names]


def ignored(paths: list[str]) -> list[str]:
    """Options that exclude these files."""
    return [f"--ignore={path}" for path in paths]


def find_blenders(versions: list[str], everything: bool) -> tuple[list[Blender], dict[Blender, str]]:
    """Blenders to test in, oldest first, and why others cannot be: their Python is not on this machine."""
    found, absent = [], {}
    for blender in select(versions):
        try:
            python_of(blender)
            found.append(blender)
        except PythonMissing as problem:
            absent[blender] = str(problem)
    return found if everything or versions else list(dict.fromkeys(found[:1] + found[-1:])), absent


def execute(suite: Suite, board: Board) -> Suite:
    """Run one suite in its environment, which is made if needed, and fill in its result.

    Args:
        suite: What to run; changed in place.
        board: Told how far it is.
    """
    say(f"Running {suite.title}")
    started = time.monotonic()
    try:
        run_pytest(suite, prepare_blender(suite.blender), board)
    except EnvironmentProblem as problem:
        suite.problem = str(problem)
    suite.seconds = time.monotonic() - started
    suite.finished = True
    board.look(suite)
    return suite


def run_pytest(suite: Suite, python: Path, board: Board) -> None:
    """Run a suite's process."""
    with tempfile.TemporaryDirectory(prefix="pbd_tests_") as scratch:
        progress, resources = Path(scratch) / "progress.txt", Path(scratch) / "blender"
        resources.mkdir()
        # An empty profile: tests must neither depend on nor change the user's preferences.
        environment = {**os.environ, "BLENDER_USER_RESOURCES": str(resources), "PYTHONDONTWRITEBYTECODE": "1"}
        environment[VARIABLE] = str(progress)
        environment.setdefault("OPENBLAS_NUM_THREADS", "1")  # Two suites share the cores: more threads wait for them.
        if suite.kernels:
            environment.setdefault("PBD_KERNELS", suite.kernels)
        command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tools.progress", *suite.arguments]
        with (Path(scratch) / "log.txt").open("w+b") as log:
            process = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL,
                stdout=None if board.live else log, stderr=subprocess.STDOUT,
            )  # fmt: skip
            suite.problem = wait(process, suite, board, progress)
            log.seek(0)
            suite.output = log.read(OUTPUT_LIMIT).decode(errors="replace").strip()


def wait(process: subprocess.Popen[bytes], suite: Suite, board: Board, file: Path) -> str:
    """Wait for the process, and tell how far it is; kill it when it hangs. Returns what went wrong but for tests."""
    moved = time.monotonic()
    while process.returncode is None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.1)
        now, before = time.monotonic(), suite.progress
        suite.progress = Progress.read(file)
        board.look(suite)
        if suite.progress != before:
            moved = now
        elif now - moved > (EXIT_LIMIT if suite.progress.ended else STALL_LIMIT):
            process.kill()
            process.wait()
            if suite.progress.ended:
                return "the process did not end after the last test: a handler is still registered"
            return f"stopped: no test finished for {STALL_LIMIT // 60} minutes"
    if process.returncode < 0:
        return f"Blender crashed with {signal.Signals(-process.returncode).name}"
    if process.returncode not in (0, 1, NO_TESTS_COLLECTED):
        return f"pytest ended with code {process.returncode}"
    if bool(suite.progress.failed) != (process.returncode == 1):
        return f"pytest ended with code {process.returncode} after {suite.progress.failed} failed tests"
    return "" if suite.progress.ended else "pytest did not say that it came to an end"


def report(suite: Suite) -> None:
    """Print the output of a finished suite, under a heading, unless it was printed as it came; and its problem."""
    if suite.output:
        say(f"\n======== {suite.title} ({suite.seconds:.0f} s)\n{suite.output}")
    if suite.problem:
        say(f"PROBLEM: {suite.problem}")


def table(suites: list[Suite], absent: dict[Blender, str]) -> None:
    """Print one line per suite, and one per Blender that could not run."""
    say(
        f"\n{'Blender':<9}{'Python':<8}{'NumPy':<8}{'tests':<13}{'passed':>7}{'failed':>8}{'skipped':>9}"
        f"{'time':>8}{'CPU':>8}"
    )
    for suite in suites:
        blender, progress = suite.blender, suite.progress
        figures = f"{progress.passed:>7}{suite.failed:>8}{progress.skipped:>9}"
        figures += f"{suite.seconds:>6.0f} s{progress.cpu:>6.0f} s"
        where = f"{blender.label:<9}{blender.python:<8}{blender.numpy:<8}"
        say(f"{where}{suite.name:<13}{figures}  {suite.problem}".rstrip())
    for blender in absent:
        say(f"{blender.label:<9}{blender.python:<8}{blender.numpy:<8}not run")
    for problem in absent.values():
        say(problem)


def main() -> int:
    """Run the suites, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="all tests in all Blenders")
    parser.add_argument("--blender", nargs="*", default=[], help="only these versions")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="suites at a time")
    parser.add_argument("pytest", nargs="*", help="arguments for pytest, after --")
    options = parser.parse_args()

    blenders, absent = find_blenders(options.blender, options.all)
    suites = plan(blenders, options.all, options.pytest) if blenders else []
    board = Board(suites)
    with ThreadPoolExecutor(max_workers=max(options.jobs, 1)) as pool:
        for suite in pool.map(lambda suite: execute(suite, board), suites):
            report(suite)
    table(suites, absent)
    say(f"All suites took {time.monotonic() - board.began:.0f} s.")

    passed, failed = sum(suite.progress.passed for suite in suites), sum(suite.failed for suite in suites)
    good = not failed
    if not blenders:
        say("No supported Blender could be run: see above for what to install.")
        good = False
    elif passed + failed == 0:
        say("No test ran.")
        good = False
    elif not options.pytest:
        for suite in suites:
            if suite.progress.passed + suite.failed == 0:
                say(f"{suite.title}: no test ran.")
                good = False
    if absent and os.environ.get("CI"):
        say("Not every Blender that should run here could.")
        good = False
    say(f"{passed} passed, {failed} failed")
    return 0 if good else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except EnvironmentProblem as problem:
        sys.exit(str(problem))
