"""The pages of a release: its protection, the changes since the previous version, and the releases of the
domain.
"""
