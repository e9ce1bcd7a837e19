"""Frames that were simulated: what scrubbing reads, and where a run can be taken up again.

Frames that a `Store` holds too, on a disk, need no memory here.
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from . import arguments
from .model import State


class Store(Protocol):
    """Another place for frames."""

    def positions(self, frame: int) -> np.ndarray:
        """Positions at a frame, (3, n) float32 [m]."""

    def state(self, frame: int) -> State:
        """The state of a frame."""


class FrameCache:
    """States of a gapless range of frames: 28 bytes per vertex and frame, in float32, and 12 more under pressure.

    Attributes:
        first: First frame that is held.
        store: Where frames are that are not in memory, or None.
    """

    def __init__(self, frame: int, state: State) -> None:
        self.first = frame
        self.store: Store | None = None
        self._states: list[State | None] = []
        self._exact: State | None = None
        self.append(state)

    @classmethod
    def of(cls, store: Store, first: int, last: int) -> FrameCache:
        """All frames from `first` to `last` are in a store."""
        cache = cls.__new__(cls)
        cache.first, cache.store, cache._states, cache._exact = first, store, [None] * (last - first + 1), None
        return cache

    @property
    def last(self) -> int:
        """Last frame that is held."""
        return self.first + len(self._states) - 1

    @property
    def is_in_memory(self) -> bool:
        """Whether all frames are in memory, so that they need no store."""
        return None not in self._states

    @property
    def nbytes(self) -> int:
        """Memory of all frames [bytes]."""
        states = self.states()
        places = {id(place): place.nbytes for state in states for place in state.colliders}
        return sum(places.values()) + sum(map(_bytes, states))

    @property
    def frame_bytes(self) -> int:
        """Memory that one more frame will take, without colliders [bytes]."""
        return sum(map(_bytes, self.states()[-1:]))

    def states(self) -> list[State]:
        """The states that are in memory, as they are held."""
        return [state for state in self._states if state is not None]

    def release(self) -> None:
        """Let all frames but the last go from memory: the store has them."""
        self._states[:-1] = [None] * (len(self._states) - 1)

    def append(self, state: State) -> None:
        """Hold the state as the frame after the last: a copy, and until the next one itself, not to be changed."""
        kept, self._exact = state.copy(), state
        kept.x, kept.v = kept.x.astype(np.float32), kept.v.astype(np.float32)
        kept.skin = kept.skin.astype(np.float32)
        self._states.append(kept)

    def replace_last(self, state: State) -> None:
        """Hold the state in place of the last frame's."""
        self._states.pop()
        self.append(state)

    def holds(self, frame: float) -> bool:
        """Whether a frame can be read; of a sub-frame, whether both neighbors can."""
        frame = arguments.number("frame", frame)
        return self.first <= math.floor(frame) and math.ceil(frame) <= self.last

    def positions(self, frame: float) -> np.ndarray:
        """Positions at a frame, linear between two, (3, n) float32 [m]. Not to be written to.

        Raises:
            ValueError: The frame is not held.
        """
        self._check(arguments.number("frame", frame))
        before = math.floor(frame)
        share = np.float32(frame - before)
        x = self._positions(before)
        if share == 0.0:
            return x
        return x + share * (self._positions(before + 1) - x)

    def in_memory(self, frame: int) -> np.ndarray | None:
        """Positions at a held frame as they are held, (3, n) float32 [m], not to be written to; None in a store."""
        held = self._states[frame - self.first]
        return None if held is None else held.x

    def state(self, frame: int) -> State:
        """A copy of the state of a frame, to go on from, float64; the last frame's is exact.

        Raises:
            ValueError: The frame is not held.
        """
        self._check(arguments.whole("frame", frame))
        if self._exact is not None and frame == self.last:
            return self._exact.copy()
        held = self._states[frame - self.first]
        state = self._stored.state(frame) if held is None else held.copy()
        state.x, state.v, state.skin = state.x.astype(float), state.v.astype(float), state.skin.astype(float)
        return state

    def truncate(self, frame: int) -> None:
        """Forget all frames after `frame`."""
        if frame < self.last:
            self._exact = None
        del self._states[frame - self.first + 1 :]

    def _check(self, frame: float) -> None:
        if not self.holds(frame):
            raise ValueError(f"frame {frame:g} is not simulated; frames {self.first} to {self.last} are")

    def _positions(self, frame: int) -> np.ndarray:
        held = self._states[frame - self.first]
        return self._stored.positions(frame) if held is None else held.x

    @property
    def _stored(self) -> Store:
        assert self.store is not None, "frames leave the memory only when a store has them"
        return self.store


def _bytes(state: State) -> int:
    """Memory of a state without its colliders, which frames share."""
    arrays = state.x, state.v, state.pin_targets, state.prediction_error, state.skin, state.air, state.inside
    return sum(one.nbytes for one in arrays)
