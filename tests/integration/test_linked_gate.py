"""What is out of the tables and periods that a domain file links: a release goes out beside exactly what its
audit knew, on both engines, by the publisher and by plain SQL.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from sdc_tasks.errors import ReleaseBlocked
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.database.checks import run_checks
from sdc_tasks.warehouse.database.engine import reading
from sdc_tasks.warehouse.dissemination import overlap
from sdc_tasks.warehouse.forms.related import knew, links, reached
from sdc_tasks.warehouse.log import entries
from sdc_tasks.warehouse.operations.decisions import retract
from sdc_tasks.warehouse.operations.journal import Terms
from support.related import CHECKS, terms
from support.world import FIRST, RELEASE, out_of, prepared, publish_it, published, raw, staged

Known = tuple[str, str, int, str]
UNKNOWN = "its audit did not know a related publication that is out"
SECOND = published((42, 0), (21, 6), (21, 6))
THIRD = published((43, 0), (21, 6), (21, 6))


def linked(domain: str, tables: Sequence[str] = (), periods: str | None = None) -> Terms:
    """The terms of a domain file that links these tables, and says what a period is."""
    said: dict[str, object] = {"tables": list(tables), **({"periods": periods} if periods else {})}
    return terms(domain, f"NSI:{domain.upper()}(1.0)", linked=said)


QUARTERS = linked("quarters", ["year"], "sum")
YEAR = linked("year", ["quarters"], "sum")


def out(warehouse, release_id: str, of: Terms, period: str, known: Sequence[Known] = (), decided=FIRST):
    ready = prepared(warehouse, release_id, decided, period, terms=of, linked=known)
    return publish_it(warehouse, ready, period, of)


def by_hand(
    warehouse, release_id: str, of: Terms, period: str, known: Sequence[Known] = (), decided=FIRST
) -> None:
    """The same by plain SQL, as somebody who leaves out the publisher."""
    ready = prepared(warehouse, release_id, decided, period, terms=of, linked=known)
    staged(warehouse, decided, period, of.domain)
    audit = reader.audits(warehouse, release_id)[-1]
    version = 1 + len(out_of(warehouse, period, of.domain))
    row = {"release_id": ready.id, "domain": of.domain, "period": period, "version": version}
    row |= {
        "publication": decided.digest,
        "audit": audit["digest"],
        "passed": True,
        "now": "2026-01-01 00:00:00",
    }
    raw(warehouse, RELEASE, **row)


def asked_of(warehouse, sql: str, **parameters: str) -> tuple[object, ...]:
    with reading(warehouse) as connection:
        return tuple(connection.execute(text(sql), parameters).one())


def quarter(number: int, decided=FIRST, version: int = 1) -> Known:
    return ("quarters", f"2024-Q{number}", version, decided.digest)


def test_the_year_goes_out_beside_the_quarters_that_its_audit_knew(warehouse):
    assert out(warehouse, "q1", QUARTERS, "2024-Q1") == (1, True)
    assert out(warehouse, "q2", QUARTERS, "2024-Q2") == (1, True), "quarters tell nothing of each other"
    known = [quarter(1), quarter(2)]
    assert out(warehouse, "year", YEAR, "2024", known) == (1, True)
    (entry,) = [each for each in entries(warehouse) if each.action == "release" and each.subject == "year"]
    assert json.loads(entry.details)["linked"] == [list(each) for each in known]
    assert not any(run_checks(warehouse, CHECKS).values())


@pytest.mark.parametrize(
    "known",
    [
        [],
        [quarter(1)],
        [quarter(1), quarter(2, SECOND)],
        [quarter(1), ("quarters", "2024-Q3", 1, FIRST.digest)],
        [quarter(1), ("others", "2024-Q2", 1, FIRST.digest)],
    ],
    ids=["none", "one", "another publication", "another period", "another domain"],
)
def test_an_audit_that_did_not_know_what_is_out_is_refused(warehouse, known):
    out(warehouse, "q1", QUARTERS, "2024-Q1")
    out(warehouse, "q2", QUARTERS, "2024-Q2")
    with pytest.raises(ReleaseBlocked, match=r"is out with another publication than the audit knew.*Remedy"):
        out(warehouse, "year", YEAR, "2024", known)
    with pytest.raises(IntegrityError, match=UNKNOWN):
        by_hand(warehouse, "again", YEAR, "2024", known)


def test_a_quarter_is_reached_through_the_year(warehouse):
    """The first quarter is the year less the others."""
    out(warehouse, "q2", QUARTERS, "2024-Q2")
    out(warehouse, "year", YEAR, "2024", [quarter(2)])
    known = [("year", "2024", 1, FIRST.digest)]
    alone = linked("quarters", ["year"], "sum")
    with pytest.raises(ReleaseBlocked, match="quarters 2024-Q2 is out"):
        out(warehouse, "q1", alone, "2024-Q1", known)
    with pytest.raises(IntegrityError, match=UNKNOWN):
        by_hand(warehouse, "again", alone, "2024-Q1", known)
    assert out(warehouse, "q1b", alone, "2024-Q1", [*known, quarter(2)]) == (1, True)


def test_every_version_and_what_was_taken_back_count(warehouse):
    out(warehouse, "q1", QUARTERS, "2024-Q1")
    out(warehouse, "q1 again", QUARTERS, "2024-Q1", decided=SECOND)
    retract(warehouse, "q1 again", "wrong")
    with pytest.raises(ReleaseBlocked, match="2024-Q1 is out"):
        out(warehouse, "year", YEAR, "2024", [quarter(1)])
    with pytest.raises(IntegrityError, match=UNKNOWN):
        by_hand(warehouse, "by hand", YEAR, "2024", [quarter(1, SECOND, 2)])
    assert out(warehouse, "year 2", YEAR, "2024", [quarter(1), quarter(1, SECOND, 2)]) == (1, True)


def test_a_version_that_prints_the_same_as_one_before_it_is_another_one(warehouse):
    """Its national tables may be others: version 3 has the publication of version 1."""
    out(warehouse, "1", QUARTERS, "2024-Q1")
    out(warehouse, "2", QUARTERS, "2024-Q1", decided=SECOND)
    known = [quarter(1), quarter(1, SECOND, 2)]
    out(warehouse, "3", QUARTERS, "2024-Q1")
    with pytest.raises(ReleaseBlocked, match="2024-Q1 is out"):
        out(warehouse, "year", YEAR, "2024", known)
    with pytest.raises(IntegrityError, match=UNKNOWN):
        by_hand(warehouse, "by hand", YEAR, "2024", known)


def test_a_table_in_the_middle_links_the_others(warehouse):
    """Parts link all, all links parts; totals link all only, and whoever reads all three computes parts."""
    out(warehouse, "parts", linked("parts", ["all"]), "2024")
    parts, every = ("parts", "2024", 1, FIRST.digest), ("all", "2024", 1, FIRST.digest)
    out(warehouse, "all", linked("all", ["parts", "totals"]), "2024", [parts])
    totals = linked("totals", ["all"])
    with pytest.raises(ReleaseBlocked, match="parts 2024 is out"):
        out(warehouse, "totals", totals, "2024", [every])
    with pytest.raises(IntegrityError, match=UNKNOWN):
        by_hand(warehouse, "by hand", totals, "2024", [every])
    assert out(warehouse, "totals 2", totals, "2024", [every, parts]) == (1, True)


def test_a_table_is_revised_beside_another_one_that_still_has_the_former_value(warehouse):
    """The gate asks whether the audit knew every version of the other table, and not for one value."""
    sizes, regions = linked("sizes", ["regions"]), linked("regions", ["sizes"])
    out(warehouse, "sizes", sizes, "2024")
    first = ("sizes", "2024", 1, FIRST.digest)
    out(warehouse, "regions", regions, "2024", [first])
    beside = ("regions", "2024", 1, FIRST.digest)
    with pytest.raises(ReleaseBlocked, match="regions 2024 is out"):
        out(warehouse, "unaware", sizes, "2024", decided=SECOND)
    assert out(warehouse, "sizes 2", sizes, "2024", [beside], SECOND) == (2, True)
    with pytest.raises(ReleaseBlocked, match="sizes 2024 is out"):
        out(warehouse, "stale", regions, "2024", [first], SECOND)
    with pytest.raises(IntegrityError, match=UNKNOWN):
        by_hand(warehouse, "by hand", regions, "2024", [first], THIRD)
    both = [first, ("sizes", "2024", 2, SECOND.digest)]
    assert out(warehouse, "regions 2", regions, "2024", both, SECOND) == (2, True)
    assert not any(run_checks(warehouse, CHECKS).values())


def test_linked_there_and_unrelated_here_is_refused(warehouse):
    out(warehouse, "q1", QUARTERS, "2024-Q1")
    of = terms("year", unrelated={"quarters": "other firms"})
    with pytest.raises(ReleaseBlocked, match=r"says that both are linked.*Remedy"):
        out(warehouse, "year", of, "2024")
    with pytest.raises(IntegrityError, match="beside figures that may be the same"):
        by_hand(warehouse, "by hand", of, "2024")


@pytest.mark.parametrize(
    "of",
    [terms("year"), linked("year", ["others"], "sum"), linked("year", [], "sum")],
    ids=["nothing", "others", "its own periods"],
)
def test_what_is_not_linked_stays_in_whatever_a_certificate_names(warehouse, of):
    """The domain file decides; no certificate can link what it does not."""
    out(warehouse, "q1", QUARTERS, "2024-Q1")
    with pytest.raises(ReleaseBlocked, match=r"quarters has published\s+2024-Q1.*linked"):
        out(warehouse, "by the publisher", of, "2024", [quarter(1)])
    with pytest.raises(IntegrityError, match="beside figures that may be the same"):
        by_hand(warehouse, "by hand", of, "2024", [quarter(1)])


def test_what_is_linked_is_judged_when_its_audit_is_there(warehouse):
    out(warehouse, "q1", QUARTERS, "2024-Q1")
    assert overlap.refused(warehouse, YEAR, "2024") == ""


@pytest.mark.parametrize(
    "said", ["null", "[]", '"quarters"', "{}", '[["quarters"]]', '[{"domain": "quarters"}]']
)
def test_a_certificate_that_names_it_wrongly_knows_nothing(warehouse, said):
    certificate = f'{{"linked": {said}}}'
    assert not knew(certificate, *quarter(1))
    if warehouse.dialect.name == "postgresql":
        asked = "SELECT operations.knew(:certificate, 'quarters', '2024-Q1', 1, :publication)"
        assert asked_of(warehouse, asked, certificate=certificate, publication=FIRST.digest) == (False,)


@pytest.mark.parametrize(
    ("said", "itself", "other"),
    [
        ({"tables": ["quarters"], "periods": "sum"}, True, True),
        ({"tables": ["quarters"]}, False, True),
        ({"periods": {"TURNOVER": "sum"}}, True, False),
        ({"tables": "quarters"}, False, False),
        ([], False, False),
    ],
)
def test_what_settings_link(warehouse, said, itself, other):
    settings = json.dumps({"linked": said})
    assert (links(settings, "year", "year"), links(settings, "year", "quarters")) == (itself, other)
    if warehouse.dialect.name == "postgresql":
        asked = "SELECT operations.links(:own, 'year', 'year'), operations.links(:own, 'year', 'quarters')"
        assert asked_of(warehouse, asked, own=settings) == (itself, other)


def test_periods_reach_each_other_through_those_that_hold_them():
    others = {"2024", "2024-Q1", "2024-Q2", "2025", "2025-Q1", "2024-03"}
    assert reached("2024-Q2", others) == {"2024", "2024-Q1", "2024-Q2", "2024-03"}
    assert reached("2025-Q2", others) == {"2025", "2025-Q1"}
    assert reached("2026", others) == set()
