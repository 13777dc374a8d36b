"""Warehouses for the pages."""
