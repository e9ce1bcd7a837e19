"""Contestants by turns, each run in a process of its own: what is slow, crashes or hangs is a line, not a lost run."""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .contestants import PYPBD, Contestant
from .worker import MARK

ROOT = Path(__file__).resolve().parent.parent

START = 90.0
"""Time that a process may need besides its frames, Numba's compilation included [s]."""

LONG = 12.0
"""A run that took longer than this is not repeated [s]: it is its own average over the machine's moods."""

Job = dict[str, Any]


class Processes:
    """Starts processes.

    Args:
        pypbd: A Python that has pyPBD; None if there is none.
        say: Called with a line about each run.
    """

    def __init__(self, pypbd: Path | None, say: Callable[[str], None]) -> None:
        self.pypbd, self.say = pypbd, say
        self.left_out: dict[str, str] = {}
        """Why a solver cannot take part, by name of the contestant."""
        self.versions: dict[str, str] = {}

    def run(self, job: Job, limit: float = 5 * START, of_pypbd: bool = False) -> dict[str, Any]:
        """Do a job.

        Args:
            job: See `worker`.
            limit: Time after which the process is stopped [s].
            of_pypbd: Whether the Python with pyPBD is to do it.

        Returns:
            What the worker returns, or {"trouble": ...} where it came to no end.
        """
        python = self.pypbd if of_pypbd and self.pypbd else sys.executable
        with tempfile.TemporaryDirectory(prefix="pbd_bench_") as profile:
            # Nothing of the user's Blender takes part.
            environment = {**os.environ, "BLENDER_USER_RESOURCES": profile}
            if of_pypbd:
                # Its threads wait for each other in circles: two are several times slower than one.
                environment["OMP_NUM_THREADS"] = "1"
            try:
                done = subprocess.run(
                    [python, "-m", "benchmarks.worker"], input=json.dumps(job), capture_output=True, text=True,
                    encoding="utf-8", errors="replace", timeout=limit, cwd=ROOT, env=environment, check=False,
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                return {"trouble": f"stopped after {limit:.0f} s"}
        lines = done.stdout.splitlines()
        answers = [line.removeprefix(MARK) for line in lines if line.startswith(MARK)]
        if not answers:
            said = [line.strip() for line in done.stderr.splitlines() if line.strip()]
            return {"trouble": f"crashed with exit code {done.returncode}{': ' + said[-1] if said else ''}"}
        result = json.loads(answers[-1])
        versions = result.pop("versions", {})
        if not of_pypbd:
            self.versions.update(versions)
        elif "pyPBD" in versions:
            self.versions["pyPBD"] = versions["pyPBD"]
        return dict(result)

    def race(
        self, contestants: Sequence[Contestant], job: Job, rounds: int, patience: float
    ) -> list[tuple[Contestant, dict[str, Any], list[dict[str, Any]]]]:
        """Let contestants do a job by turns, in several rounds, each of which begins with another of them.

        Args:
            contestants: Who.
            job: All but the contestant, see `worker`.
            rounds: How often at most; what takes LONG, and what fails, runs once.
            patience: Wall time that the frames of a run may take [s].

        Returns:
            Each contestant that can take part, the medians over its runs, and the runs.
        """
        runs: dict[str, list[dict[str, Any]]] = {contestant.name: [] for contestant in contestants}
        finished: set[str] = set()
        for turn in range(rounds):
            first = turn * len(contestants) // rounds
            for contestant in [*contestants[first:], *contestants[:first]]:
                name = contestant.name
                if name in finished or name in self.left_out:
                    continue
                started = time.perf_counter()
                whole = {**job, "maker": contestant.maker, "options": contestant.options, "patience": patience}
                result = self.run(whole, START + 3.0 * patience, contestant.solver == PYPBD)
                took = time.perf_counter() - started
                if "left_out" in result:
                    self.left_out[name] = result["left_out"]
                    self.say(f"  {name}: left out, {result['left_out']}")
                    continue
                runs[name].append(result)
                if took > LONG or result.get("trouble"):
                    finished.add(name)
                words = [f"{1e3 * _frame(result):.1f} ms CPU a frame", result.get("trouble", "")]
                self.say(f"  round {turn + 1}: {name}: {', '.join(filter(None, words))}; {took:.0f} s in all")
        return [(who, merged(runs[who.name]), runs[who.name]) for who in contestants if who.name not in self.left_out]


def merged(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Several runs as one: numbers are medians over those that came to a figure, the first trouble counts."""
    sound = [run for run in runs if len(run) > 1] or list(runs)
    result = {name: _middle([run[name] for run in sound if name in run]) for name in sound[0]}
    result["trouble"] = next((run["trouble"] for run in runs if run.get("trouble")), "")
    if result["trouble"] and any(not run.get("trouble") for run in runs):
        result["trouble"] = f"in one of {len(runs)} runs: {result['trouble']}"
    result["runs"] = len(runs)
    times = [time for time in map(_frame, sound) if math.isfinite(time)]
    if times and (middle := statistics.median(times)) > 0.0:
        result["spread"] = (max(times) - min(times)) / middle
    return result


def _frame(run: dict[str, Any]) -> float:
    """Median CPU time of a frame [s], NaN if there is none."""
    cpu = run.get("cpu", math.nan)
    return float(cpu["median"] if isinstance(cpu, dict) else cpu)


def _middle(values: Sequence[Any]) -> Any:
    """Median of numbers, of each field of dictionaries; the first of anything else."""
    if isinstance(values[0], dict):
        return {name: _middle([value[name] for value in values]) for name in values[0]}
    numbers = [value for value in values if isinstance(value, (int, float)) and not math.isnan(value)]
    if not numbers:
        return values[0]
    # The lower of two, so that a count stays a count.
    return statistics.median(numbers) if isinstance(numbers[0], float) else statistics.median_low(numbers)
