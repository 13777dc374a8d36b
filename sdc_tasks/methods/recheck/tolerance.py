"""By how much arithmetic on floats may miss."""

SIDES = (-1, 1, 0)  # downwards, upwards, both together
LEVEL_REACHED = 1.001e-6  # relative: what counts as reached
MISS = 2e-4  # of a requirement: by how much its witness may miss relations and bounds
SAME = 1e-6  # relative: a bound that is told, and the same computed again
WHOLE = 1e-5  # what is left of one where sums of whole numbers are taken for whole
EXACT = 1e-14  # relative: the noise of adding up, nothing more
