"""Each kind of constraint says at the top of its file what its rows are; `test_gradients` computes it."""

from __future__ import annotations

import re
import sys

import pytest

from pbd_addon import constraints
from pbd_addon.constraints import Constraints

MODULES = [
    kind.__module__
    for kind in vars(constraints).values()
    if isinstance(kind, type) and issubclass(kind, Constraints) and kind is not Constraints
]


@pytest.mark.parametrize("module", sorted(set(MODULES)))
def test_a_file_begins_with_its_formulas(module):
    """Four lines for each kind."""
    text = sys.modules[module].__doc__ or ""
    blocks = [block.splitlines() for block in text.split("\n\n") if block.startswith("C =")]
    assert len(blocks) == MODULES.count(module), text
    for lines in blocks:
        assert [re.match(r"(\S+?)( =|:) ", line)[1] for line in lines] == ["C", "∇C", "α", "from"]
