"""Features of a scene beyond springs and contact: gas, seams, tearing, plasticity, rest shapes that move, damping.

What a scene does not have is not entered.
"""
