"""Partial suppression: an interval for each cell instead of a blank ([2] §6; Fischetti & Salazar-González
2003).
"""
