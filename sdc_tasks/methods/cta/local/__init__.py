"""The fast path: first tables, and local search by regions of the table."""
