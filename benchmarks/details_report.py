"""What only concerns our solver, as text: costs, motion, memory, balloons, cached frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .contestants import BACKENDS, DEFAULT_SUBSTEPS
from .cost import AIR
from .text import milliseconds, number, table


def sections(found: Mapping[str, Any]) -> list[str]:
    """Heading and text of all that was measured; a job that failed is said to have."""
    makers = {"costs": costs, "balloons": balloons, "motion": motion, "memory": memory, "cached": cached}
    parts = []
    for name, maker in makers.items():
        if name in found:
            results = found[name] if isinstance(found[name], list) else [found[name]]
            failed = [f"{name}: {r.get('trouble') or r['left_out']}" for r in results if len(r) == 1]
            sound = [r for r in results if len(r) > 1]
            parts += maker(sound) if sound else []
            parts += failed
    return parts


def costs(results: Sequence[dict[str, Any]]) -> list[str]:
    """Tables of the parts of a frame and of the kinds of constraints, with a column for each backend."""
    (found,) = results
    frames: dict[str, dict[str, float]] = found["frames"]
    labels = list(dict.fromkeys(label for parts in frames.values() for label in parts))
    rows = [[label, *(f"{1e3 * parts.get(label, 0.0):.2f}" for parts in frames.values())] for label in labels]
    rows.append(["all", *(f"{1e3 * sum(parts.values()):.2f}" for parts in frames.values())])
    kinds = found["kinds"]
    backends = list(dict.fromkeys(kind["kernels"] for kind in kinds))
    nanoseconds = {(kind["kind"], kind["kernels"]): f"{1e9 * kind['seconds']:.1f}" for kind in kinds}
    lines = [
        [kind["kind"], kind["scene"], f"{kind['rows']}", kind["unit"],
         *(nanoseconds.get((kind["kind"], name), "") for name in backends)]
        for kind in kinds if kind["kernels"] == backends[0] and kind["rows"] > 1
    ]  # fmt: skip
    scene = kinds[0]["scene"]
    shares = [
        f"{1e3 * parts[AIR]:.2f} of {1e3 * sum(parts.values()):.2f} ms with {BACKENDS[name]}"
        for name, parts in found["windy"].items()
    ]
    return [
        f"## One frame of ours, {scene}, no self-collision",
        table(("CPU ms", *(BACKENDS[name] for name in frames)), rows),
        f"In wind of 8 m/s with gusts, air takes {' and '.join(shares)}.",
        "## One constraint of ours, projected once",
        "In the state in the middle of the scene, over and over; nanoseconds of CPU time.",
        table(("kind", "scene", "rows", "of a", *(f"{BACKENDS[name]} ns" for name in backends)), lines, texts=2),
    ]


def balloons(results: Sequence[dict[str, Any]]) -> list[str]:
    """Table of the balloons."""
    rows = [
        [f"{r['vertices']}", BACKENDS[r["kernels"]], milliseconds(r["cpu"]), milliseconds(r["wall"]),
         f"{r['volume']:.4f}", milliseconds(r["setup"])]
        for r in results
    ]  # fmt: skip
    head = ("vertices", "backend", "CPU ms", "wall ms", "V / V0", "set-up ms")
    return ["## Balloon of ours on a floor, blown up to 1.2 times its volume, with self-collision", table(head, rows)]


def motion(results: Sequence[dict[str, Any]]) -> list[str]:
    """How true the motion is."""
    (found,) = results
    rows = [
        [f"{count}{' (default)' if int(count) == DEFAULT_SUBSTEPS else ''}", number(error, ".1f", 1e3)]
        for count, error in found["errors"].items()
    ]
    return [
        "## Motion of ours",
        f"How far the center of mass of the curtain {found['n']} × {found['n']} is from where it is with "
        f"{found['reference']} substeps, root mean square over {found['frames']} frames.",
        table(("substeps", "error mm"), rows),
    ]


def memory(results: Sequence[dict[str, Any]]) -> list[str]:
    """Table of bytes for each vertex."""
    rows = [
        [f"{r['n']} × {r['n']}", BACKENDS[r["kernels"]] + (", self-collision" if r["self_collision"] else ""),
         *(f"{r[name]:.0f}" for name in ("built", "kept", "peak", "frame"))]
        for r in results
    ]  # fmt: skip
    head = ("curtain", "backend", "when built", "after 25 frames", "peak", "cache, each frame")
    return ["## Memory of ours, bytes per vertex, beyond the frame cache", table(head, rows, texts=2)]


def cached(results: Sequence[dict[str, Any]]) -> list[str]:
    """A sentence."""
    (found,) = results
    return [
        "## A cached frame in Blender",
        f"Changing to a cached frame of {found['vertices']} vertices takes {1e3 * found['cached']:.2f} ms, "
        f"{1e3 * found['above']:.2f} ms above a frame change in which nothing happens (wall time, median).",
    ]
