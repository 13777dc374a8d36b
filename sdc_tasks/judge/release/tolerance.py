"""By how much arithmetic on floats may miss."""

SIDES = (-1, 1, 0)  # downwards, upwards, both together
LEVEL_REACHED = 1.001e-6  # relative: what counts as reached
MISS = 2e-4  # of a requirement: by how much its witness may miss relations and bounds
SAME = 1e-6  # relative: a bound in the evidence and the recomputed bound may differ by this
WHOLE = 1e-5  # a sum this close to a whole number counts as whole
EXACT = 1e-14  # relative: numerical noise of sums
