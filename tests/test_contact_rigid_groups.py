"""Which colliders move together, as the crossing guard sees it."""

from __future__ import annotations

import numpy as np

from helpers.meshes import turned
from pbd_addon.contact.crossing_guard import UNGROUPED, find_rigid_groups


def test_colliders_that_turn_as_one_share_a_frame():
    """Two clouds that one rotation carries have one number and its gradient; a third that goes its own way another, a
    cloud that deforms none; what stands still, and what is free, has group 0."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 3))
    p = turned(x, 0.1, 2) + np.array([0.1, 0.0, 0.2])
    p[20:30] = x[20:30] + np.array([0.0, 0.3, 0.0])
    p[30:40] = x[30:40] + rng.normal(size=(10, 3))
    p[40:50] = x[40:50]
    w = np.zeros(60)
    w[50:] = 1.0
    parts = [slice(0, 10), slice(10, 20), slice(20, 30), slice(30, 40)]
    number, gradients = find_rigid_groups(p.T.copy(), x.T.copy(), w, parts, 0.01)
    assert len(set(number[:20].tolist())) == 1 and number[0] > 0
    assert len(set(number[20:30].tolist())) == 1 and number[20] > 0 and number[20] != number[0]
    assert (number[30:40] == UNGROUPED).all()
    assert (number[40:] == 0).all()
    np.testing.assert_array_equal(gradients[0], 0.0)
    np.testing.assert_allclose(gradients[number[0]], turned(np.eye(3), 0.1, 2).T - np.eye(3), atol=1e-9)
    np.testing.assert_allclose(gradients[number[20]], 0.0, atol=1e-9)
