"""The sides of a requirement."""

SIDES = (-1, 1, 0)  # downwards, upwards, both together
