"""Safe bases: how coarsely each aggregate cell must be published."""

from sdc_tasks.methods.bases.cta_rule import choose, half_widths
from sdc_tasks.methods.bases.ladder import Ladder, ladder_of, nearest_multiple
from sdc_tasks.methods.bases.repair import repair

__all__ = ["Ladder", "choose", "half_widths", "ladder_of", "nearest_multiple", "repair"]
