"""The release report: what it counts, and that it tells no confidential value, in no form."""

from __future__ import annotations

import json
import re
from dataclasses import fields, is_dataclass, replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from sdc_tasks import pipeline
from sdc_tasks.domains import load_domain
from sdc_tasks.domains.schema import Domain
from sdc_tasks.methods.attack.compositions import Together
from sdc_tasks.model.claim import Proof
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Adjustment, Outcome, Publication, Rung
from sdc_tasks.report.facts import CommonFinding, DeliveryFact, FindingFact, ReportFacts
from sdc_tasks.report.gather import SEVERAL_COUNTRIES, Background, findings_together, gather
from sdc_tasks.report.page import grouped, percent, render, share
from support.small_report import (
    AT,
    DOMAIN,
    LEVEL,
    MOVED,
    audit,
    domain,
    gathered,
    small_adjustment,
    small_facts,
    small_problem,
    small_publication,
)

__all__ = ["domain"]


@pytest.mark.parametrize("adjusted", [True, False])
@pytest.mark.parametrize("down", [1.0, 0.8765432])
def test_no_confidential_number_is_on_the_page(domain: Domain, down: float, adjusted: bool) -> None:
    """Neither true values nor adjusted ones, deviations, levels, or the edges of what an attacker must not
    reach.
    """
    problem = small_problem(domain)
    x, publication = small_adjustment(problem).x, small_publication(problem)
    assert x is not None
    secret = [
        problem.a,
        x,
        np.abs(x - problem.a),
        problem.lpl,
        problem.a - problem.lpl,
        problem.a + problem.upl,
    ]
    secret += [problem.a[publication.cells] - np.nan_to_num(publication.value)]
    numbers = {str(abs(int(number))) for array in secret for number in array if abs(number) >= 10_000}
    if down >= 1:  # then the world reads the exact totals
        numbers -= {str(int(number)) for number in publication.value[publication.exact]}
    page = re.sub(r"[\u202f\u00a0,]", "", render(small_facts(domain, down, adjusted)))
    assert {str(AT[0][0]), str(MOVED), str(LEVEL)} <= numbers
    assert not [number for number in numbers if number in page]
    assert "8765" not in page


def test_a_blocked_release_shows_no_value_of_its_publication(domain: Domain) -> None:
    facts = small_facts(domain, down=0.3)
    page = render(facts)
    assert not facts.published
    assert facts.largest == ()
    assert "Blocked." in page
    assert "20\u202f000\u202f000" not in page
    assert "a quarter to a half" in page
    assert "AT.TURNOVER.A1.S" in page


def test_facts_hold_no_array(domain: Domain) -> None:
    def parts(thing: object) -> list[object]:
        if is_dataclass(thing):
            return [part for field in fields(thing) for part in parts(getattr(thing, field.name))]
        if isinstance(thing, tuple):
            return [part for item in thing for part in parts(item)]
        return [thing]

    assert {type(part) for part in parts(small_facts(domain))} <= {str, int, float, bool, type(None)}


def test_counts_of_the_small_release(domain: Domain) -> None:
    facts = small_facts(domain)
    assert (facts.overall.exact, facts.overall.rounded, facts.overall.withheld) == (12, 2, 1)
    assert facts.published
    assert facts.median_relative_base == pytest.approx(np.mean([2e7 / 1.6e8, 2e7 / 1.2e8]))
    assert [(name, loss.total, loss.exact) for name, loss in facts.risks] == [
        ("no country", 11, 11),
        ("2 countries", 4, 1),
    ]
    (drawn,) = facts.overview.maps
    assert [row.code for row in drawn.rows] == ["TOTAL", "A", "B"]
    assert [column.code for column in drawn.columns] == ["_T", "S", "L"]
    assert {mark.state for row in drawn.marks for mark in row} == {"exact"}, "what is rounded is deeper"
    assert [cell.key for cell in facts.largest] == ["EU.TURNOVER.A1.L", "EU.TURNOVER.A1.S"]
    assert (facts.largest[1].value, facts.largest[1].base) == ("160000000", "20000000")
    assert (facts.largest[1].lower, facts.largest[1].upper) == ("150000000", "170000000")
    assert [(each.reason, [cell.code for cell in each.cells]) for each in facts.withheld] == [
        (SEVERAL_COUNTRIES, ["EU.TURNOVER.A2.L"])
    ]
    assert sum(facts.histogram.counts) == 2
    assert [delivery.state for delivery in facts.deliveries] == ["refused", "accepted"]


