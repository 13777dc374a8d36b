"""Rounding of whole tables, each system beside its paper: small counts ([4], `small_count`), controlled rounding ([2] §3, `controlled.py`),
random rounding with quadratic programming ([3], `quadratic.py`); and of indicators of a release (`release.py`).
"""
