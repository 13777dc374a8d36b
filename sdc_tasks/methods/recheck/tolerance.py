"""By how much arithmetic on floats may miss."""

MET = 1e-5  # relative: what counts as reached
MISS = 2e-4  # of a requirement: by how much its witness may miss a relation or a bound
WHOLE = 1e-5  # what is left of one where sums of whole numbers are taken for whole
FAR = 1e4  # units beyond which no deviation is followed
SIDES = (-1, 1, 0)
