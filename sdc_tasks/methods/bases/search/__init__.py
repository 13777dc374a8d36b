"""The search for safe bases that lose least: cuts that attacks leave, choices that meet them,
repair until no attack succeeds.
"""
