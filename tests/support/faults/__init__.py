"""Releases that are disturbed."""
