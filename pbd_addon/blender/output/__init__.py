"""How a mesh shows its simulated shape; `read` is above it in the import order, to ignore what is shown.

Read in this order: `output_choice` decides between a shape key and a modifier, `shape_keys` and `output_modifier` are
the two, and `output` writes the shape with the chosen one.
"""
