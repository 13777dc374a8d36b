"""Rounding of tables of counts, each system beside its paper."""