def test_compositions_are_told_in_counts_and_quarters_and_only_of_what_was_published(
    domain: Domain, tmp_path: Path
) -> None:
    """Four primaries, two of BE, which is no member of EA. Less than a hundredth of the interval, or
    of what it must be, is no shrink.
    """
    union = "{code: EU, label: The union, members: all, partial_code: EU_PARTIAL}"
    (tmp_path / "small.yaml").write_text(
        DOMAIN.replace(union, union + ", {code: EA, label: The area, members: [AT]}")
    )
    domain = load_domain(tmp_path / "small.yaml")
    n, space = domain.space.national_size, domain.space
    primary = np.isin(np.arange(space.size), cells := [2, 3, n + 2, n + 3])
    public, nothing = (np.arange(space.size) < 2 * n) & ~primary, np.zeros(space.size)
    problem = ProtectionProblem(
        space, nothing, nothing, nothing, nothing, nothing, nothing, public, primary, ("AT#1", "BE#1")
    )
    publication = Publication.nothing(np.flatnonzero(problem.aggregate))
    alone = np.array([[200.0, 10.0, 987.65, 0.5], [100.0, 10.0, 1000.0, 1000.0]])
    found = Together((0, 1), np.array(cells), alone, np.array([70.0, 9.95, 98.7654, 0.495]))

    def facts(down: float, together: Together | None) -> ReportFacts:
        report = audit(problem, publication, down)
        return gathered(
            domain,
            problem,
            Adjustment(),
            publication,
            report,
            together=together,
            period="2024",
            release_id="x",
        )

    told = facts(1.0, found)
    assert [
        (row.area and row.area.code, row.primaries, row.narrower, row.left) for row in told.audit.together
    ] == [
        ("EU", 4, 2, "under a quarter"),  # 70 of 200 and 99 of 988, the median 0.225
        ("EA", 2, 1, "half to three quarters"),  # 70 of 100; not BE
        (None, 4, 2, "a quarter to a half"),  # 70 of 100 and 99 of 988, the median 0.4
    ]
    page = render(told)
    assert "What compositions tell together" in page
    assert re.search(r"\b987\b", page) is None  # digests may hold these digits
    for without in (
        facts(0.5, found),
        facts(1.0, None),
        facts(1.0, replace(found, cells=np.zeros(0, dtype=int))),
    ):
        assert without.audit.together == ()
        assert "What compositions tell together" not in render(without)


def test_an_audit_of_something_else_is_not_reported(domain: Domain) -> None:
    problem = small_problem(domain)
    publication = small_publication(problem)
    mine = audit(problem, publication)
    certificate, proof = (
        json.loads(pipeline.certificate(problem, publication, mine, domain, "2024")),
        Proof.of(mine, 4),
    )
    other = replace(mine, publication="0" * 64)
    part = replace(
        mine, **{name: np.zeros(0) for name in ("primaries", "down", "up", "slide", "by_lp", "baseline")}
    )
    for report, message in ((other, "not about this"), (part, "does not cover all primaries")):
        with pytest.raises(ValueError, match=message):
            gather(
                domain,
                problem,
                Adjustment(),
                publication,
                report,
                certificate=certificate,
                proof=proof,
                background=Background("2024", None),
            )
    for name in ("problem", "publication"):
        of_another = certificate | {"digests": certificate["digests"] | {name: "0" * 64}}
        with pytest.raises(ValueError, match="certificate is not about"):
            gather(
                domain,
                problem,
                Adjustment(),
                publication,
                mine,
                certificate=of_another,
                proof=proof,
                background=Background("2024", None),
            )


def test_missing_countries_are_named(domain: Domain) -> None:
    full, space = small_problem(domain), domain.space_of(("AT",))
    keep = np.r_[0 : space.national_size, 0 : space.national_size]
    arrays = {name: getattr(full, name)[keep] for name in ("a", "lb", "ub", "lpl", "upl", "spl")}
    national = np.arange(space.size) < space.national_size
    problem = ProtectionProblem(
        space,
        **arrays,
        public=full.public[keep] & national,
        primary=full.primary[keep] & national,
        deliveries=("AT#1",),
    )
    cells = np.flatnonzero(problem.aggregate)
    publication = Publication(cells, np.full(len(cells), np.nan), np.full(len(cells), np.inf))
    facts = gathered(
        domain, problem, Adjustment(), publication, audit(problem, publication), period="2024", release_id="x"
    )
    assert [country.code for country in facts.missing_countries] == ["BE"]
    assert "No accepted delivery from Belgium (BE)" in render(facts)
    assert facts.median_relative_base is None


