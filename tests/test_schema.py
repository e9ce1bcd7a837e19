"""Schemas of JSON that are made of types: what fits them, and where something does not."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import pytest

from pbd_addon.io import schema

Small = Annotated[int, range(3)]


class Line(NamedTuple):
    name: str
    start: float
    counts: list[Small]
    by_name: dict[str, tuple[int, bool]]
    end: int | None


FITS = {"name": "a", "start": 0.5, "counts": [0, 2], "by_name": {"b": [7, True]}, "end": None}


def test_a_schema_of_a_named_tuple_takes_what_it_holds():
    assert schema.misfit(FITS, schema.of(Line), "it") == ""
    assert schema.misfit(FITS | {"end": 4}, schema.of(Line), "it") == ""


@pytest.mark.parametrize(
    ("changed", "where"),
    [
        ({"name": 1}, "it.name"),
        ({"name": "a\0"}, "it.name"),
        ({"start": 1}, "it.start"),
        ({"counts": [0, 3]}, "it.counts[1]"),
        ({"counts": {}}, "it.counts"),
        ({"by_name": {"b": [7, 1]}}, "it.by_name.b[1]"),
        ({"by_name": {"b": [7]}}, "it.by_name.b"),
        ({"end": "x"}, "it.end"),
        ({"end": True}, "it.end"),
        ({"more": 1}, "it"),
    ],
)
def test_where_something_does_not_fit_is_told(changed, where):
    assert schema.misfit(FITS | changed, schema.of(Line), "it") == where
