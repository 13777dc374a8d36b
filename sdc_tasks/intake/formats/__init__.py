"""Formats of deliveries, a module each: from the bytes of a file to its records."""
