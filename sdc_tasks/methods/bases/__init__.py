"""Safe bases: how coarsely each aggregate cell must be published."""

from sdc_tasks.methods.bases.cta_rule import choose, half_widths
from sdc_tasks.methods.bases.extension import Extension
from sdc_tasks.methods.bases.ladder import Ladder, ladder_of, nearest_multiple
from sdc_tasks.methods.bases.minimum_uncertainty import HalfWidths, minimum_uncertainty
from sdc_tasks.methods.bases.repair import Stuck, repair
from sdc_tasks.methods.bases.rounding import settle
from sdc_tasks.methods.bases.rules import AUDIT, CTA, LEAST, Case, LeastLoss, by_audit, by_cta, by_least_loss, least_loss
from sdc_tasks.methods.bases.wishes import Wishes, wishes_of

__all__ = [
    "AUDIT",
    "CTA",
    "LEAST",
    "Case",
    "Extension",
    "HalfWidths",
    "Ladder",
    "LeastLoss",
    "Stuck",
    "Wishes",
    "by_audit",
    "by_cta",
    "by_least_loss",
    "choose",
    "half_widths",
    "ladder_of",
    "least_loss",
    "minimum_uncertainty",
    "nearest_multiple",
    "repair",
    "settle",
    "wishes_of",
]
