"""Make the papers' figures anew and write docs/figures.md:

    make figures                          all of them, about a quarter of an hour on two cores
    make figures ARGS="--only muller-7"   one alone; the other sections stay

or, with a Python that has bpy, `python -m benchmarks.figures.run`.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from .beginnings import BEGINNINGS, noted
from .sections import SECTIONS, paragraphs

PAGE = Path(__file__).resolve().parents[2] / "docs" / "figures.md"
HEAD = """# The papers' figures, made anew

Each figure of the papers that this engine comes from, simulated by it, with the paper's number beside ours where it
gives one. All is made by `make figures`, and `tests/test_figures.py` holds small forms of the figures to what they say.
Times are of the machine that wrote this page and say little about others; all else is the same everywhere. The papers
are listed in [The physics](physics.md#sources)."""


def main() -> None:
    """Make the figures that are asked for, and their sections of the page."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.figures.run", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS), help="instead of all figures")
    for name in parser.parse_args().only:
        begun = time.perf_counter()
        text = paragraphs(SECTIONS[name][1](), noted(BEGINNINGS[name]()))
        old = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
        PAGE.write_text(page(old, {name: text}), encoding="utf-8")
        print(f"{name}: {time.perf_counter() - begun:.0f} s", flush=True)


def page(old: str, made: dict[str, str]) -> str:
    """The page with these sections in place of the old ones; those of `old` that are not made again stay.

    Args:
        old: The page as it is, or "".
        made: Text of each section by the figure's name.
    """
    parts = [HEAD]
    for name, (title, _) in SECTIONS.items():
        text = made.get(name) or section(old, name).partition("\n")[2].strip()
        if text:
            parts.append(f"<!-- {name} -->\n## {title}\n\n{text}\n<!-- end of {name} -->")
    return "\n\n".join(parts) + "\n"


def section(text: str, name: str) -> str:
    """The section of a figure of a page, with its title."""
    return text.partition(f"<!-- {name} -->")[2].partition(f"<!-- end of {name} -->")[0].strip()


if __name__ == "__main__":
    main()
