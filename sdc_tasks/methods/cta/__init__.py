"""Controlled tabular adjustment: the closest table that keeps every sensitive cell away from its true value."""

from sdc_tasks.methods.cta.engine import Options, execute
from sdc_tasks.methods.cta.ladder import climb
from sdc_tasks.methods.cta.model import CtaProblem, Distance, release_problem, table_problem
from sdc_tasks.methods.cta.run import Moment, Run
from sdc_tasks.methods.cta.verify import Verdict, verify

__all__ = [
    "CtaProblem",
    "Distance",
    "Moment",
    "Options",
    "Run",
    "Verdict",
    "climb",
    "execute",
    "release_problem",
    "table_problem",
    "verify",
]
