"""The schema of operations: runs, steps, audits and cycles, and what people decide."""
