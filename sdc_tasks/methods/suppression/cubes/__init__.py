"""Hypercubes through all levels of a hierarchical table: each is a proof by itself, so that
very large tables can be protected.
"""
