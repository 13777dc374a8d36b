"""Bases that withstand somebody who has the program (METHOD §9): what a secret key takes away,
and the rule over what is left.

floors   the finest option that the key leaves each cell
rule     the finest choice that is left, if it passes; else a search for one that passes
"""
