"""Oracles that share no code with the program, and what the laws draw."""
