"""Canonical forms: digests that both program and database compute, names of people, arrays as bytes."""
