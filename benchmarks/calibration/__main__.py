"""Measure fabrics, print, save: `python -m benchmarks.calibration`, see the docstring of the folder."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from pbd_addon.kernels import available

from ..run import plain
from . import report
from .measure import Measured, fabrics

FOLDER = Path(__file__).resolve().parent


def main() -> None:
    """Measure, print, save."""
    everything, sources = fabrics()
    names = [each.name for each in everything]
    parser = argparse.ArgumentParser(prog="benchmarks.calibration")
    parser.add_argument("--quick", action="store_true", help="Cotton alone; writes nothing")
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="FABRIC", help=", ".join(names))
    parser.add_argument("--backend", choices=available(), default=available()[-1])
    parser.add_argument("--output", type=Path, default=FOLDER, metavar="FOLDER", help="instead of that of this file")
    options = parser.parse_args()
    only = ["Cotton"] if options.quick else options.only
    found = [Measured(each) for each in everything if each.name in only]
    for test in (Measured.drape, Measured.bend):
        for each in found:
            each.timed(test, options.backend)
            print(f"{each.fabric.name}: {test.__name__}, {each.cpu:.0f} s", flush=True)
            if not options.quick:
                save(options.output, found, report.page(found, everything, sources, options.backend))
    print(f"\n{report.page(found, everything, sources, options.backend)}")


def save(folder: Path, found: list[Measured], page: str) -> None:
    """Write the page, the picture, and the figures behind both."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.md").write_text(page, encoding="utf-8")
    (folder / "drapes.svg").write_text(report.picture(found), encoding="utf-8")
    figures = [
        {"fabric": each.fabric.name, "cpu": each.cpu, "load": each.load, "drapes": each.drapes, "checks": each.checks}
        for each in found
    ]
    (folder / "results.json").write_text(json.dumps(plain(figures), indent=1, allow_nan=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
