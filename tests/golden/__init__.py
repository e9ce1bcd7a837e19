"""Golden scenes: small scenes in which every part of the engine occurs, and the bits that they had.

A change that is to change no result must leave them as they are. `scenes.py` has the scenes, `bits.py` hashes them;
`PYTHONPATH=tests python -m golden` writes `bits.json` anew, after a change that is meant to change results.
"""
