"""The sections of docs/figures.md: each makes its picture, and returns its text with the numbers that were measured."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pbd_addon.kernels import available
from tests.helpers.meshes import circle, prism

from ..text import table
from . import characters, curves, folds, sheets, springs

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"
KERNELS = available()[-1]
"""Numba where it is: both backends give the same result, and it is quicker."""


def picture(name: str, alt: str, kind: str = "png") -> str:
    """A picture of the page."""
    return f"![{alt}](images/figure_{name}.{kind})"


def plot(name: str, alt: str, plots: list[curves.Plot]) -> str:
    """Save curves; returns the picture."""
    (IMAGES / f"figure_{name}.svg").write_text(curves.draw(plots), encoding="utf-8")
    return picture(name, alt, "svg")


def paragraphs(*parts: str) -> str:
    """Parts of a page with an empty line between them."""
    return "\n\n".join(parts)


def muller_3() -> str:
    """Stretching against bending."""
    from .studio import BLUE, YELLOW, Part, render

    quads = sheets.grid(20, 20, 1.0, 1.0)[1]
    rows, pictures = [], []
    for bend, color in zip(sheets.BEND["PBD"][1], (BLUE, YELLOW)):
        hung = [
            sheets.hang("PBD", k, bend, 20, substeps=60, iterations=1, span=0.7, kernels=KERNELS)
            for k in sheets.STRETCH["PBD"][1]
        ]
        rows.append([f"bending {bend:g}", *(f"{100 * h.strain:.2f} %, {h.fold:.1f}°" for h in hung)])
        pictures.append([[Part(_raised(h.x, 1.3), quads, "fabric", color)] for h in hung])
    render("muller_3", pictures, ((0.6, -3.6, 0.95), (0.0, 0.25, 0.68)))
    return paragraphs(
        "Six sheets of 21 × 21 vertices hang from two corners that have come together by 30 %, with the method PBD, 60 "
        "substeps of one pass, and dihedral bending. The paper shows a cloth bag, and no numbers.",
        picture("muller_3", "Six sheets: three stretching stiffnesses, with bending and without"),
        "Ours, mean lengthening of the edges and mean fold of the hinges:",
        table(["", "stretching 1", "stretching 1/2", "stretching 1/100"], rows),
        "Down a column, the lengthening changes little, and the folds go; along a row it is the other way round. The "
        "paper's words for it: independent parameters.",
    )


def muller_6() -> str:
    """A folded cloth."""
    from .studio import BLUE, Part, render

    quads = sheets.grid(folds.COLUMNS, folds.ROWS, 1.0, 1.0)[1]
    folded = folds.lay_down(kernels=KERNELS)
    mesh = folded.body.mesh
    # Its folds are seen from the side.
    c, s = np.cos(1.0), np.sin(1.0)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    shots = [[Part(x @ turn, quads, "fabric", BLUE)] for x in folded.frames]
    render("muller_6", [shots], ((0.0, -1.5, 0.42), (0.0, 0.0, 0.14)))
    rows = [
        ["vertices, triangles", "1364, 2562", f"{len(folded.body.vertices)}, {len(mesh.triangles)}"],
        ["edges through faces", "none (words)", f"{folded.crossings}"],
        ["layers on one another", "–", f"{folded.layers}"],
        ["speed at rest, rms", "–", f"{1e3 * folded.speed:.1f} mm/s"],
        ["a frame", "33 ms, Pentium 4 at 3 GHz", f"{1e3 * folded.cpu:.0f} ms of CPU, {KERNELS} kernels"],
    ]
    return paragraphs(
        "A strip of *Cotton* is let down to and fro on a floor, and let go of. The paper shows the folds at rest and "
        "not how they came about. Only a grid of 22 × 62 has the paper's numbers of vertices and triangles, so ours "
        "is one.",
        picture("muller_6", "A strip of cloth is laid down in folds"),
        table(["", "Müller et al.", "ours"], rows, texts=3),
    )


def muller_7() -> str:
    """Overpressure inside of a character."""
    from .studio import RED, Part, render

    quads = characters.bear(cells=26)[1]
    found = characters.inflate(kernels=KERNELS)
    shots = [[Part(_centered(one.x), quads, "rubber", RED)] for one in found]
    render("muller_7", [shots], ((0.28, -1.05, 0.3), (0.0, 0.0, 0.2)))
    head = ["volume asked for", *(f"{v:g}" for v in (1.0, 1.5, 2.0, 3.0))]
    rows = [
        ["volume reached", *(f"{one.volume:.4f}" for one in found)],
        ["pressure shown [Pa]", *(f"{one.pressure:z.0f}" for one in found)],
        ["pressure that the skin needs [Pa]", *(f"{one.needed:z.0f}" for one in found)],
        ["mean lengthening of the edges", *(f"{100 * one.strain:z.1f} %" for one in found)],
        ["longest edge", *(f"+{100 * one.longest:.0f} %" for one in found)],
        ["motion of the skin, rms [mm/s]", *(f"{1e3 * one.motion:.1f}" for one in found)],
    ]
    return paragraphs(
        f"A bear of {len(found[0].body.vertices)} vertices, 30 cm high, with the skin of the preset *Party Balloon*, "
        "floats and is blown up step by step, three seconds each, at the default settings. The paper shows a "
        "character of its own, and no numbers but the factor of overpressure.",
        picture("muller_7", "A toy bear is blown up to three times its volume"),
        table(head, rows),
        "The pressure that the skin needs is the virial of its edges' tension, Σ T l / 3 V.",
    )


def muller_9() -> str:
    """A rotating barrel."""
    from .studio import YELLOW, Part, render

    quads = sheets.grid(folds.COLUMNS, folds.ROWS, 1.0, 1.0)[1]
    shown, shots, highest = (8, 34, 52, 78), [], -1.0
    seen = None
    for frame, seen in enumerate(folds.tumble(max(shown), kernels=KERNELS), 1):
        x = seen.simulation.positions(seen.body)
        highest = max(highest, x[:, 2].max())
        if frame in shown:
            up = np.array([0.0, 0.0, folds.RADIUS + 0.01])
            # Its front stays open to the eye.
            wall = prism(circle(folds.RADIUS, folds.SIDES), folds.LENGTH)[1]
            wall = wall[~(seen.barrel[wall][:, :, 1] < 0.0).all(axis=1)]
            shots.append([
                Part(x + up, quads, "fabric", YELLOW),
                Part(seen.boards + up, folds.paddles()[1], "wall", (0.1, 0.12, 0.14)),
                Part(seen.barrel + up, wall, "wall", (0.7, 0.72, 0.75)),
            ])  # fmt: skip
    assert seen is not None
    render("muller_9", [shots], ((0.25, -2.3, 0.75), (0.0, 0.0, 0.42)))
    report = seen.simulation.reports[max(shown)]
    rows = [
        ["vertices, triangles", "1364, 2562", f"{len(seen.body.vertices)}, {len(seen.body.mesh.triangles)}"],
        ["edges through faces", "none (words)", f"{report.crossings}"],
        ["highest point over the axis", "–", f"{100 * highest:.0f} cm of 40"],
        ["95th percentile of strain", "–", f"{100 * report.strain_p95:.1f} %"],
    ]
    return paragraphs(
        "The same cloth tumbles in a closed barrel of 80 cm that turns once in four seconds and has four paddles; "
        "frames 8, 34, 52 and 78. The paper's barrel is not described; `tests/blender/test_samples.py` watches 60 "
        "frames of it.",
        picture("muller_9", "A cloth is carried up and falls in a turning barrel"),
        table(["", "Müller et al.", "ours"], rows, texts=3),
        "A barrel with paddles is also among the samples: `sample_blends/barrel.blend`.",
    )


def muller_11() -> str:
    """Three inflated characters."""
    from .studio import BLUE, GREEN, RED, Part, render

    quads = characters.bear(cells=20)[1]
    pile = characters.pile(kernels=KERNELS)
    shots = [
        [Part(x, quads, "rubber", color) for x, body, color in zip(frame, pile.bodies, (RED, BLUE, GREEN))]
        for frame in pile.frames
    ]
    render("muller_11", [shots], ((0.5, -2.5, 0.75), (0.0, 0.0, 0.45)))
    volumes = ", ".join(f"{volume:.4f}" for volume in pile.volumes)
    rows = [
        ["edges through faces", "none (words)", f"{pile.crossings}"],
        ["vertices that touched cloth in a frame, at most", "–", f"{pile.touching}"],
        ["volume at the end over that held", "–", volumes],
        ["motion of the skins at the end, rms", "–", f"{1e3 * pile.motion:.1f} mm/s"],
    ]
    return paragraphs(
        f"Three bears of {len(pile.bodies[0].vertices)} vertices each, *Party Balloon* at 1.3 times their volume, "
        "fall on one another and on the floor; frames 1, 16, 28 and 72. The paper's characters are not given, and it "
        "tells no numbers.",
        picture("muller_11", "Three toy bears fall on one another"),
        table(["", "Müller et al.", "ours"], rows, texts=3),
    )


def macklin_1() -> str:
    """Volume against skin."""
    from .studio import BLUE, RED, Part, render

    quads = characters.bear(cells=18)[1]
    rows, pictures = [], []
    for rigid, color in ((True, RED), (False, BLUE)):
        row = []
        for stretch in (characters.STIFF, characters.SOFT):
            one, more = (characters.sit(stretch, rigid, iterations, kernels=KERNELS) for iterations in (1, 4))
            row.append([Part(one.x, quads, "rubber", color)])
            rows.append([
                "rigid" if rigid else "gives way", f"{stretch:g} N/m",
                f"{100 * np.ptp(one.x[:, 2]):.1f}, {100 * np.ptp(more.x[:, 2]):.1f}",
                f"{one.volume:.3f}, {more.volume:.3f}", f"{100 * one.strain:.1f}, {100 * more.strain:.1f}",
            ])  # fmt: skip
        pictures.append(row)
    render("macklin_1", pictures, ((0.22, -0.6, 0.24), (0.0, 0.02, 0.045)))
    return paragraphs(
        "A heavy bear (2 kg/m²) lies on its back. From left to right its skin is stiff and soft, from top to bottom "
        "its volume is rigid and gives way; the latter is [a kind of one's own](physics.md#a-kind-of-your-own), a "
        f"bulk modulus of {characters.SOFT_AIR:g} Pa. The paper shows a body of its own, and no numbers: it says that "
        "either stiffness can be set by itself, whatever the iterations.",
        picture("macklin_1", "A bear sags by its skin, by its volume, or by both"),
        "Ours with 1 and with 4 iterations:",
        table(["volume", "skin", "height [cm]", "volume over rest", "mean lengthening [%]"], rows, texts=2),
        "Where the two figures of a pair differ, one iteration has not quite converged.",
    )


def macklin_2() -> str:
    """A mass on a spring."""
    steps = 60
    t = springs.STEP * np.arange(steps + 1)
    exact = 1.0 + 0.5 * np.cos(t / np.sqrt(springs.OSCILLATOR_COMPLIANCE))
    implicit = springs.implicit_oscillation(steps)
    k = 1.0 / (1.0 + springs.OSCILLATOR_COMPLIANCE / springs.STEP**2)
    counts = (1, 5, 10)
    xpbd = {n: springs.oscillate("XPBD", n, steps) for n in counts}
    pbd = {n: springs.oscillate("PBD", n, steps, springs.raw(k, n)) for n in counts}
    fine = springs.oscillate("XPBD", 1, steps, substeps=20)
    lines = [
        curves.Curve("exact", t, exact, True), curves.Curve("XPBD, any iterations", t, xpbd[1]),
        curves.Curve("XPBD, second order", t, fine), *(curves.Curve(f"PBD, {n}", t, pbd[n]) for n in (5, 10)),
    ]  # fmt: skip
    shown = plot("macklin_2", "Place of the mass over time", [
        curves.Plot("A mass on a spring", "time [s]", "place [m]", lines)
    ])  # fmt: skip
    true = 2.0 * np.pi * np.sqrt(springs.OSCILLATOR_COMPLIANCE)
    rows = [["exact", f"{true:.4f}", "", ""]]
    for n in counts:
        apart = np.abs(xpbd[n] - implicit).max()
        rows.append([f"XPBD, {_iterations(n)}", f"{springs.STEP * springs.period(xpbd[n]):.4f}", f"{apart:.0e}", ""])
    rows.append(["XPBD, 10 substeps of second order", f"{springs.STEP * springs.period(fine):.4f}", "", ""])
    for n in counts:
        prime = springs.STEP * springs.period(springs.oscillate("PBD", n, steps, k))
        rows.append([f"PBD, {_iterations(n)}", f"{springs.STEP * springs.period(pbd[n]):.4f}", "", f"{prime:.4f}"])
    return paragraphs(
        "Rest length 1 m, start at 1.5 m, 1 kg, compliance 0.001 m/N, as in the paper, with steps of 8 ms. The paper "
        "finds XPBD close to the exact solution with any iterations, its damping being that of implicit Euler, and "
        "PBD to depend on the iterations.",
        shown,
        table(["", "period [s]", "apart from implicit Euler [m]", "period with k′ [s]"], rows),
        "Ours is implicit Euler to rounding with 1, 5 and 10 iterations, and 10 substeps of second order take nearly "
        f"all of its damping away. PBD has k = {k:.4f} in each iteration, with which one of them is right. The last "
        "column is Müller's k′ = 1 − (1 "
        "− k)^(1/n), which mends a constraint that is alone.",
    )


def macklin_3() -> str:
    """Forces in a chain."""
    reference, shape = springs.newton_chain()
    settled = slice(10, None)
    runs = {f"{n} iterations of plain sweeps": springs.falling_chain(n, False) for n in (50, 100, 1000)}
    runs["1 iteration of ours"] = springs.falling_chain(1, True)
    theirs = {50: "6 %", 100: "2 %", 1000: "0.5 %"}
    rows = []
    for name, (forces, x) in runs.items():
        error = np.abs(forces - reference) / reference
        count = int(name.split()[0])
        rows.append([
            name, theirs.get(count, "–"), f"{100 * error[settled].max():.1f} %", f"{100 * error.max():.1f} %",
            f"{1e3 * np.linalg.norm(x - shape, axis=1).max():.0f} mm",
        ])  # fmt: skip
    step = np.arange(1, springs.CHAIN_FRAMES + 1)
    lines = [curves.Curve("Newton", step, reference, True)]
    lines += [curves.Curve(name.replace(" of plain sweeps", ""), step, forces) for name, (forces, _) in runs.items()]
    off = [curves.Curve("Newton", step[settled], 0.0 * step[settled], True)]
    off += [
        curves.Curve(name.replace(" of plain sweeps", ""), step[settled], 100 * (forces / reference - 1.0)[settled])
        for name, (forces, _) in runs.items()
    ]
    shown = plot("macklin_3", "Force at the support over the frames, and its error", [
        curves.Plot("Force at the support of a falling chain", "step", "force [N]", lines),
        curves.Plot("Its error", "step", "off Newton's [%]", off),
    ])  # fmt: skip
    return paragraphs(
        "A chain of 20 particles of 1 kg, compliance 10⁻⁸ m/N, begins level and falls for 100 steps. The force at the "
        "support is compared with that of Newton's method on the same steps, with the geometric stiffness that XPBD "
        "leaves out. The paper names no step; with 1/60 s plain sweeps of Gauss–Seidel, which ours are as [a kind of "
        "one's own](physics.md#a-kind-of-your-own), err as the paper's do.",
        shown,
        table(["", "largest error, Macklin et al.", "ours after step 10", "ours in any step", "ours, shape"], rows),
        "In the first steps the chain hangs on nothing yet, and a small force is off by much. The engine solves a "
        "chain as a whole; what is left of the error with one iteration is the geometric stiffness.",
    )


def macklin_6() -> str:
    """Hanging cloth, and Table 1."""
    from .studio import BLUE, YELLOW, Part, render

    quads = sheets.grid(63, 63, 1.0, 1.0)[1]
    found = {method: [sheets.drop(method, n, kernels=KERNELS) for n in sheets.ITERATIONS] for method in ("PBD", "XPBD")}
    pictures = [
        [[Part(_raised(one.x, 2.6), quads, "fabric", color)] for one in found[method]]
        for method, color in (("PBD", YELLOW), ("XPBD", BLUE))
    ]
    render("macklin_6", pictures, ((0.8, -6.6, 1.6), (0.0, 0.3, 1.4)))
    pbd, xpbd = found["PBD"], found["XPBD"]
    rows = [
        ["depth, PBD [m]", *(f"{one.depth:.3f}" for one in pbd)],
        ["depth, XPBD [m]", *(f"{one.depth:.3f}" for one in xpbd)],
        ["mean lengthening, PBD", *(f"{100 * one.strain:.1f} %" for one in pbd)],
        ["mean lengthening, XPBD", *(f"{100 * one.strain:.2f} %" for one in xpbd)],
        ["a step, PBD, Macklin et al. [ms]", "0.95", "1.75", "3.25", "5.61"],
        ["a step, XPBD, Macklin et al. [ms]", "0.97", "1.78", "3.34", "5.65"],
        ["a step, PBD, ours [ms of CPU]", *(f"{1e3 * one.cpu:.0f}" for one in pbd)],
        ["a step, XPBD, ours [ms of CPU]", *(f"{1e3 * one.cpu:.0f}" for one in xpbd)],
        ["XPBD over PBD, Macklin et al.", "1.02", "1.02", "1.03", "1.01"],
        ["XPBD over PBD, ours", *(f"{b.cpu / a.cpu:.2f}" for a, b in zip(pbd, xpbd))],
    ]
    spread = max(one.depth for one in xpbd) / min(one.depth for one in xpbd) - 1.0
    return paragraphs(
        "A sheet of 64 × 64 particles with stretch, shear and bending hangs by two corners for 0.75 s; from left to "
        f"right 20, 40, 80 and 160 iterations, PBD above, XPBD below. Ours has {pbd[0].constraints} constraints, the "
        "paper's 24 000 distances. PBD has the paper's k of 0.01 in each iteration; in steps of 1/480 s, since at "
        "1/60 s that would not hold a cloth. The paper's step and stiffness of XPBD are not given.",
        picture("macklin_6", "With PBD the cloth hangs less deep the more iterations; with XPBD always the same"),
        table(["iterations", *(str(n) for n in sheets.ITERATIONS)], rows),
        f"XPBD's depths are within {100 * spread:.2f} %. Table 1 was measured on a graphics card with Jacobi's "
        f"iteration; ours are on one core, {KERNELS} kernels. Ours costs more than PBD because XPBD also solves "
        "chains of edges in every iteration, which PBD goes without.",
    )


def report_5() -> str:
    """The course report's falling cloth."""
    counts = (1, 5, 25)
    lines = {
        method: [curves.Curve(_iterations(n), *sheets.profile(method, n, kernels=KERNELS).T) for n in counts]
        for method in ("PBD", "XPBD")
    }  # fmt: skip
    shown = plot("report_5", "The falling sheet from the side", [
        curves.Plot(f"{method}: a falling sheet from the side", "from the pinned edge [m]", "height [m]", own, True)
        for method, own in lines.items()
    ])  # fmt: skip
    apart = {}
    for method, own in lines.items():
        places = np.array([[curve.x, curve.y] for curve in own])
        apart[method] = np.linalg.norm(places - places[-1], axis=1).max(axis=1)
    rows = [[method, *(f"{1e3 * d:.1f}" for d in apart[method][:-1])] for method in apart]
    return paragraphs(
        "A square metre of *Cotton*, 31 × 31 vertices, is held level by one edge and falls for a third of a second, "
        "in 5 substeps a frame. The report shows a cloth as it begins to fall; with PBD its curvature depends on the "
        "iterations, with XPBD it does not. It gives no numbers.",
        shown,
        "Largest distance of the middle line from that with 25 iterations [mm]:",
        table(["", *map(_iterations, counts[:-1])], rows),
        "PBD has k = 0.1 in each iteration. Sags at rest are compared in `tests/test_stiffness_iterations.py`.",
    )


