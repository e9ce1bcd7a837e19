"""Ropes: bending of loose edges, as of a ribbon of `ROPE_WIDTH`. How it is solved is in `constraints/ropes.py`."""

from __future__ import annotations

from ..constraints import RopeBendConstraints, rope_rows
from ..model.model import Model
from ..model.part import Part

ROPE_WIDTH = 0.01
"""A loose edge weighs and pulls like a ribbon of its body's material of this width [m]."""


class Ropes(Part):
    """The ropes of a scene, but for those whose masses or compliances are given."""

    def __init__(self, model: Model) -> None:
        found = []
        for body, mesh in zip(model.bodies, model.meshes()):
            loose = mesh.edges[(mesh.edge_areas == 0.0) & (mesh.edge_lengths(body.rest_vertices) > 0.0)]
            found.append(rope_rows(loose if body.is_usual else loose[:0], len(body.vertices)))
        rows, owner = model.stacked(found)
        self.constraints = (RopeBendConstraints(rows, owner, model.rest_vertices, ROPE_WIDTH),)
