"""Lists of different lengths in two flat arrays, such as the triangles at each vertex."""

from __future__ import annotations

import numpy as np


def by_owner(owners: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Sort entries by their owner.

    Args:
        owners: Owner of each entry, (m,) int.
        count: Number of owners.

    Returns:
        order: Stable permutation that sorts the entries, (m,) int.
        starts: Where each owner's list begins in the sorted entries, (count + 1,) int; the last one is m.
    """
    order = np.argsort(owners, kind="stable")
    return order, np.searchsorted(owners[order], np.arange(count + 1))


def entries(starts: np.ndarray, lists: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The entries of some of the lists, one list after the other.

    Args:
        starts: Where each list begins, and the end of the last one, (count + 1,) int.
        lists: Numbers of the wanted lists, (k,) int.

    Returns:
        rows: Their entries, (r,) int.
        begins: Where each of them begins in `rows`, (k,) int.
    """
    sizes = starts[lists + 1] - starts[lists]
    begins = np.cumsum(sizes) - sizes
    return np.arange(int(sizes.sum())) + np.repeat(starts[lists] - begins, sizes), begins
