"""Sewing patterns as drawings in SVG: closed paths are panels, two texts with the same words sew two of their sides.

Panels stand upright as they are drawn, above the ground and around the middle. Sides end at corners. A text belongs to
the side that is nearest to where it begins, and to none that is farther than `NEAR` away.
"""

from __future__ import annotations

from typing import NamedTuple
from xml.parsers import expat

import numpy as np

from ..meshes.panels import Panel, Pattern, Stitch, area, distances
from . import svg_paths
from .sewing_pattern import MOST_BYTES, UP

CORNER = np.cos(np.radians(30.0))
"""Cosine of the turn from which on two pieces of a path are two sides: the waist of a side seam bends by 10° to 20°."""

JOINED = 1e-4
"""Ends of a path that are nearer to one another are one [m]: a tenth of a millimeter is less than a line is wide."""

NEAR = 0.02
"""Farthest distance of a text from the side that it labels [m]: the width of a seam allowance and a line of text."""

LARGEST = 1e6
"""Farthest place from the page's corner [m] whose square is no trouble."""

MOST_TEXTS = 500
"""Most texts: a suit has 60 stitches with two each."""

SHAPES = ("path", "polygon", "polyline", "rect", "circle", "ellipse")
GROUPS = ("g", "a", "switch")
SILENT = ("title", "desc", "metadata", "style", "namedview", "defs", "script")
"""Elements that draw nothing; what they hold is left out."""


class Text(NamedTuple):
    """Words, and where they begin, (2,) [m]."""

    words: str
    place: np.ndarray


class _Drawing:
    """What a parser finds.

    Attributes:
        panels: Names and sides [m], y down.
        texts: All that is written.
        unread: Names of other elements.
    """

    def __init__(self) -> None:
        self.panels: list[tuple[str, list[np.ndarray]]] = []
        self.texts: list[Text] = []
        self.unread: dict[str, None] = {}
        self._matrices: list[np.ndarray] = []
        self._skipping = 0
        self._words: list[str] | None = None
        self._place: np.ndarray | None = None
        self._depth_of_text = 0
        self._pieces = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        kind = tag.rpartition(" ")[2]
        name = attributes.get("http://www.inkscape.org/namespaces/inkscape label") or attributes.get("id") or kind
        if self._skipping:
            self._skipping += 1
            return
        if not self._matrices:
            if kind != "svg":
                raise ValueError(f"The file is no SVG: it begins with '{kind[:40]}'")
            self._matrices.append(_page(attributes))
            return
        where = f"'{name[:60]}'"
        if kind in SILENT:
            self._skipping = 1
            return
        is_hidden = (
            "display:none" in attributes.get("style", "").replace(" ", "") or attributes.get("display") == "none"
        )
        if is_hidden or kind not in (*SHAPES, *GROUPS, "text", "tspan"):
            self.unread[f"hidden {where}" if is_hidden else f"{kind[:40]} {where}"] = None
            self._skipping = 1
            return
        try:
            matrix = _times(self._matrices[-1], svg_paths.transform(attributes.get("transform", "")))
            if kind in SHAPES:
                self._add(where, kind, attributes, matrix)
        except ValueError as error:
            raise ValueError(f"{where} {error}") from error
        self._matrices.append(matrix)
        if kind == "text":
            self._words, self._place, self._depth_of_text = [], None, len(self._matrices)
        if kind in ("text", "tspan") and self._place is None and attributes.get("x"):
            place = [svg_paths.NUMBERS.match(attributes.get(axis, "0").strip()) for axis in "xy"]
            if all(place):
                self._place = _apply(matrix, np.array([[float(number[0]) for number in place if number]]))[0]

    def end(self, _tag: str) -> None:
        """An element ends."""
        if self._skipping:
            self._skipping -= 1
            return
        if self._words is not None and len(self._matrices) == self._depth_of_text:
            words = " ".join("".join(self._words).split())
            if words:
                place = _apply(self._matrices[-1], np.zeros((1, 2)))[0] if self._place is None else self._place
                self.texts.append(Text(words, place))
                if len(self.texts) > MOST_TEXTS:
                    raise ValueError(f"The drawing has more than {MOST_TEXTS} texts: delete those that are no labels")
            self._words = None
        self._matrices.pop()

    def say(self, words: str) -> None:
        """Words between elements."""
        if self._words is not None and not self._skipping:
            self._words.append(words)

    def _add(self, where: str, kind: str, attributes: dict[str, str], matrix: np.ndarray) -> None:
        outlines = svg_paths.of_shape(kind, attributes)
        if not outlines:
            self.unread[f"empty {kind} {where}"] = None
        name = where[1:-1]
        for number, outline in enumerate(outlines, 1):
            pieces = [_apply(matrix, piece) for piece in outline.pieces]
            self._pieces += len(pieces)
            if self._pieces > svg_paths.MOST_PIECES:
                raise ValueError(f"and what is before it have more than {svg_paths.MOST_PIECES:,} pieces")
            if not (np.abs(np.concatenate(pieces)) < LARGEST).all():
                raise ValueError(f"is farther than {LARGEST:g} m away")
            gap = float(np.linalg.norm(pieces[-1][-1] - pieces[0][0]))
            if not outline.closed and gap > JOINED:
                raise ValueError(f"is open by {gap:.3g} m: close the path, or delete it")
            pieces[-1][-1] = pieces[0][0]
            if area(np.concatenate(pieces)) > 0.0:  # clockwise, as y points down: all panels show their front
                pieces = [piece[::-1] for piece in reversed(pieces)]
            self.panels.append((name if len(outlines) == 1 else f"{name} {number}", _sides(pieces)))


