"""What was measured of fabrics beside what is published, as a page and a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np

from ..picture import STYLE
from ..text import bullets, table as aligned
from ..truth.check import table
from ..truth.drapes import STARTS
from .measure import MESHES, SIZES, Draped, Fabric, Measured

TILE, LABEL, COLUMNS = 190, 62, 5
"""Side of a drape and height of its label in the picture, and drapes in a row."""

CLOTH = "#3f7fb8"


def page(found: Sequence[Measured], all_of_them: Sequence[Fabric], sources: Mapping[str, str], kernels: str) -> str:
    """The report."""
    checks = [check for each in found for check in each.checks]
    judged = [(each.fabric, drape) for each in found if each.fabric.drape for drape in each.drapes]
    held = sum(within(fabric, drape) for fabric, drape in judged)
    missing = [
        fabric.name for fabric in all_of_them if not any(each.fabric == fabric and each.checks for each in found)
    ]
    cpu, loads = sum(each.cpu for each in found), [each.load for each in found if each.cpu]
    said = [
        "# Fabrics beside what is published of them",
        f"Written by `make calibrate`, with the kernels of {kernels} and *Automatic* quality steps: {cpu:.0f} s of CPU "
        f"time, load {min(loads, default=0.0):.1f} to {max(loads, default=0.0):.1f}.",
        "## Drape coefficients",
        "A disc of 30 cm on one of 18 cm, as on Cusick's tester, or of 25.4 on 12.7 cm, source 1: the share of the "
        f"ring that the shadow covers, mean of {STARTS} starts and, in brackets, by how much these differ [%]. In bold "
        f"what is outside of what was published: {held} of {len(judged)} are inside.",
        aligned(
            ["fabric", "published", *(f"{mesh}, {1000.0 * size:g} mm" for size in SIZES for mesh in MESHES), "folds",
             "source"],
            [_row(fabric, found) for fabric in all_of_them],
        ),
        "![Drapes from above, beside their published coefficients](drapes.svg)",
        bullets([f"{fabric.name}: {fabric.note}" for fabric in all_of_them if fabric.note]),
        "## Bending lengths and loops",
        "Peirce's cantilever: a strip hangs over an edge until its end is seen at 41.5° below; half of what hangs over "
        "is the bending length, (B / (ρ g))^(1/3). The pear loop: a strip of 20 cm whose ends are held together. Both "
        "are compared with the elastica, without friction of bending, which neither law knows.",
        table(checks) if checks else "",
        f"Not run: {', '.join(missing)}." if missing else "",
        "## Sources",
        "\n".join(f"{number}. {escape(text)}" for number, text in sources.items()),
    ]  # fmt: skip
    return "\n\n".join(part for part in said if part) + "\n"


def within(fabric: Fabric, drape: Draped) -> bool:
    """Whether a drape is inside of what was published."""
    return fabric.drape[0] <= drape.share <= fabric.drape[1]


def band(fabric: Fabric) -> str:
    """What is published."""
    return f"{fabric.drape[0]:g} – {fabric.drape[1]:g}" if fabric.drape else "–"


def _row(fabric: Fabric, found: Sequence[Measured]) -> list[str]:
    drapes = [drape for each in found if each.fabric == fabric for drape in each.drapes]
    cells = []
    for drape in drapes:
        share = f"{drape.share:.0f}"
        cells.append(
            f"{share if not fabric.drape or within(fabric, drape) else f'**{share}**'} ({np.ptp(drape.shares):.0f})"
        )
    counts = sorted({drape.folds for drape in drapes})
    source = ", ".join(map(str, fabric.source)) or "none found"
    return [fabric.name, band(fabric), *(cells or ["not run"] * len(SIZES) * len(MESHES)),
            "–".join(map(str, dict.fromkeys((counts[0], counts[-1])))) if counts else "", source]  # fmt: skip


def picture(found: Sequence[Measured]) -> str:
    """Drapes of quads from above, in the disc that they are flat, as SVG."""
    found = [each for each in found if each.drapes]
    rows = -(-len(found) // COLUMNS)
    width, height = COLUMNS * TILE, rows * (TILE + LABEL) + 8
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="sans-serif">',
        f"<style>{STYLE}</style>",
        f'<rect class="ground" width="{width}" height="{height}"/>',
    ]
    for k, each in enumerate(found):
        x, y = (k % COLUMNS + 0.5) * TILE, (k // COLUMNS) * (TILE + LABEL) + 0.5 * TILE
        fabric, scale = each.fabric, 0.46 * TILE / each.fabric.radius
        points = " ".join(f"{x + scale * u:.1f},{y - scale * v:.1f}" for u, v in each.outline)
        fine = [drape for drape in each.drapes if drape.mesh == "quads"][-1]
        parts += [
            f'<circle class="axis" stroke-dasharray="3 3" cx="{x:.1f}" cy="{y:.1f}" r="{scale * fabric.radius:.1f}"/>',
            f'<polygon points="{points}" fill="{CLOTH}" fill-opacity="0.75" stroke="{CLOTH}"/>',
            f'<circle class="line" cx="{x:.1f}" cy="{y:.1f}" r="{scale * fabric.support:.1f}"/>',
            _text(x, y + 0.5 * TILE + 14, "ink", 12.5, fabric.name),
            _text(x, y + 0.5 * TILE + 31, "pale", 12, f"{fine.share:.0f} % simulated"),
            _text(
                x, y + 0.5 * TILE + 47, "pale", 12, f"{band(fabric)} % published" if fabric.drape else "none published"
            ),
        ]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _text(x: float, y: float, kind: str, size: float, text: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="middle">{escape(text)}</text>'
