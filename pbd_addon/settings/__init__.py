"""What a setting is, those of the solver, and what follows the size of cloth.

Those of materials stand in the files of the parts that use them. Read `fields.py` first.
"""
