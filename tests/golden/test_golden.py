"""The golden scenes have the bits that they had: what is only moved or renamed changes no result."""

from __future__ import annotations

import numpy as np
import pytest

from golden.bits import SHOWN, TOLERANCE, fingerprint, frames_of, written
from golden.scenes import SCENES, SMOOTH
from pbd_addon.kernels import available

KNOWN = written()


@pytest.mark.parametrize("kernels", available())
@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.newest
def test_a_scene_has_its_bits(scene, kernels):
    found, end = frames_of(scene, kernels)
    if scene in SMOOTH:
        np.testing.assert_allclose(end[::SHOWN], KNOWN["ends"][scene], atol=TOLERANCE)
    bits = KNOWN["bits"].get(fingerprint(kernels))
    expected = bits[scene] if bits else frames_of(scene, kernels)[0]  # other arithmetic: at least always the same
    different = [frame for frame, (one, other) in enumerate(zip(found, expected)) if one != other]
    assert found == expected, f"frames {different} of {scene} have other bits"
