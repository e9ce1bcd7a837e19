"""The façade that scripts and the bridge use: a `Simulation` of bodies, with all frames cached.

Read `simulation` first: how it begins, steps and goes back. It adds that to what can be asked (`readings`), to where
things are to be at the end of the next frame (`inputs`), and to what can be changed from then on (`changes`).
"""

from .simulation import Simulation as Simulation
