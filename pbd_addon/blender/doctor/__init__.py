"""What will go wrong, found before a run, and what helps.

To read in this order: `doctor` runs the checks, `patient` what they look at; `mesh_findings`,
`setup_findings` and `misplaced` are the checks, `remedies` what mends a finding. `leftovers` takes away what has lost
its owner.
"""
