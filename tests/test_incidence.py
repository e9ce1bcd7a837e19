"""Lists of different lengths in two flat arrays."""

import numpy as np

from pbd_addon.arrays.incidence import by_owner, entries


def test_entries_are_those_of_the_wanted_lists_one_after_the_other():
    owners = np.array([4, 0, 2, 0, 4, 4])
    order, starts = by_owner(owners, 5)
    assert [order[starts[k] : starts[k + 1]].tolist() for k in range(5)] == [[1, 3], [], [2], [], [0, 4, 5]]
    rows, begins = entries(starts, np.array([4, 1, 0]))
    assert order[rows].tolist() == [0, 4, 5, 1, 3] and begins.tolist() == [0, 3, 3]
