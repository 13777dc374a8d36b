"""Instants and reference periods."""
