"""The doctor finds problems before a run, and fixes them.

Read in this order: `doctor` runs the checks on what `mesh_exam` reads; `mesh_findings`, `setup_findings` and
`misplaced` are the checks, `fixes` repairs what they find. `leftovers` removes our data that has lost its owner.
"""
