"""Formats of deliveries, one module for each: from the bytes of a file to its records."""
