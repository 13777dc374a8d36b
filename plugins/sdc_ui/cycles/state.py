"""How far a cycle is, by its newest release, its newest run and the stages of its countries: on the board and
on its page.
"""

from __future__ import annotations

from collections.abc import Mapping

from sdc_ui.cycles.countries import Stage, ready
from sdc_ui.shared.runs import DagRun, ended, stopped, under_way
from sdc_ui.shared.standing import ReleaseLine


class CycleState:
    """What both say of a cycle with these facts."""

    newest: ReleaseLine | None
    run: DagRun | None
    stages: Mapping[Stage, int]

    @property
    def under_way(self) -> bool:
        return under_way(self.newest, self.run)

    @property
    def stopped(self) -> bool:
        return stopped(self.newest, self.run)

    @property
    def ended(self) -> DagRun | None:
        return ended(self.newest, self.run)

    @property
    def ready(self) -> bool:
        return ready(self.stages, self.newest)
