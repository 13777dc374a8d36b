"""A delivery beside others: the last period of its country when it comes, the other
countries when a release is made of all.

The other countries are compared in the release alone. Whoever sends first has nobody beside him, and a
delivery must not pass or fail by the hour at which it came.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sdc_tasks import intake
from sdc_tasks.checks import suite
from sdc_tasks.checks.listed import result_of
from sdc_tasks.checks.proportion import Among
from sdc_tasks.checks.registry import describe
from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.findings import CheckResult
from sdc_tasks.model.problem import NationalTable
from sdc_tasks.steps.desk import Desk
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.confidential import store
from sdc_tasks.warehouse.database.schema import DeliveryState


def read_files(
    desk: Desk, files: Sequence[store.StoredDelivery], period: str | None = None
) -> intake.Delivery:
    """The delivery that consists of these files, of another `period` where one is given."""
    domain, period = (desk.domain, desk.period) if period is None else (desk.domain.at(period), period)
    sheets = []
    for each in files:  # its bytes are free as soon as they are read
        digest = each.key.digest
        sheets.append(
            intake.read_sheet(store.load_artefact(desk.engine, digest), each.file, domain, period, digest)
        )
    return intake.together(sheets, domain)


def take_over(desk: Desk, files: Sequence[store.StoredDelivery]) -> intake.Delivery:
    """As `read_files`, for a release, of what was read in this process when it was judged."""
    return desk.in_hand.deliveries.pop(named(files), None) or read_files(desk, files)


def named(files: Sequence[store.StoredDelivery]) -> tuple[tuple[str, str], ...]:
    """What a delivery that was read stands under (`desk.InHand`)."""
    return tuple((each.key.digest, each.file) for each in files)


def last_period(desk: Desk, country: str) -> NationalTable | None:
    """The table of the country in the last period before this one in which it has an accepted
    delivery; None where there is none that can still be read: bytes are purged after some time, and a
    domain may have had other codes.
    """
    before = store.last_accepted(desk.engine, desk.domain.id, country, before=desk.period)
    if before is None:
        return None
    sent = store.deliveries(desk.engine, desk.domain.id, before)
    files = [each for each in sent if each.country == country and each.state is DeliveryState.ACCEPTED]
    try:
        return read_files(desk, sorted(files, key=lambda each: each.file), before).table
    except (store.CorruptedError, InvalidInput):
        return None


def compare(
    desk: Desk, sent: Mapping[str, Sequence[store.StoredDelivery]], read: Mapping[str, intake.Delivery]
) -> None:
    """Compares the table of each country with those of the others, and adds the results to
    those of its delivery. Refuses the deliveries that are out of proportion. Raises
    InvalidInput then, naming the countries.
    """
    tables = {country: each.table for country, each in read.items() if each.table is not None}
    known: dict[str, list[CheckResult]] = {}
    for record in reader.check_results(desk.engine, desk.domain.id, desk.period):
        known.setdefault(record["digest"], []).append(result_of(record))
    refused = []
    for country, table in tables.items():
        peers = [other for name, other in tables.items() if name != country]
        results = suite.compare(table, desk.domain, Among(peers, read[country].converted))
        _add(desk, sent[country][0].key, known.get(sent[country][0].key.digest, []), results)
        if wrong := suite.refusals(results):
            refused.append(f"{read[country].file} refused: {'; '.join(map(describe, wrong))}")
            for each in sent[country]:
                store.refuse(desk.engine, each.key, country)
    if refused:
        which = " Of two countries nobody can say here which is wrong." if len(tables) == 2 else ""
        raise InvalidInput("; ".join(refused) + which)


def _add(
    desk: Desk, key: store.DeliveryKey, before: Sequence[CheckResult], results: Sequence[CheckResult]
) -> None:
    """Replaces what an earlier comparison said. Writes nothing where all of it is known."""
    compared = {result.check for result in results}
    now = sorted(
        [*(each for each in before if each.check not in compared), *results], key=lambda each: each.check
    )
    if now != sorted(before, key=lambda each: each.check):
        store.save_checks(desk.engine, key, now)
