"""Measure fabrics, print, save: `python -m benchmarks.calibration`, see the docstring of the folder."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from pbd_addon.kernels import available

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
    kept = {} if options.quick else load(options.output)
    found = {each.name: Measured(each) for each in everything if each.name in only}
    for test in (Measured.drape, Measured.bend):
        for name, each in found.items():
            each.timed(test, options.backend)
            print(f"{name}: {test.__name__}, {each.cpu:.0f} s", flush=True)
            shown = [{**kept, **found}[fabric.name] for fabric in everything if fabric.name in {**kept, **found}]
            text = report.page(shown, everything, sources, options.backend)
            if not options.quick:
                save(options.output, shown, text)
    print(f"\n{text}")


def load(folder: Path) -> dict[str, Measured]:
    """What was measured before of fabrics that are as they were, by name."""
    path = folder / "results.json"
    known = {each.name: each for each in fabrics()[0]}
    rows = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    return {row["fabric"]: Measured.of(known[row["fabric"]], row) for row in rows if row["fabric"] in known}


def save(folder: Path, found: list[Measured], page: str) -> None:
    """Write the page, the picture, and the figures behind both."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.md").write_text(page, encoding="utf-8")
    (folder / "drapes.svg").write_text(report.picture(found), encoding="utf-8")
    figures = ",\n".join(json.dumps(each.row(), allow_nan=False) for each in found)
    (folder / "results.json").write_text(f"[\n{figures}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
