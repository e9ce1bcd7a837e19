"""Stopwatch: where the time of a frame goes."""

from __future__ import annotations

import time


class Stopwatch:
    """Adds up wall time by name.

    Attributes:
        seconds: Of each name, in the order of their first lap [s].
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        """Book the time since the last lap, or since the beginning, under a name; about 0.3 µs."""
        now = time.perf_counter()
        self.seconds[name] = self.seconds.get(name, 0.0) + now - self._last
        self._last = now

    def resume(self) -> None:
        """Book the time since the last lap nowhere: something else was done."""
        self._last = time.perf_counter()

    def rebook(self, seconds: float, source: str, target: str) -> None:
        """Book some of the time of one name under another; nothing if the source has none."""
        if source in self.seconds:
            self.seconds[source] -= seconds
            self.seconds[target] = self.seconds.get(target, 0.0) + seconds
