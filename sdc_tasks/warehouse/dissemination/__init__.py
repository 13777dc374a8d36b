"""The published tables: how a release is published, what other domains have published, and
the lineage of a published cell.
"""
