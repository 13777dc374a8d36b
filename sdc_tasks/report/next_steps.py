"""What the readers of a report do next: whoever decides, whoever runs the release, whoever answers for the
method.
"""

from __future__ import annotations

from collections.abc import Iterator

from sdc_tasks.model.claim import Tone
from sdc_tasks.report.facts import ReportFacts

Advice = tuple[str, tuple[str, ...]]


def next_steps(facts: ReportFacts) -> tuple[Advice, ...]:
    """Each reader, and sentences for him. They say no more than the facts of the report."""
    return (
        ("Whoever decides", tuple(_decides(facts))),
        ("Whoever runs it", tuple(_runs(facts))),
        ("Whoever answers for the method", tuple(_answers(facts))),
    )


def _decides(facts: ReportFacts) -> Iterator[str]:
    if not facts.published:
        yield "Nothing to decide: a table that did not pass cannot go out."
        return
    if facts.audit.claim.tone is Tone.WARN:
        yield "Decide whether the table may go out with the exceptions that the verdict names."
    else:
        yield "Nothing stands against the table, as far as it was attacked."
    if facts.missing_countries:
        yield "Decide whether it may go out without the countries that are missing."


def _runs(facts: ReportFacts) -> Iterator[str]:
    refused = _with(facts, "refused") - _with(facts, "accepted")
    if refused:
        yield f"Ask {_listed(refused)} for a corrected file: findings.csv says what is wrong and where."
    if silent := {each.code for each in facts.missing_countries} - refused:
        yield f"Ask {_listed(silent)} for a file."
    receiver = any(each.receiver for each in facts.audit.countries)
    if receiver:
        yield "Send each country its list in the folder secondaries."
    if facts.published:
        kept = "audit.json, findings.csv and secondaries" if receiver else "audit.json and findings.csv"
        yield (f"Pass on table.csv and the public files beside it. This report, {kept} stay in the office.")
    else:
        yield "Mend what the audit below names, and release again."


def _with(facts: ReportFacts, state: str) -> set[str]:
    """The countries with a delivery in this state."""
    return {each.country for each in facts.deliveries if each.state == state}


def _answers(facts: ReportFacts) -> Iterator[str]:
    weak = {each.area.code for each in facts.audit.countries if each.baseline}
    if weak:
        yield f"Ask {_listed(weak)} to hide more of the own table: it leaves primary cells open."
    if not facts.published:
        yield "The audit below names the cells that an attacker comes too close to."
    elif facts.overall.withheld:
        yield "See below why totals are withheld or coarse, and whether another setting would keep more."
    if facts.audit.claim.not_attacked:
        yield "Decide whether somebody whom the audit did not cover matters here."
    if not weak and facts.published and not facts.overall.withheld and not facts.audit.claim.not_attacked:
        yield "Nothing is open; what the audit does not claim stands at the end."


def _listed(countries: set[str]) -> str:
    names = sorted(countries)
    return ", ".join(names) if len(names) <= 6 else f"{len(names)} countries"
