"""What pages of a cycle and of a release both show: approvals, steps, what became of a release, names for codes, numbers as text."""
