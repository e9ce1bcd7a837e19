"""Figures of the papers, made anew with this engine; `run` writes docs/figures.md."""
