"""Recoding: a table with fewer codes, before anything in it is hidden ([2] §3)."""
