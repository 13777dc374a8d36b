"""Rounding of whole tables: small count rounding ([4], `small_count`), controlled rounding ([2] §3,
`controlled.py`), and random rounding with quadratic programming ([3], `quadratic.py`). `release.py` applies
them to the indicators of a release.
"""
