"""Tearing: split cloth is one until its strength is exceeded, comes apart where it should, and keeps its mass."""

from __future__ import annotations

import dataclasses

import numpy as np

from pbd_addon import Material

COTTON = dataclasses.replace(Material.preset("Cotton"), drag=0.0, air_normal=0.0, air_tangent=0.0)


def split(vertices, faces):
    """Each face with vertices of its own, and the vertex that each was."""
    corners = np.array(faces)
    return vertices[corners.ravel()], np.arange(corners.size).reshape(corners.shape), corners.ravel()
