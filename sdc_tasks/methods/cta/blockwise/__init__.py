"""Methods that solve one block of the sensitive cells after the other: block coordinate descent, and
fix-and-relax.
"""