def read(raw: bytes) -> Pattern:
    """A pattern from the bytes of a file; raises a `ValueError`, one sentence, unless all of it can be made."""
    if len(raw) > MOST_BYTES:
        raise ValueError(f"The file has {len(raw) / 1e6:.0f} MB: a pattern may have {MOST_BYTES / 1e6:.0f}")
    drawing, parser = _Drawing(), expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler, parser.EndElementHandler = drawing.start, drawing.end
    parser.CharacterDataHandler, parser.EntityDeclHandler = drawing.say, _refuse_entity
    try:
        parser.Parse(raw, True)
    except expat.ExpatError as error:
        raise ValueError(f"The file is no SVG: {error}") from error
    if not drawing.panels:
        raise ValueError("The file has no closed paths, which would be panels")
    stitches = _stitches(drawing)
    return Pattern(_placed(drawing.panels), stitches, list(drawing.unread))


def _refuse_entity(*_declared: object) -> None:
    raise ValueError("The file declares entities, which are not read: save it as plain SVG")


def _page(attributes: dict[str, str]) -> np.ndarray:
    """From the drawing's units to meters, (2, 3)."""
    box = [float(number) for number in svg_paths.NUMBERS.findall(attributes.get("viewBox", ""))]
    scale = svg_paths.METERS[""]
    if len(box) == 4 and box[2] > 0.0 and box[3] > 0.0:
        sizes = [
            svg_paths.length(attributes[name], scale * side) / side
            for name, side in (("width", box[2]), ("height", box[3]))
            if name in attributes
        ]
        scale = min(sizes, default=scale)
    if not 1e-9 < scale < 1e3:
        raise ValueError(f"The drawing's unit is {scale:g} m: its width, height and viewBox do not fit")
    return np.array([[scale, 0.0, 0.0], [0.0, scale, 0.0]])


def _times(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """What two transforms (2, 3) do, the second one first."""
    return np.column_stack([one[:, :2] @ other[:, :2], one[:, :2] @ other[:, 2] + one[:, 2]])


def _apply(matrix: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Points (k, 2) after a transform (2, 3)."""
    return np.asarray(points @ matrix[:, :2].T + matrix[:, 2])


def _sides(pieces: list[np.ndarray]) -> list[np.ndarray]:
    """Pieces of a closed outline joined to sides, from corner to corner; one side if there is none."""
    ways = [(piece[1] - piece[0], piece[-1] - piece[-2]) for piece in pieces]
    starts = np.array([first for first, _ in ways])
    ends = np.roll([last for _, last in ways], 1, axis=0)
    sizes = np.linalg.norm(starts, axis=1) * np.linalg.norm(ends, axis=1)
    corners = np.flatnonzero((starts * ends).sum(axis=1) < CORNER * sizes)
    if not len(corners):
        corners = np.array([0])
    following = np.append(corners[1:], corners[0] + len(pieces))
    return [
        np.concatenate([pieces[a % len(pieces)][:1], *(pieces[k % len(pieces)][1:] for k in range(a, b))])
        for a, b in zip(corners.tolist(), following.tolist())
    ]


def _placed(found: list[tuple[str, list[np.ndarray]]]) -> list[Panel]:
    """Panels with y up, counter-clockwise; around the middle and above the ground."""
    points = np.concatenate([side for _, sides in found for side in sides])
    middle, low = 0.5 * (points[:, 0].min() + points[:, 0].max()), points[:, 1].max()
    panels, names = [], dict[str, int]()
    for name, sides in found:
        names[name] = names.get(name, 0) + 1
        sides = [(side - [middle, low]) * [1.0, -1.0] for side in sides]
        panels.append(Panel(name if names[name] == 1 else f"{name} ({names[name]})", sides, UP, np.zeros(3), [], {}))
    return panels


def _stitches(drawing: _Drawing) -> list[Stitch]:
    """Which sides have the same label; texts that label none are noted."""
    every = [((panel, n), side) for panel, (_, sides) in enumerate(drawing.panels) for n, side in enumerate(sides)]
    owner = np.repeat(np.arange(len(every)), [len(side) - 1 for _, side in every])
    starts, ends = (np.concatenate([side[part] for _, side in every]) for part in (slice(-1), slice(1, None)))
    labels: dict[str, list[tuple[int, int]]] = {}
    for text in drawing.texts:
        far = distances(text.place[None], starts, ends)[0]
        if far.min() > NEAR:
            drawing.unread[f"text '{text.words[:40]}'"] = None
        else:
            labels.setdefault(text.words, []).append(every[owner[far.argmin()]][0])
    for words, sides in labels.items():
        if len(sides) != 2 or sides[0] == sides[1]:
            raise ValueError(
                f"Label '{words[:40]}' stands at {len(set(sides))} sides: a stitch has two. Move texts that are no "
                f"labels farther than {100 * NEAR:g} cm from the lines"
            )
    return [Stitch(one, other) for one, other in labels.values()]
