"""How far a pytest process is: a plugin in it writes that into a file, and whoever started it reads the file.

The plugin is loaded by `-p tools.progress`, and writes if the environment variable PBD_PROGRESS names a file.
"""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

VARIABLE = "PBD_PROGRESS"
"""The environment variable that names the file."""

WIDTH = 80
"""Length of the file, so that each figure is overwritten [bytes]."""


@dataclasses.dataclass
class Progress:
    """Tests chosen, finished, passed, failed and skipped; whether that was all; the CPU time of the process and of
    those that it has waited for [s].
    """

    total: int = 0
    done: int = 0
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    ended: bool = False
    cpu: float = 0.0

    @property
    def part(self) -> float:
        """Which part of the tests is finished, 0 to 1."""
        return self.done / max(self.total, 1)

    @classmethod
    def read(cls, path: Path) -> Progress:
        """What the file says; nothing before all tests were collected."""
        try:
            *counts, cpu = path.read_text(encoding="ascii").split()
            total, done, passed, failed, skipped, ended = map(int, counts)
        except (OSError, ValueError):
            return cls()
        return cls(total, done, passed, failed, skipped, bool(ended), float(cpu))


class Writer:
    """The plugin's part in a session."""

    def __init__(self, path: str) -> None:
        self.file = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
        self.progress = Progress()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.progress.total = len(session.items)
        self.write()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.progress.passed += report.passed and report.when == "call"
        self.progress.failed += report.failed
        self.progress.skipped += report.skipped

    def pytest_runtest_logfinish(self) -> None:
        self.progress.done += 1
        self.write()

    def pytest_sessionfinish(self) -> None:
        self.progress.ended = True
        self.write()

    def write(self) -> None:
        """Write the figures, at once and in one call: another process reads them at any time."""
        *counts, _ = dataclasses.astuple(self.progress)
        line = f"{' '.join(str(int(count)) for count in counts)} {sum(os.times()[:4]):.1f}"
        os.pwrite(self.file, line.ljust(WIDTH).encode("ascii"), 0)


def pytest_configure(config: pytest.Config) -> None:
    """Take part if a file is named."""
    if path := os.environ.get(VARIABLE):
        config.pluginmanager.register(Writer(path))
