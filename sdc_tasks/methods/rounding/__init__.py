"""Rounding of whole tables. Each method has its paper: small counts ([4], `small_count`), controlled rounding ([2] §3, `controlled.py`),
random rounding with quadratic programming ([3], `quadratic.py`). `release.py` applies them to indicators of a release.
"""
