"""Comparison with the keys of a country's last delivery: keys without a record now, and keys
with a record for the first time.
"""

from __future__ import annotations

import numpy as np

from sdc_tasks.domains.schema import Domain
from sdc_tasks.intake.findings import NAMED_IN_FINDING, Findings
from sdc_tasks.model.findings import Severity
from sdc_tasks.model.keys import printed_key
from sdc_tasks.model.table import Bools, Ints


def compare_expected(country: str, present: Bools, domain: Domain, found: Findings) -> None:
    """Adds one finding for keys that vanished and one for keys that appeared; none for a country
    that is not in the list of keys.

    `present` (national_size,): the cells that have a record. Keys with codes that the
    domain no longer has are ignored.
    """
    if domain.expected is None:
        return
    index = {key: cell for cell, key in enumerate(domain.space.national_keys)}
    before = np.zeros(len(present), dtype=bool)
    for area, *key in domain.expected_keys:
        if area == country and tuple(key) in index:
            before[index[tuple(key)]] = True
    if not before.any():
        return
    for cells, told, severity in (
        (np.flatnonzero(before & ~present), "had a record before and has none now", domain.expected.vanished),
        (np.flatnonzero(present & ~before), "has a record and had none before", domain.expected.appeared),
    ):
        if len(cells) and severity is not None:
            _tell(country, cells, told, severity, domain, found)


def _tell(country: str, cells: Ints, told: str, severity: Severity, domain: Domain, found: Findings) -> None:
    keys = [
        printed_key((country, *domain.space.national_keys[cell]))
        for cell in cells[:NAMED_IN_FINDING].tolist()
    ]
    more = f", as {len(cells) - 1} more" if len(cells) > 1 else ""
    found.add(
        "SDC/expected",
        f"{keys[0]} {told}{more} ({', '.join(keys)}): correct it, or bring the expected keys up to date",
        cell=keys[0],
        severity=severity,
    )