class Structure(HTMLParser):
    """Every element is closed where it was opened; collects tags and addresses."""

    VOID = frozenset({"meta", "br", "img", "link", "input", "hr", "use", "path"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.addresses += [
            value or ""
            for name, value in attrs
            if name in {"href", "xlink:href", "src", "srcset", "action", "data"}
        ]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag


@pytest.mark.parametrize("down", [1.0, 0.5])
def test_the_page_is_whole_and_stands_alone(domain: Domain, down: float) -> None:
    page = render(small_facts(domain, down))
    structure = Structure()
    structure.feed(page)
    structure.close()
    assert structure.open == []
    assert not structure.tags & {"script", "link", "iframe", "object", "img"}
    assert all(address.startswith("#") for address in structure.addresses)
    assert not re.search("https?:", page)
    assert "url(" not in re.sub(r"url\(#", "", page)
    assert "@import" not in page
    order = [
        page.index(f'id="{section}"')
        for section in ("safe", "next", "map", "audit", "countries", "deliveries", "loss", "deviations")
    ]
    assert order == sorted(order), "what is out, the audit, the countries, and then the rest"
    anchors = {address[1:] for address in structure.addresses}
    assert anchors <= set(re.findall(r' id="([^"]+)"', page))


def test_texts_from_outside_are_escaped_and_bytes_are_stable(domain: Domain) -> None:
    facts = small_facts(domain)
    page = render(facts)
    assert "<script" not in page
    assert "watch &lt;script&gt;" in page
    again = small_facts(
        domain
    )  # the same release without the secret of a warehouse: its digests are no other's
    assert page == render(replace(again, digests=facts.digests))


@pytest.mark.parametrize("profiles", [(), ("external", "insider")])
def test_there_is_no_page_about_an_unknown_attacker_or_none(
    domain: Domain, profiles: tuple[str, ...]
) -> None:
    facts = small_facts(domain)
    with pytest.raises(ValueError, match="attacker profile"):
        render(
            replace(facts, audit=replace(facts.audit, claim=replace(facts.audit.claim, profiles=profiles)))
        )


def test_the_page_says_why_there_is_no_adjusted_table(domain: Domain) -> None:
    assert "sets no controlled tabular adjustment" in render(small_facts(domain, adjusted=False))
    problem = small_problem(domain)
    publication = small_publication(problem)
    failed = Adjustment(None, (Rung("auto", Outcome.NONE, None, -np.inf, np.inf, 20.0, "time limit"),))
    facts = gathered(
        domain, problem, failed, publication, audit(problem, publication), period="2024", release_id="x"
    )
    assert "the last method of the ladder, auto, returned none (time limit" in render(facts)


def test_deviations_are_shown_for_blocks_of_many_cells_only() -> None:
    """Section C of three countries: 12 cells that move alike; 9 of them; 12 of which one holds nearly all."""
    domain = load_domain("sbs")
    space = domain.space
    national, n = len(space.countries) * space.national_size, space.national_size
    section = np.array([key[1].startswith("C") for key in space.national_keys])
    a, x, suppressed = (
        np.full(space.size, 100.0),
        np.full(space.size, 100.0),
        np.zeros(space.size, dtype=bool),
    )
    for country, count, first in (("AT", 12, 20.0), ("BE", 9, 20.0), ("BG", 12, 1000.0)):
        cells = space.countries.index(country) * n + np.flatnonzero(section)[:count]
        suppressed[cells] = True
        x[cells] += 20.0
        x[cells[0]] = 100.0 + first
    zero = np.zeros(space.size)
    public = ~suppressed & (np.arange(space.size) < national)
    problem = ProtectionProblem(
        space, a, zero, a * 10, zero, zero, zero, public, zero.astype(bool), space.countries
    )
    cells = np.arange(national, space.size)
    publication = Publication(cells, a[cells], zero[cells])
    facts = gathered(
        domain,
        problem,
        Adjustment(x, ()),
        publication,
        audit(problem, publication),
        period="2024",
        release_id="x",
    )
    shown = facts.deviations[0]
    row = {area.code: classes for area, classes in zip(shown.areas, shown.classes, strict=True)}
    column = [header.code for header in shown.columns].index("C")
    assert (row["AT"][column], row["BE"][column], row["BG"][column]) == (
        2,
        None,
        None,
    )  # AT: 12 · 20 of the 100 of each cell
    assert row["EU27_2020"][column] == 0
    assert [area.code for area in shown.areas[:4]] == ["EU27_2020", "BG", "AT", "BE"]
    assert all(any(classes[i] is not None for classes in shown.classes) for i in range(len(shown.columns)))


def test_numbers_as_people_read_them() -> None:
    assert [percent(ratio) for ratio in (0.0153, 0.00012, 0.5, 1.234)] == [
        "1.5\u202f%",
        "0.012\u202f%",
        "50\u202f%",
        "120\u202f%",
    ]
    assert [grouped(number) for number in (20160, "-1234567.50", 0.25, 1e9)] == [
        "20\u202f160",
        "−1\u202f234\u202f567.50",
        "0.25",
        "1\u202f000\u202f000\u202f000",
    ]
    assert [share(ratio) for ratio in (0.0, 0.004, 0.5, 0.998, 1.0)] == [
        "0\u202f%",
        "<1\u202f%",
        "50\u202f%",
        ">99\u202f%",
        "100\u202f%",
    ]


def test_histogram_bins_are_a_ladder_that_holds_every_rounded_cell(domain: Domain) -> None:
    edges = small_facts(domain).histogram.edges
    assert all(low < high for low, high in pairwise(edges))
    assert edges == pytest.approx((0.1, 0.2))


@pytest.mark.parametrize(
    ("power", "unit"), [(0, "in EUR"), (3, "in thousand EUR"), (6, "in million EUR"), (2, "in 10^2 EUR")]
)
def test_published_values_have_a_unit(domain: Domain, power: int, unit: str) -> None:
    scaled = domain.model_copy(
        update={"indicators": (domain.indicators[0].model_copy(update={"unit_multiplier": power}),)}
    )
    assert f"Values and bases as published, {unit}." in render(small_facts(scaled))


def test_indicators_in_different_units_are_told_apart(domain: Domain) -> None:
    turnover = domain.indicators[0]
    persons = turnover.model_copy(update={"code": "EMPL", "label": "Persons employed", "unit": "persons"})
    both = domain.model_copy(
        update={"indicators": (turnover.model_copy(update={"unit_multiplier": 3}), persons)}
    )
    problem = small_problem(domain)
    publication = small_publication(problem)
    facts = gathered(
        both,
        problem,
        Adjustment(),
        publication,
        audit(problem, publication),
        period="2024",
        release_id="small-2024",
    )
    assert facts.unit == "Turnover in thousand EUR, Persons employed in persons"


def test_a_sum_of_visible_countries_is_counted_and_shown_as_published(domain: Domain) -> None:
    """In place of the withheld A2.L; the mean distance is over totals, so it stays."""
    problem = small_problem(domain)
    before = small_publication(problem)
    publication = replace(
        before, value=np.where(before.withheld, 4e7, before.value), covers=np.where(before.withheld, 0.3, 0.0)
    )
    facts = gathered(
        domain,
        problem,
        Adjustment(),
        publication,
        audit(problem, publication),
        period="2024",
        release_id="small-2024",
    )
    assert (facts.overall.visible, facts.overall.withheld, facts.overall.total) == (1, 0, 15)
    assert [(cell.key, cell.value, cell.covers) for cell in facts.visible] == [
        ("EU.TURNOVER.A2.L", "40000000", 0.3)
    ]
    page = render(facts)
    assert '40\u202f000\u202f000</td><td class="n">30\u202f%' in page
    assert "<b>≥</b> 1 sums of the visible countries" in page
    assert not [
        said
        for said in ("VISIBLE_SHARE", "visible sums", "Sums of the visible")
        if said in render(small_facts(domain))
    ]


def warned(country: str, *messages: str) -> DeliveryFact:
    findings = tuple(
        FindingFact("150/007", "warning", line, None, message)
        for line, message in enumerate(messages, start=2)
    )
    wrong = tuple(FindingFact("140", "error", line, None, "not a number") for line in (7, 9))
    return DeliveryFact(country, f"{country}.csv", "accepted", (*findings, *wrong))


def test_equal_warnings_are_one_line_with_a_count(domain: Domain) -> None:
    deliveries = [
        warned("AT", "same", "same", "own", "own", "own"),
        warned("BE", "same"),
        warned("BG", "same"),
    ]
    own, common = findings_together(deliveries)
    assert common == (CommonFinding("150/007", "warning", "same", ("AT", "BE", "BG"), 4),)
    assert [(each.message, each.times, each.line) for each in own[0].findings] == [
        ("own", 3, 4),
        ("not a number", 1, 7),
        ("not a number", 1, 9),
    ]
    assert [len(each.findings) for each in own[1:]] == [2, 2], "an error stays with its file, line by line"
    page = render(replace(small_facts(domain), deliveries=tuple(own), common=common))
    assert "What several deliveries have in common" in page
    assert "3 times; the first is shown" in page
    assert "AT, BE, BG" in page


def test_words_come_from_the_domain(domain: Domain) -> None:
    named = domain.model_copy(
        update={
            "hierarchies": tuple(
                each.model_copy(update={"label": f"kind {i}"}) for i, each in enumerate(domain.hierarchies)
            )
        }
    )
    page = render(small_facts(named))
    assert "by kind 0 and kind 1" in page
    assert "size class" not in page.lower()
    assert "by ACTIVITY and SIZECLASS" in render(small_facts(domain))


def test_the_page_loads_and_runs_nothing(domain: Domain) -> None:
    page = render(small_facts(domain))
    assert "Content-Security-Policy\" content=\"default-src 'none';" in page
    assert "<script" not in page
