"""Terms of domains whose figures may be the same, or sums or parts of each other."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import count as numbers

from sdc_tasks.warehouse.operations.journal import Terms

CHECKS = ("release_beside_related", "release_of_two_domains", "release_not_logged")
DIGEST = numbers(1)


def terms(
    domain: str,
    structure: str = "NSI:STS(1.0)",
    countries: Sequence[str] = ("AT", "BE"),
    aggregates: Sequence[str] = ("EU",),
    indicators: Sequence[str] = ("TURNOVER",),
    unrelated: dict[str, str] | None = None,
    linked: dict[str, object] | None = None,
    approvals: int = 0,
) -> Terms:
    """The terms of a domain file, as far as they tell what its figures are."""
    settings = {
        "structure_id": structure,
        "areas": {"dimension": "REF_AREA"},
        "codelists": {"REF_AREA": [[code, "", code] for code in countries]},
        "aggregates": [{"code": code} for code in aggregates],
        "indicators": [{"code": code} for code in indicators],
        "governance": {"approvals": approvals},
        **({"unrelated": unrelated} if unrelated else {}),
        **({"linked": linked} if linked is not None else {}),
    }
    return Terms(
        domain,
        f"{next(DIGEST):064x}",
        ("external",),
        approvals,
        settings=json.dumps(settings, sort_keys=True),
    )
