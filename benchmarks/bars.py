"""What a frame of ours may take beside Blender's Cloth, and what it took."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from .contact_race import ContactResult
from .contestants import BACKENDS, CLOTH, DEFAULT, OURS, PEER
from .curtain import Result
from .text import milliseconds, number, table

NUMBA, NUMPY = BACKENDS["numba"], BACKENDS["numpy"]

SHARES = {
    ("32 × 32", NUMBA): 1 / 12,
    ("32 × 32", NUMPY): 1 / 1.6,
    ("64 × 64", NUMBA): 1 / 22,
    ("100 × 100", NUMBA): 1 / 30,
    ("100 × 100", NUMPY): 1 / 6,
    ("200 × 200", NUMBA): 1 / 30,
    ("200 × 200", NUMPY): 1 / 7,
    ("100 × 100, unstructured", NUMBA): 1 / 20,
    ("100 × 100, unstructured", NUMPY): 1 / 4,
    ("balloon of 642", NUMBA): 1 / 3,
    ("balloon of 10242", NUMBA): 1 / 5,
}
"""Of the time of Blender's main thread, which is less than that of all its threads."""

LARGE, MANY = "400 × 400", "100 cloths of 196 vertices in Blender"
SECONDS = {(LARGE, NUMBA): 0.5, (MANY, NUMBA): 0.04}
"""Of a frame [s]."""


class Bar(NamedTuple):
    """A row of the table: who, CPU time of a frame of ours and of Blender's main thread, the bar [s], and the load."""

    scene: str
    backend: str
    ours: float
    blender: float
    bar: float
    load: float


def of_curtains(results: Sequence[Result]) -> list[Bar]:
    """Of all curtains that have a bar, by the medians over their frames."""
    peers = {r.scene: r.main for r in results if (r.solver, r.setting) == (CLOTH, PEER)}
    ours = [(r.scene, r.setting, r.cpu, r.load) for r in results if r.solver == OURS]
    return _bars(ours, peers)


def of_contact(results: Sequence[ContactResult]) -> list[Bar]:
    """The same of scenes of contact, by the means."""
    peers = {r.scene: r.main.mean for r in results if r.solver == CLOTH and r.setting.startswith(DEFAULT)}
    ours = [(r.scene, r.setting, r.cpu.mean, r.load) for r in results if r.solver == OURS]
    return _bars(ours, peers)


def of_many(found: Mapping[str, float]) -> Bar:
    """The bar of many cloths, by what `in_blender.many_cloths` returned."""
    seconds, peer, load = (found.get(name, math.nan) for name in ("cpu", "main", "load"))
    return Bar(MANY, NUMBA, seconds, peer, SECONDS[MANY, NUMBA], load)


def _bars(ours: Sequence[tuple[str, str, float, float]], peers: dict[str, float]) -> list[Bar]:
    found = []
    for scene, backend, seconds, load in ours:
        share, peer = SHARES.get((scene, backend)), peers.get(scene, math.nan)
        bar = SECONDS.get((scene, backend), math.nan) if share is None else share * peer
        if share is not None or math.isfinite(bar):
            found.append(Bar(scene, backend, seconds, peer, bar, load))
    return found


def text(found: Sequence[Bar]) -> str:
    """The table; what is beyond its bar, or has no figure, is bold."""
    rows = []
    for one in found:
        ratio = _share(one.blender, one.ours)
        rows.append([
            one.scene, one.backend, milliseconds(one.ours), milliseconds(one.blender),
            ratio if one.ours <= one.bar else f"**{ratio}**" if ratio != "–" else "**missed**",
            _share(one.blender, one.bar), milliseconds(one.bar), number(one.load, ".1f"),
        ])  # fmt: skip
    head = ("scene", "backend", "ours, CPU ms", "Blender's main thread ms", "share", "bar", "bar ms", "load")
    return table(head, rows, texts=2)


def _share(whole: float, part: float) -> str:
    ratio = whole / part if part else math.nan
    return f"1/{ratio:.1f}" if math.isfinite(ratio) else "–"
