"""Where to look: what a simulation depends on."""

from __future__ import annotations

from typing import NamedTuple


class Watched(NamedTuple):
    """What the record depends on, by uid: where to look."""

    members: dict[int, str] = {}  # names of the simulated objects
    pinned: frozenset[int] = frozenset()  # of these, those whose place matters
    targets: dict[int, str] = {}  # names of what cloth is attached to
    obstacles: dict[int, str] = {}  # names of the colliders
