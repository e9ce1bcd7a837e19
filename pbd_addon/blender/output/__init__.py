"""How a mesh shows its simulated shape. It stands below `input`, which has to look past what is shown.

To read in this order: `output_choice` decides between a shape key and a modifier, `shape_keys` and `output_modifier`
are the two, and `output` writes the shape through the one that was chosen.
"""
