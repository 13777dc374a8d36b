"""Is a suppression pattern safe?

`verdict` has the question and the procedure; `witnesses` reads proofs that a method hands in, by plain
arithmetic; `programs` proposes further points where these leave primaries open. `min_contributors` counts who
stands behind the hidden parts of a relation. What must be protected is that of the problem; sums of hidden
cells come as primaries of a larger problem (`methods/suppression/pattern/sums.py`).
"""

from sdc_tasks.judge.pattern.verdict import PatternVerdict, verify

__all__ = ["PatternVerdict", "verify"]
