"""Figures and tables as text that is as good in a terminal as in Markdown."""

from __future__ import annotations

import math
from collections.abc import Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[str]], texts: int = 1) -> str:
    """A Markdown table with columns of even width; all but the first `texts` columns are aligned to the right."""
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]

    def line(cells: Sequence[str]) -> str:
        aligned = [
            cell.ljust(width) if column < texts else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(cells, widths))
        ]
        return f"| {' | '.join(aligned)} |"

    rule = ["-" * width if column < texts else "-" * (width - 1) + ":" for column, width in enumerate(widths)]
    return "\n".join([line(head), line(rule), *(line(row) for row in rows)])


def number(value: float, form: str, scale: float = 1.0) -> str:
    """A figure, or a dash where there is none."""
    return format(scale * value, form) if math.isfinite(value) else "–"


def milliseconds(seconds: float) -> str:
    """Three digits."""
    return number(seconds, ".1f" if 1e3 * seconds < 99.95 else ".0f", 1e3)


def percent(share: float) -> str:
    """Two digits or more."""
    return number(share, ".2f" if share < 0.1 else ".1f" if share < 1.0 else ".0f", 100.0)


def times(factor: float) -> str:
    """A factor, with two digits."""
    return number(factor, ".0f" if factor > 9.95 else ".1f" if factor > 0.995 else ".2f")


def bullets(lines: Sequence[str]) -> str:
    """A list."""
    return "\n".join(f"- {line}" for line in lines)
