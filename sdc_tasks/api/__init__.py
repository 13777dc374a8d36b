"""The methods for a data frame: one call, a result to look at, to ask and to draw. `import
sdc_tasks as sdc` gives these names.

primary        which cells rules make primary, and their levels
suppress       the cheapest safe pattern of secondary cells
audit          whether a pattern, or a table of EU aggregates, is safe
adjust         controlled tabular adjustment: the closest protected table
round_table    controlled or quadratic rounding
round_counts   small count rounding
perturb        the cell key method: noise that stays with the same people in every table
release        EU aggregates of national tables: exact, rounded or withheld, and audited
"""

from typing import TYPE_CHECKING

from sdc_tasks.intake.tables.microdata import ContributorColumns as Contributors
from sdc_tasks.lazily import names_of
from sdc_tasks.methods.contributions import ContributionRules as Rules

if TYPE_CHECKING:
    from sdc_tasks.api.adjustment import AdjustResult, adjust
    from sdc_tasks.api.auditing import PatternAudit, audit
    from sdc_tasks.api.perturbing import PerturbResult, perturb
    from sdc_tasks.api.releases import AggregateAudit, ReleaseResult, release
    from sdc_tasks.api.results import Explanation, Picture, Result
    from sdc_tasks.api.rounding import CountResult, RoundResult, round_counts, round_table
    from sdc_tasks.api.suppression import PrimaryResult, SuppressResult, primary, suppress
    from sdc_tasks.methods.perturb.design import NoiseDesign
else:
    # Whoever suppresses cells waits for nothing that a release needs, and need not install it.
    __getattr__ = names_of(
        __name__,
        {
            "adjustment": ("AdjustResult", "adjust"),
            "auditing": ("PatternAudit", "audit"),
            "perturbing": ("NoiseDesign", "PerturbResult", "perturb"),
            "releases": ("AggregateAudit", "ReleaseResult", "release"),
            "results": ("Explanation", "Picture", "Result"),
            "rounding": ("CountResult", "RoundResult", "round_counts", "round_table"),
            "suppression": ("PrimaryResult", "SuppressResult", "primary", "suppress"),
        },
    )

__all__ = [
    "AdjustResult",
    "AggregateAudit",
    "Contributors",
    "CountResult",
    "Explanation",
    "NoiseDesign",
    "PatternAudit",
    "PerturbResult",
    "Picture",
    "PrimaryResult",
    "ReleaseResult",
    "Result",
    "RoundResult",
    "Rules",
    "SuppressResult",
    "adjust",
    "audit",
    "perturb",
    "primary",
    "release",
    "round_counts",
    "round_table",
    "suppress",
]
