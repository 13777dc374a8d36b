"""Safe bases: how coarsely each aggregate cell must be published."""

from sdc_tasks.methods.bases.cta_rule import choose, half_widths
from sdc_tasks.methods.bases.extension import Extension
from sdc_tasks.methods.bases.ladder import Ladder, ladder_of, nearest_multiple
from sdc_tasks.methods.bases.minimum_uncertainty import HalfWidths, minimum_uncertainty
from sdc_tasks.methods.bases.repair import Stuck, repair
from sdc_tasks.methods.bases.rounding import settle
from sdc_tasks.methods.bases.wishes import Wishes, wishes_of

__all__ = [
    "Extension",
    "HalfWidths",
    "Ladder",
    "Stuck",
    "Wishes",
    "choose",
    "half_widths",
    "ladder_of",
    "minimum_uncertainty",
    "nearest_multiple",
    "repair",
    "settle",
    "wishes_of",
]