def _iterations(count: int) -> str:
    return f"{count} iteration{'s' * (count > 1)}"


def _raised(x: np.ndarray, height: float) -> np.ndarray:
    return x + np.array([0.0, 0.0, height])


def _centered(x: np.ndarray) -> np.ndarray:
    """Positions (n, 3) with their middle over the origin, at the height of a bear's."""
    return x - 0.5 * (x.min(axis=0) + x.max(axis=0)) + np.array([0.0, 0.0, 0.2])


SECTIONS = {
    "muller-3": ("Müller et al. 2007, Fig. 3: bending and stretching are independent", muller_3),
    "muller-6": ("Müller et al. 2007, Fig. 6: a folded cloth", muller_6),
    "muller-7": ("Müller et al. 2007, Fig. 7: overpressure inside a character", muller_7),
    "muller-9": ("Müller et al. 2007, Fig. 9: a rotating barrel", muller_9),
    "muller-11": ("Müller et al. 2007, Fig. 11: three inflated characters", muller_11),
    "macklin-1": ("Macklin et al. 2016, Fig. 1: volume against skin", macklin_1),
    "macklin-2": ("Macklin et al. 2016, Fig. 2: a mass on a spring", macklin_2),
    "macklin-3": ("Macklin et al. 2016, Fig. 3: forces in a chain", macklin_3),
    "macklin-6": ("Macklin et al. 2016, Fig. 6 and Table 1: hanging cloth", macklin_6),
    "report-5": ("The course report on XPBD, Fig. 5: a cloth that begins to fall", report_5),
}
"""Title and maker of each figure, in the order of the page."""
