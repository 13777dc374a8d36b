"""Safe bases: how coarsely each aggregate cell must be published."""

from sdc_tasks.methods.bases.additive import additive
from sdc_tasks.methods.bases.charter import charter, mislabelled, proposed, visible_sums
from sdc_tasks.methods.bases.comparison import ALONE, LOST, Keep, least_lossy
from sdc_tasks.methods.bases.cta_rule import choose, half_widths
from sdc_tasks.methods.bases.extension import Extension
from sdc_tasks.methods.bases.implied import box, implied, outdone, sharpen
from sdc_tasks.methods.bases.ladder import Ladder, ladder_of, nearest_multiple
from sdc_tasks.methods.bases.minimum_uncertainty import HalfWidths, minimum_uncertainty
from sdc_tasks.methods.bases.possible import impossible, possible
from sdc_tasks.methods.bases.repair import Stuck, repair
from sdc_tasks.methods.bases.rules import Case, bound, by_audit, by_cover, least_loss
from sdc_tasks.methods.bases.strata import strata_of
from sdc_tasks.methods.bases.wishes import Wishes, wishes_of

__all__ = [
    "ALONE",
    "LOST",
    "Case",
    "Extension",
    "HalfWidths",
    "Keep",
    "Ladder",
    "Stuck",
    "Wishes",
    "additive",
    "bound",
    "box",
    "by_audit",
    "by_cover",
    "charter",
    "choose",
    "half_widths",
    "implied",
    "impossible",
    "ladder_of",
    "least_loss",
    "least_lossy",
    "minimum_uncertainty",
    "mislabelled",
    "nearest_multiple",
    "outdone",
    "possible",
    "proposed",
    "repair",
    "sharpen",
    "strata_of",
    "visible_sums",
    "wishes_of",
]
