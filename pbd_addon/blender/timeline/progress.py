"""Signs of life where no window gives them: lines on the standard output, and Ctrl+C, which stops between substeps.

A script that shows frame 1,000,000 simulates all before it. Of a `KeyboardInterrupt` in the middle of that, Blender
would print the traceback and go on, and the simulation would be half a substep further. So Ctrl+C is noted while code
of ours runs, and obeyed where everything is whole; anywhere else it is Python's.
"""

import contextlib
import signal
import sys
import time
from types import FrameType

import bpy

from ..errors import Stopped

EVERY = 5.0
"""Least time between two lines [s]; what is done before that needs none."""

OURS = __package__.partition(".pbd_addon")[0] + "."
"""How the names of the extension's modules begin."""

_asked: list[bool] = []
"""Holds one value while Ctrl+C was pressed and not obeyed yet."""


class Watch:
    """What is said of one wait, and whether to end it; silent beside a window."""

    def __init__(self) -> None:
        self.began = self._said = time.monotonic()
        _listen()

    @property
    def seconds(self) -> float:
        """How long the wait has taken."""
        return time.monotonic() - self.began

    def say(self, sentence: str, at_once: bool = False) -> None:
        """Print a line, unless there was one in the last `EVERY` seconds."""
        now = time.monotonic()
        if bpy.app.background and (at_once or now - self._said >= EVERY):
            self._said = now
            sys.stdout.write(f"PBD Cloth: {sentence}\n")
            sys.stdout.flush()

    def obey(self, sentence: str) -> None:
        """Raise a `Stopped` with this sentence if Ctrl+C was pressed, and print it."""
        if _asked:
            _asked.clear()
            self.say(sentence, at_once=True)
            raise Stopped(sentence)


def _listen() -> None:
    """Take Ctrl+C from Python, without a window and unless somebody else has it."""
    if bpy.app.background and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        with contextlib.suppress(ValueError):  # A render has a thread of its own, where no handler can be set.
            signal.signal(signal.SIGINT, _on_interrupt)


def stop_listening() -> None:
    """Give Ctrl+C back to Python."""
    _asked.clear()
    if signal.getsignal(signal.SIGINT) is _on_interrupt:
        with contextlib.suppress(ValueError):
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _on_interrupt(number: int, frame: FrameType | None) -> None:
    """Note Ctrl+C if code of ours runs; pressed again before it is obeyed, it is Python's too."""
    at = frame
    while at is not None and not at.f_globals.get("__name__", "").startswith(OURS):
        at = at.f_back
    if at is not None and not _asked:
        _asked.append(True)
        return
    _asked.clear()
    signal.default_int_handler(number, frame)
