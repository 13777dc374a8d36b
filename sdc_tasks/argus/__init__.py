"""Batches of τ-ARGUS: its files are read and written, and its commands run on the methods of
this program; see docs/argus.md.
"""
