"""Distinct integers."""

import numpy as np
import pytest

from pbd_addon.arrays.distinct import distinct


@pytest.mark.parametrize("shape", [(0,), (1,), (50,), (2, 30), (3, 0)])
@pytest.mark.parametrize("kind", [np.int64, np.int32])
def test_distinct_values_are_those_of_numpy(shape, kind):
    values = np.random.default_rng(1).integers(-9, 9, shape).astype(kind)
    found = distinct(values)
    assert np.array_equal(found, np.unique(values)) and found.dtype == kind
