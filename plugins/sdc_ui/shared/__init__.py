"""What pages of a cycle and of a release both show: approvals, steps, the state of a release,
names for codes, numbers as text.
"""
