"""Benders' reformulation of [2] §5.2: a master over the senses of the sensitive cells, cuts from
linear programs over all cells.
"""
