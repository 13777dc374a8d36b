"""What is wrong with the answer to a file of any bytes: an exception, a fault of the
reader, a planted value that is told.
"""

from __future__ import annotations

import re
import traceback

import numpy as np

from sdc_tasks.domains import Domain
from sdc_tasks.intake import Delivery, read_bytes
from support.deliveries import PERIOD
from support.mutate import SECRETS

TELLING = 5  # digits of a secret, in a row, that nothing may repeat
PIECES = re.compile(
    "|".join(
        sorted({secret[i : i + TELLING] for secret in SECRETS for i in range(len(secret) - TELLING + 1)})
    )
)
DIGEST = re.compile(r"\b[0-9a-f]{64}\b")


def wrong(data: bytes, domain: Domain, file: str = "AT_2024.csv") -> str | None:
    """What is wrong with the answer to these bytes."""
    try:
        delivery = read_bytes(data, file, domain, PERIOD)
    except Exception:
        return traceback.format_exc()
    told = leaked(delivery)
    if told or any(finding.code == "SDC/reader" for finding in delivery.findings):
        return f"{told} {delivery.findings}"
    if delivery.accepted == any(finding.severity == "error" for finding in delivery.findings):
        return "accepted with errors, or refused without"
    if delivery.table is not None and not np.isfinite(delivery.table.value).all():
        return "a table with values that are none"
    return None


def leaked(delivery: Delivery) -> set[str]:
    """Pieces of the planted values in what is told of a delivery, digests aside: a digest has any digits."""
    return set(
        PIECES.findall(DIGEST.sub("", f"{delivery.findings!s} {delivery!r} {delivery!s} {delivery.table!r}"))
    )
