"""Controlled tabular adjustment: the closest table that keeps every sensitive cell away from its
true value.
"""
