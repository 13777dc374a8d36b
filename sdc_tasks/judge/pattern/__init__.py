"""Is a suppression pattern safe?

`verdict` has the question and the procedure; `witnesses` reads proofs that a method hands in, by plain
arithmetic; `programs` proposes further points where these leave primaries open.
"""

from sdc_tasks.judge.pattern.verdict import PatternVerdict, verify

__all__ = ["PatternVerdict", "verify"]
