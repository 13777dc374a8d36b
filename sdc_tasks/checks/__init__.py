"""Content checks of one complete national table: does it add up, does it say what its flags say."""

from sdc_tasks.checks.suite import check, describe, refusals

__all__ = ["check", "describe", "refusals"]
