"""Contact: with colliders, with other cloth, and of cloth with itself."""

from .collider import Collider
from .contact_constraints import ContactConstraints
from .crossings import crossing_faces, inside
from .seam_neighbors import SeamNeighbors
from .surface import Surface

__all__ = ["Collider", "ContactConstraints", "SeamNeighbors", "Surface", "crossing_faces", "inside"]
