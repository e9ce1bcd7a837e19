"""Fabrics beside what laboratories measure of them: Cusick's drape tester, Peirce's cantilever, the pear loop.

`targets.toml` has what is published, with its sources; `measure` does what a laboratory does with a piece of each
fabric, by the scenes of `benchmarks.truth`; `report` writes `report.md` and `drapes.svg` beside this file. From the
root of the repository:

    make calibrate                            all fabrics: ten minutes on one core
    make calibrate ARGS="--only Cotton Silk"  some anew; the others stay in the report
    make calibrate ARGS=--quick               Cotton alone; prints and writes nothing
"""
