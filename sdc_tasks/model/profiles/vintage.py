"""Who kept what was published before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdc_tasks.model.profiles.profile import Keeper
from sdc_tasks.model.table import Bools

if TYPE_CHECKING:
    from sdc_tasks.model.problem import Earlier


class Vintage(Keeper):
    """Holds all that was published before of the same period, and assumes nothing of how far cells were revised. A national table in which
    the receiver has hidden more cells counts as published before, as it came.
    """

    name = "vintage"
    who = "somebody who also holds everything released of the period in earlier versions"

    def kept(self, earlier: Earlier) -> Bools:
        return ~earlier.assumed

    def must_be_withstood(self, earlier: Earlier) -> bool:
        return True
