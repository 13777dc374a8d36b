"""The schema of operations: runs, steps, audits, cycles, and the decisions of people."""
