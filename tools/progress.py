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

WIDTH = 60
"""Length of the file, so that each figure is overwritten [bytes]."""


@dataclasses.dataclass(frozen=True)
class Progress:
    """Tests finished, chosen and failed, and the CPU time of the process and of those that it has waited for [s]."""

    done: int = 0
    total: int = 0
    failed: int = 0
    cpu: float = 0.0

    @property
    def part(self) -> float:
        """Which part of the tests is finished, 0 to 1."""
        return self.done / max(self.total, 1)

    @classmethod
    def read(cls, path: Path) -> Progress:
        """What the file says; nothing before all tests were collected."""
        try:
            done, total, failed, cpu = path.read_text(encoding="ascii").split()
        except (OSError, ValueError):
            return cls()
        return cls(int(done), int(total), int(failed), float(cpu))


class Writer:
    """The plugin's part in a session."""

    def __init__(self, path: str) -> None:
        self.file = os.open(path, os.O_WRONLY | os.O_CREAT)
        self.done = self.total = self.failed = 0

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.total = len(session.items)
        self.write()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed += report.failed

    def pytest_runtest_logfinish(self) -> None:
        self.done += 1
        self.write()

    def pytest_sessionfinish(self) -> None:
        self.write()

    def write(self) -> None:
        """Write the figures, at once and in one call: another process reads them at any time."""
        line = f"{self.done} {self.total} {self.failed} {sum(os.times()[:4]):.1f}"
        os.pwrite(self.file, line.ljust(WIDTH).encode("ascii"), 0)


def pytest_configure(config: pytest.Config) -> None:
    """Take part if a file is named."""
    if path := os.environ.get(VARIABLE):
        config.pluginmanager.register(Writer(path))
