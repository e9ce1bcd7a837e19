"""The errors that the bridge shows to users."""

import contextlib
from collections.abc import Iterator


class PBDError(Exception):
    """An error that the user can fix: one sentence that names the object and says what to do."""


class LateError(PBDError):
    """A frame takes too long for a window to wait; what is done so far stays."""


class Interruption(PBDError):
    """A frame was being stepped in slices when something changed what it was made from: as if stopped by Esc."""


class Stopped(PBDError):
    """Somebody pressed Ctrl+C where no window has an Esc."""


class DamagedFrame(PBDError):
    """A cached frame on disk is not what was written.

    Attributes:
        frame: The frame's number.
    """

    def __init__(self, frame: int, sentence: str) -> None:
        super().__init__(sentence)
        self.frame = frame


@contextlib.contextmanager
def refused(before: str = "") -> Iterator[None]:
    """A context in which what the engine refuses becomes a `PBDError`, with these words before it."""
    try:
        yield
    except ValueError as error:
        raise PBDError(f"{before}{error}") from error
