"""Structures as registries and NSIs send them: code lists, data structures, data flows, content
constraints; in a file or a folder.
"""
