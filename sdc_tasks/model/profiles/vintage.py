"""An attacker who knows earlier releases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sdc_tasks.model.attackers import WHO
from sdc_tasks.model.profiles.profile import Keeper
from sdc_tasks.model.table import Bools

if TYPE_CHECKING:
    from sdc_tasks.model.problem import PriorReleases


class Vintage(Keeper):
    """Knows everything published before of the same period, and assumes nothing about the size
    of revisions. A national table in which the receiver has set secondaries counts as
    published before, in its delivered form.
    """

    name = "vintage"
    who = WHO[name]

    def assumes(self, earlier: PriorReleases) -> Bools:
        return np.zeros(len(earlier.assumed), dtype=bool)

    def must_be_withstood(self, earlier: PriorReleases) -> bool:
        return True
