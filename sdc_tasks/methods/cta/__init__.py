"""Controlled tabular adjustment: the closest table that keeps every sensitive cell away from its true value."""

from sdc_tasks.methods.cta.ladder import climb
from sdc_tasks.methods.cta.model import CtaProblem, Verdict, release_problem, verify

__all__ = ["CtaProblem", "Verdict", "climb", "release_problem", "verify"]
