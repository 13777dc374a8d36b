"""An attacker who knows earlier releases and the size of revisions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdc_tasks.model.attackers import WHO
from sdc_tasks.model.profiles.profile import Keeper
from sdc_tasks.model.table import Bools

if TYPE_CHECKING:
    from sdc_tasks.model.problem import PriorReleases


class Revision(Keeper):
    """As profile vintage, and also knows how far cells were revised, as far as the domain file assumes it."""

    name = "revision"
    who = WHO[name]

    def assumes(self, earlier: PriorReleases) -> Bools:
        return earlier.assumed

    def must_be_withstood(self, earlier: PriorReleases) -> bool:
        return bool(earlier.assumed.any())
