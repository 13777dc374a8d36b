"""Tables that are no deliveries, for the commands that round or adjust one table: τ-ARGUS
files, counts, tables to be rounded.
"""
