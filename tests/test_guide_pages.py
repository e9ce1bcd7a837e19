"""The pages of docs/: links lead somewhere, pictures are shown, quoted sentences are those of the add-on."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
SHIPPED = ("pbd_addon", "operators", "panels")
LINK = re.compile(r"\]\(([^)\s]+)\)|src=\"([^\"]+)\"")


def links(page):
    """What a page links to in this repository: (path, anchor)."""
    found = ("".join(groups) for groups in LINK.findall(page.read_text(encoding="utf-8")))
    return [(page.parent / path if path else page, anchor) for path, _, anchor in split(found)]


def split(targets):
    return [target.partition("#") for target in targets if "://" not in target]


def anchors(page):
    """The anchors of a page's headings, as code hosts make them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target, anchor in links(page):
        assert target.exists(), f"{page.name}: {target}"
        assert not anchor or anchor in anchors(target), f"{page.name}: {target.name}#{anchor}"


def test_every_page_is_in_the_index():
    listed = {path.resolve() for path, _ in links(DOCS / "README.md")}
    assert set(DOCS.glob("*.md")) - {DOCS / "README.md"} <= listed


def test_every_picture_is_shown_and_small():
    shown = {path.resolve() for page in PAGES for path, _ in links(page)}
    pictures = [path for kind in ("guide_*", "panel*", "figure_*") for path in (DOCS / "images").glob(kind)]
    assert pictures
    for picture in pictures:
        assert picture in shown, f"{picture.name} is on no page"
        assert picture.stat().st_size < 120_000, picture.name


def test_every_picture_is_made_by_a_script():
    """So that `make pictures`, `make demo` and make_screenshots.py can take all of them anew."""
    scripts = [*DOCS.glob("*.py"), *(ROOT / "sample_blends").glob("*.py"), *(ROOT / "benchmarks/figures").glob("*.py")]
    named = "\n".join(script.read_text(encoding="utf-8") for script in scripts)
    for picture in (DOCS / "images").iterdir():
        name = picture.name.removeprefix("guide_").removeprefix("figure_")
        assert f'"{name}"' in named or f'"{name.partition(".")[0]}"' in named, picture.name


def sentences():
    """Every text in the shipped sources, those with values in them cut at the values."""
    for part in SHIPPED:
        for path in (ROOT / part).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield node.value


@pytest.mark.newest
def test_the_sentences_that_the_symptoms_quote_are_the_addons():
    known = "\n".join(sentences())
    quoted = re.findall(r"`([^`]+)`", (DOCS / "troubleshooting.md").read_text(encoding="utf-8"))
    assert len(quoted) > 15
    for sentence in quoted:
        for fragment in sentence.split("…"):
            assert fragment.strip(" '") in known, sentence


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_simple_hides_is_told(page):
    """A page that sends its reader to a panel that is not shown at first says what shows it."""
    panels = [node for path in (ROOT / "panels").glob("*.py") for node in ast.parse(path.read_text("utf-8")).body]
    rare = [one for one in panels if isinstance(one, ast.ClassDef) and "is_rare = True" in ast.unparse(one)]
    labels = {re.sub(r"(?<!^)(?=[A-Z])", " ", one.name) for one in rare} - {"Weave", "Attach", "Maps"} | {
        "Property Weights"
    }
    assert len(labels) == 5  # All cloth has a weave and can be attached, and Maps has another label.
    text = page.read_text(encoding="utf-8")
    italics = re.findall(r"(?<!\*)\*{1,2}([^*\n]+(?:\n[^*\n]+)?)\*{1,2}(?!\*)", text)
    named = {part for path in italics for part in path.replace("\n", " ").split(" › ")}
    assert not named & labels or re.search(r"\*Full\*|› Full\*", text), named & labels


def test_the_physics_name_every_kind_of_constraint():
    text = (DOCS / "physics.md").read_text(encoding="utf-8")
    for path in (ROOT / "pbd_addon" / "constraints").glob("*.py"):
        assert path.name in ("__init__.py", "base.py") or f"`{path.stem}.py`" in text, path.name
