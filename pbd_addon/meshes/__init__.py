"""Meshes: triangles, edges and islands, what is at one place, creases, seams, the surface as points follow it.

Nothing here knows of materials or of a step. Read `mesh.py` first.
"""
