"""CTA with the distance L2."""

from __future__ import annotations

from sdc_tasks.methods.cta.model import CtaProblem
from sdc_tasks.methods.cta.run import Run


def quadratic(problem: CtaProblem, run: Run, seed: int, rounds: int | None = None) -> None:
    raise NotImplementedError
