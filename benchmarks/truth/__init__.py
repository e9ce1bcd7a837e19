"""Whether the physics is true at the default settings: what comes out beside analytic or converged results, and bars.

One file a subject. Each has a function `checks(kernels, automatic, quick)` that yields a `check.Check` for every figure
that it measures, with presets at the sizes at which people use them and settings that nobody has touched.
"""
