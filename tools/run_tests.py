"""Run the tests in every supported Blender whose Python is on this machine; one table at the end.

    python tools/run_tests.py [--blender 4.5 ...] [--jobs 2] [-- PYTEST ARGUMENTS]

The physics tests need no Blender and run with the Python and NumPy of the oldest and of the newest; the
tests in tests/blender run in each Blender, in those between the oldest and the newest only what most
people do; those that are marked slow run with the newest alone. The two never share a process: there the
add-on is an installed extension, here `pbd_addon` is a plain package, and Blender objects to seeing both.

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
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from environments import ROOT, Blender, EnvironmentProblem, PythonMissing, prepare_blender, say, select

TIME_LIMIT = 25 * 60
"""Longest time for one suite [s]."""

EXIT_LIMIT = 15
"""Longest time from the last test to the end of the process [s]. A handler that is still registered when
the interpreter ends makes the bpy module print for ever."""

OUTPUT_LIMIT = 100_000
"""Most characters of one suite's output that are kept."""

BETWEEN = ("operators", "playback", "bake", "lifecycle", "properties")
"""Tests in Blender that also run in the versions between the oldest and the newest."""

ALONE = ("export", "full_disk", "guide_steps", "read_only", "soak")
"""Tests that export glTF: each file has a process of its own in the oldest Blender. After such an export 4.2 always
crashes at its end, with or without this extension, and once it did in the middle of an export late in a long run."""

NO_TESTS_COLLECTED = 5
"""Pytest's exit code."""


@dataclasses.dataclass
class Suite:
    """One pytest process: what to run where, and how it went."""

    blender: Blender
    name: str
    python: Path
    arguments: list[str]
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0
    problem: str = ""
    """What went wrong besides tests that failed."""
    output: str = ""


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


def plan(environments: list[tuple[Blender, Path]], arguments: list[str]) -> list[Suite]:
    """The suites to run: physics with the oldest and the newest Python and NumPy, Blender's everywhere."""
    options, physics, in_blender = split_arguments(arguments)
    suites = []
    for blender, python in environments:
        newest, oldest = blender is environments[-1][0], blender is environments[0][0]
        quick = [] if newest or any(option.startswith("-m") for option in options) else ["-m", "not slow"]
        if physics and (newest or oldest):
            # Without Blender means without: the option keeps pytest out of the folder though bpy is there.
            suites.append(Suite(blender, "physics", python, [*options, *quick, "--ignore=tests/blender", *physics]))
        if in_blender:
            paths = in_blender
            if not (newest or oldest) and paths == ["tests/blender"]:
                paths = [f"tests/blender/test_{name}.py" for name in BETWEEN]
            # An empty pythonpath keeps the extension's folder off sys.path, where Blender would refuse it.
            quick += ["-o", "pythonpath="]
            alone = [f"tests/blender/test_{name}.py" for name in ALONE if oldest and paths == ["tests/blender"]]
            rest = [*paths, *(f"--ignore={path}" for path in alone)]
            suites.append(Suite(blender, "blender", python, [*options, *quick, *rest]))
            suites += [Suite(blender, Path(path).stem[5:], python, [*options, *quick, path]) for path in alone]
    # The longest begins first, or the other core waits for it at the end.
    return sorted(suites, key=lambda suite: "not slow" in suite.arguments)


def execute(suite: Suite, live: bool) -> Suite:
    """Run one suite and fill in how it went.

    Args:
        suite: What to run; changed in place.
        live: Print the output as it comes instead of keeping it.
    """
    say(f"Running Blender {suite.blender.label}, {suite.name}")
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="pbd_tests_") as scratch:
        results = Path(scratch) / "results.xml"
        log = Path(scratch) / "log.txt"
        resources = Path(scratch) / "blender"
        resources.mkdir()
        # An empty profile: no test may depend on, or touch, what the person at this machine has set up.
        environment = {**os.environ, "BLENDER_USER_RESOURCES": str(resources), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [suite.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={results}"]
        with log.open("wb") as sink:
            process = subprocess.Popen(
                [*command, *suite.arguments], cwd=ROOT, env=environment, stdin=subprocess.DEVNULL,
                stdout=None if live else sink, stderr=None if live else subprocess.STDOUT,
            )  # fmt: skip
            suite.problem = wait(process, results, started)
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
        suite.failed = 1  # so that no total of a run that went wrong says "0 failed"
    suite.seconds = time.monotonic() - started
    return suite


def wait(process: subprocess.Popen[bytes], results: Path, started: float) -> str:
    """Wait for the process; kill it when it hangs, and say so."""
    finished = None
    while process.poll() is None:
        time.sleep(0.1)
        now = time.monotonic()
        if finished is None and results.exists():
            finished = now
        if finished is not None and now - finished > EXIT_LIMIT:
            process.kill()
            process.wait()
            return "the process did not end after the last test: a handler is still registered"
        if now - started > TIME_LIMIT:
            process.kill()
            process.wait()
            return f"stopped after {TIME_LIMIT // 60} minutes"
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
    """What a finished suite printed, under a heading, unless it was seen already."""
    if not live:
        say(f"\n======== Blender {suite.blender.label}, {suite.name} ({suite.seconds:.0f} s)")
        say(suite.output.strip())
    if suite.problem:
        say(f"PROBLEM: {suite.problem}")


def table(suites: list[Suite], absent: dict[Blender, str]) -> None:
    """One line per suite, and one per Blender that could not be run."""
    say(f"\n{'Blender':<9}{'Python':<8}{'NumPy':<8}{'tests':<13}{'passed':>7}{'failed':>8}{'skipped':>9}{'time':>8}")
    for suite in suites:
        blender = suite.blender
        figures = f"{suite.passed:>7}{suite.failed:>8}{suite.skipped:>9}{suite.seconds:>6.0f} s"
        where = f"{blender.label:<9}{blender.python:<8}{blender.numpy:<8}"
        say(f"{where}{suite.name:<13}{figures}  {suite.problem}".rstrip())
    for blender in absent:
        say(f"{blender.label:<9}{blender.python:<8}{blender.numpy:<8}not run")
    for problem in absent.values():
        say(problem)


def main() -> int:
    """Make the environments, run the suites, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blender", nargs="*", default=[], help="only these versions")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="suites at a time")
    parser.add_argument("pytest", nargs="*", help="arguments for pytest, after --")
    options = parser.parse_args()
    extra = options.pytest

    environments: list[tuple[Blender, Path]] = []
    absent: dict[Blender, str] = {}
    needed = bool(os.environ.get("CI"))
    for blender in select(options.blender):
        try:
            environments.append((blender, prepare_blender(blender)))
        except EnvironmentProblem as problem:
            absent[blender] = str(problem)
            needed |= not isinstance(problem, PythonMissing)

    suites = plan(environments, extra)
    live = len(suites) == 1
    with ThreadPoolExecutor(max_workers=max(options.jobs, 1)) as pool:
        for suite in pool.map(lambda suite: execute(suite, live), suites):
            report(suite, live)
    table(suites, absent)

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
                say(f"Blender {suite.blender.label}, {suite.name}: no test ran.")
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
