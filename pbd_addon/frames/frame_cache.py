"""The cache of simulated frames: it is read by scrubbing, and a run can continue from any of them.

Frames that a `Store` also has, such as one on disk, need not be in memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Protocol

import numpy as np

from ..arrays import arguments
from ..model.model import State
from ..model.part import Kept
from ..parts import KEPT


class Store(Protocol):
    """Another storage of frames."""

    def holds(self, frame: int) -> bool:
        """Whether it has a frame."""

    def positions(self, frame: int) -> np.ndarray:
        """Positions at a frame, (3, n) float32 [m]."""

    def state(self, frame: int) -> State:
        """The exact state of a frame."""


class FrameCache:
    """States of consecutive frames: 28 bytes per vertex and frame, in float32, 12 more under pressure, and 36 more
    where something turns quickly.

    The first and the last one are kept exactly, too.

    Attributes:
        first: First cached frame.
        store: Storage of the frames that are not in memory, or None.
        keeps_all: Whether to keep all frames exactly until `forget_exact`, because a store will have them; 52 more
            bytes per vertex and frame.
    """

    def __init__(self, frame: int, state: State) -> None:
        self.first = frame
        self.store: Store | None = None
        self.keeps_all = False
        self._states: list[State | None] = []
        self._exact: dict[int, State] = {}
        self.append(state)

    @classmethod
    def of(cls, store: Store, first: int, last: int) -> FrameCache:
        """A cache of the frames `first` to `last`, all in a store."""
        if not all(callable(getattr(store, name, None)) for name in ("holds", "positions", "state")):
            arguments.refuse("store", "what holds frames, with the functions holds, positions and state", store)
        last = arguments.whole("last", last, arguments.whole("first", first))
        cache = cls.__new__(cls)
        cache.first, cache.store, cache.keeps_all = first, store, False
        cache._states, cache._exact = [None] * (last - first + 1), {}
        return cache

    @property
    def last(self) -> int:
        """Last cached frame."""
        return self.first + len(self._states) - 1

    @property
    def is_in_memory(self) -> bool:
        """Whether all frames are in memory."""
        return None not in self._states

    @property
    def nbytes(self) -> int:
        """Memory of all frames [bytes]."""
        states = [*self._held, *(one for at, one in self._exact.items() if self.first < at < self.last)]
        shared = {id(array): array.nbytes for state in states for _, _, array in _remembered(state)}
        return sum(state.x.nbytes + state.v.nbytes for state in states) + sum(shared.values())

    @property
    def frame_bytes(self) -> int:
        """Memory that another frame will take, without what frames share as a rule [bytes]."""
        arrays = [array for state in self._held[-1:] for kept, _, array in _remembered(state) if not kept.is_scene]
        return sum(state.x.nbytes + state.v.nbytes for state in self._held[-1:]) + sum(one.nbytes for one in arrays)

    @property
    def _held(self) -> list[State]:
        return [state for state in self._states if state is not None]

    def states(self) -> list[State]:
        """The states in memory, not copied."""
        return [*self._held, *self._exact.values()]

    def release(self) -> None:
        """Free the memory of all frames but the last; the store must have them."""
        self._states[:-1] = [None] * (len(self._states) - 1)
        self.forget_exact(self.last)

    def forget_exact(self, last: int) -> None:
        """Keep no exact states up to a frame but those of the first and the last frame."""
        self._exact = {at: one for at, one in self._exact.items() if at > last or at in (self.first, self.last)}

    def append(self, state: State) -> None:
        """Append a frame: a copy of the state and, until the next frame, the state itself, which must not change."""
        self._states.append(_as(np.float32, state))
        self._exact[self.last] = state
        if not self.keeps_all:
            self.forget_exact(self.last)

    def replace_last(self, state: State) -> None:
        """Replace the state of the last frame."""
        self._states.pop()
        self.append(state)

    def holds(self, frame: float) -> bool:
        """Whether a frame can be read; for a subframe, whether both neighbors can."""
        frame = arguments.number("frame", frame)
        return self.first <= math.floor(frame) and math.ceil(frame) <= self.last

    def positions(self, frame: float) -> np.ndarray:
        """Positions at a frame, interpolated linearly, (3, n) float32 [m]; read-only.

        Raises:
            ValueError: The frame is not cached.
        """
        self._check(arguments.number("frame", frame))
        before = math.floor(frame)
        share = np.float32(frame - before)
        x = self._positions(before)
        if share == 0.0:
            return x
        return x + share * (self._positions(before + 1) - x)

    def in_memory(self, frame: int) -> np.ndarray | None:
        """Positions at a cached frame, (3, n) float32 [m], not copied, read-only; None if it is only in the store."""
        held = self._states[frame - self.first]
        return None if held is None else held.x

    def state(self, frame: int) -> State:
        """A float64 copy of the state of a frame, to continue from.

        It is exact for the first and the last frame, and for those of a store; else as good as float32.

        Raises:
            ValueError: The frame is not cached.
        """
        self._check(arguments.whole("frame", frame))
        if frame in self._exact:
            return self._exact[frame].copy()
        held = self._states[frame - self.first]
        if held is None or (self.store is not None and self.store.holds(frame)):
            return self._stored.state(frame).copy()
        return _as(np.float64, held)

    def truncate(self, frame: int) -> None:
        """Forget all frames after `frame`."""
        del self._states[frame - self.first + 1 :]
        self._exact = {at: one for at, one in self._exact.items() if at <= frame}

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


def _as(dtype: type, state: State) -> State:
    """A copy of a state whose motion, and what is as exact, has another type."""
    memory = {part: dict(own) for part, own in state.memory.items()}
    for part, own in memory.items():
        own |= {name: own[name].astype(dtype) for name, kept in KEPT[part].items() if kept.is_single}
    return State(state.x.astype(dtype), state.v.astype(dtype), memory)


def _remembered(state: State) -> Iterator[tuple[Kept, str, np.ndarray]]:
    """All arrays that a state remembers, with what is known of them and their names."""
    for part, own in state.memory.items():
        for name, value in own.items():
            kept = KEPT[part][name]
            yield from ((kept, name, array) for array in (value if kept.is_scene else [value]))
