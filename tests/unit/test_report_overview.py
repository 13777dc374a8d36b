"""The first screen of a report: what goes out, how much of it is exact, what is withheld and why, and what
its readers do next. The same of the public metadata, which are made of the table alone.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import typer

from sdc_tasks.cli.app import app
from sdc_tasks.domains import load_domain
from sdc_tasks.domains.schema import Domain
from sdc_tasks.model.results import Adjustment, Evidence, Publication
from sdc_tasks.report.facts import Header, Mark, Overview, ReportFacts
from sdc_tasks.report.gather import BESIDE_OTHERS, NOT_AVAILABLE, ONE_COUNTRY, SEVERAL_COUNTRIES, gather
from sdc_tasks.report.next_steps import next_steps
from sdc_tasks.report.overview import overview
from sdc_tasks.report.page import ROOM_NAMES, grouped, render
from sdc_tasks.report.table_csv import table_text
from support.small_report import (
    AT,
    BE,
    audit,
    domain,
    gathered,
    small_facts,
    small_problem,
    small_publication,
)

__all__ = ["domain"]
ROWS, COLUMNS = ("TOTAL", "A", "A1", "A2", "B"), ("_T", "S", "L")

# A table of totals as drawn: 120 is exact, 120±5 is rounded to a base of 10, × is withheld, 30≥60% is the sum
# of visible countries that covers so much.
DRAWN = """
         _T      S        L
TOTAL    600     400±10   200
A        300     200      100
A1       160     100      60±0.3
A2       140     100±2    ×
B        300     200±30   30≥60%
"""


def drawn(text: str) -> Publication:
    """The publication of a drawing, in the cell order of the small domain."""
    told = [line.split()[1:] for line in text.strip().splitlines()[1:]]
    value, base, covers = (np.zeros((len(ROWS), len(COLUMNS))) for _ in range(3))
    for at in np.ndindex(value.shape):
        said = told[at[0]][at[1]]
        if said == "×":
            value[at], base[at] = np.nan, np.inf
        elif "≥" in said:
            value[at], covers[at] = said.rstrip("%").split("≥")
            covers[at], base[at] = covers[at] / 100, np.inf
        else:
            number, _, half = said.partition("±")
            value[at], base[at] = float(number), 2 * float(half or 0)
    first = 2 * value.size  # after two countries
    return Publication(np.arange(first, first + value.size), value.ravel(), base.ravel(), covers.ravel())


def seen(domain: Domain, values: bool = True) -> Overview:
    return overview(domain, domain.space, drawn(DRAWN), values)


def test_the_map_has_one_mark_for_one_total_of_the_upper_levels(domain: Domain) -> None:
    """A1 and A2 are parts of A, and deeper than the map."""
    (found,) = seen(domain).maps
    assert [row.code for row in found.rows] == ["TOTAL", "A", "B"]
    exact, visible = Mark("exact"), Mark("visible")
    assert found.marks == (
        (exact, Mark("rounded", 10 / 400, 3), exact),
        (exact, exact, exact),
        (exact, Mark("rounded", 30 / 200, 4), visible),
    )


def test_the_table_has_the_heads_of_each_dimension_as_published(domain: Domain) -> None:
    (table,) = seen(domain).tables
    assert [(each.label, each.value, each.half, each.mark.state, each.top) for each in table.totals] == [
        ("Turnover", "600", "", "exact", True),
        ("Section A", "300", "", "exact", False),
        ("Section B", "300", "", "exact", False),
        ("Small", "400", "10", "rounded", False),
        ("Large", "200", "", "exact", False),
    ]
    assert table.more == 0


def test_the_shares_are_those_that_a_reader_computes_from_table_csv(domain: Domain) -> None:
    """Of 600: the finest cells A1, A2, B by S, L."""
    (share,) = seen(domain).shares
    rows = list(csv.DictReader(io.StringIO(table_text(domain, domain.space, "2024", drawn(DRAWN)))))
    finest = [row for row in rows if row["ACTIVITY"] in ("A1", "A2", "B") and row["SIZECLASS"] in ("S", "L")]
    total = next(float(r["OBS_VALUE"]) for r in rows if (r["ACTIVITY"], r["SIZECLASS"]) == ("TOTAL", "_T"))

    def within(width: float) -> float:
        told = [row for row in finest if row["OBS_STATUS"] in ("A", "E")]
        value = {id(row): float(row["OBS_VALUE"]) for row in told}
        near = [r for r in told if float(r["ROUNDING_BASE"] or 0) / 2 <= width * value[id(r)]]
        return sum(value[id(row)] for row in near) / total

    assert share.exact == pytest.approx(within(0)) == pytest.approx(100 / 600)
    assert dict(share.close) == pytest.approx({width: within(width) for width in (0.01, 0.05)})
    assert share.close[0][1] == pytest.approx(160 / 600), "A1.L is ± 0.5 %"
    assert share.told == pytest.approx(within(np.inf)) == pytest.approx(460 / 600)


@pytest.mark.parametrize(
    ("drawing", "why"),
    [
        (DRAWN.replace("600  ", "×    "), "the total is withheld"),
        (DRAWN.replace("600  ", "30≥60%"), "a part of the total is no total"),
        (DRAWN.replace("160     100", "160     -10"), "parts below zero are no shares"),
    ],
)
def test_there_is_no_share_of_what_is_no_sum_of_shares(domain: Domain, drawing: str, why: str) -> None:
    assert overview(domain, domain.space, drawn(drawing)).shares == (), why


def test_rounded_parts_that_add_up_to_more_than_the_total_are_all_of_it(domain: Domain) -> None:
    more = DRAWN.replace("200±30", "700±30")
    (share,) = overview(domain, domain.space, drawn(more)).shares
    assert share.told == 1


def test_a_blocked_release_tells_states_and_classes_without_widths(domain: Domain) -> None:
    found = seen(domain, values=False)
    assert (found.tables, found.shares) == ((), ())
    assert {mark.within for row in found.maps[0].marks for mark in row} == {None}
    assert found.maps[0].marks[0][1] == Mark("rounded", None, 3)
    page = render(small_facts(domain, down=0.3))
    assert "What would have gone out" in page
    assert "Nothing to decide" in page


def test_a_dimension_without_a_total_has_a_map_for_each_code(tmp_path: Path) -> None:
    """SEX has no total, so no share of the finest cells can be told, and each sex has its own map."""
    (tmp_path / "area.csv").write_text("code,parent,label\nAT,EU,Austria\nBE,EU,Belgium\n")
    (tmp_path / "size.csv").write_text("code,parent,label\n_T,,Total\nS,_T,Small\nL,_T,Large\n")
    (tmp_path / "age.csv").write_text("code,parent,label\nALL,,All ages\nY,ALL,Young\nO,ALL,Old\n")
    (tmp_path / "sex.csv").write_text("code,parent,label\nF,,Women\nM,,Men\n")
    (tmp_path / "three.yaml").write_text(
        """
id: three
title: Three dimensions
structure_id: "TEST:THREE(1.0)"
areas: {dimension: REF_AREA, codelist: area.csv}
aggregates: [{code: EU, label: The union, members: all}]
indicators: [{code: EMP, label: Employed, unit: persons}]
hierarchies:
  - {dimension: SIZECLASS, codelist: size.csv}
  - {dimension: AGE, codelist: age.csv}
  - {dimension: SEX, codelist: sex.csv}
flags: {F: {role: public}, C: {role: primary, rule: {kind: percent}}, D: {role: secondary}}
"""
    )
    three = load_domain(tmp_path / "three.yaml")
    n = three.space.national_size
    value = np.arange(1.0, n + 1)
    found = overview(three, three.space, Publication(np.arange(2 * n, 3 * n), value, np.zeros(n)))
    assert [each.common for each in found.maps] == [(Header("F", "Women"),), (Header("M", "Men"),)]
    assert found.shares == ()
    assert {mark.state for drawn_map in found.maps for row in drawn_map.marks for mark in row} == {"exact"}


def test_each_withheld_cell_has_the_first_reason_that_holds(domain: Domain) -> None:
    """A1 and A2 by S, L are hidden in both countries. AT.B.S is hidden in AT alone, B.L in neither."""
    problem = small_problem(domain)
    space, n = problem.space, problem.space.national_size
    at = {space.key(cell): cell for cell in range(space.size)}
    public = problem.public.copy()
    public[at["AT.TURNOVER.B.S"]] = False
    without_figure = np.zeros(space.size, dtype=bool)
    without_figure[at["EU.TURNOVER.A1.L"]] = True
    problem = replace(problem, public=public, withheld=without_figure)
    held = ["EU.TURNOVER.A1.L", "EU.TURNOVER.A2.L", "EU.TURNOVER.B.S", "EU.TURNOVER.B.L"]
    cells = np.flatnonzero(problem.aggregate)
    out = np.isin(cells, [at[key] for key in held])
    told = Publication(
        cells, np.where(out, np.nan, problem.a[cells]), np.where(out, np.inf, np.zeros(len(cells)))
    )
    facts = gathered(domain, problem, Adjustment(), told, audit(problem, told), period="2024", release_id="x")
    reasons = {cell.code: each.reason for each in facts.withheld for cell in each.cells}
    assert n == len(cells)
    assert {key: reasons[key] for key in held} == {
        "EU.TURNOVER.A1.L": NOT_AVAILABLE,
        "EU.TURNOVER.A2.L": SEVERAL_COUNTRIES,
        "EU.TURNOVER.B.S": ONE_COUNTRY,
        "EU.TURNOVER.B.L": BESIDE_OTHERS,
    }
    assert sum(each.count for each in facts.withheld) == facts.overall.withheld == int(out.sum())
    header = render(facts).split("</header>", 1)[0]
    assert all(each.reason in header for each in facts.withheld)


@pytest.mark.parametrize(
    ("moved", "counted"),
    [
        ((-1.0, 1.0), "at the level"),
        ((-1.3, 7.0), "1.1 to 1.5 times"),
        ((-9.0, 1.7), "1.5 to 2 times"),
        ((-2.0, 2.0), "2 to 5 times"),
        ((-6.0, 5.0), "5 times or more"),
        ((-6.0, 0.5), "at the level"),  # protected all the same: by a mirror image
    ],
)
def test_what_is_left_beyond_the_levels_is_the_least_that_the_witnesses_show(
    domain: Domain, moved: tuple[float, float], counted: str
) -> None:
    """Two witnesses move the one primary to both sides, in multiples of its level."""
    problem = small_problem(domain)
    publication = small_publication(problem)
    (primary,) = np.flatnonzero(problem.primary)
    column = int(np.searchsorted(np.flatnonzero(problem.suppressed), primary))
    tables = np.zeros((2, column + 1))
    tables[:, column] = np.array(moved) * problem.lpl[primary]
    evidence = Evidence(sp.csr_array(tables), np.zeros(2, dtype=int), np.zeros(2, dtype=int))
    report = replace(audit(problem, publication), evidence=evidence)
    facts = gathered(domain, problem, Adjustment(), publication, report, period="2024", release_id="x")
    (row,) = facts.audit.room
    assert dict(zip(ROOM_NAMES, row.counts, strict=True))[counted] == 1
    assert sum(row.counts) == 1
    assert row.area is None, "a country with one primary has no row of its own"
    assert counted in render(facts)


def test_an_audit_without_witnesses_tells_no_room(domain: Domain) -> None:
    assert small_facts(domain).audit.room == ()
    assert "What is left beyond the levels" not in render(small_facts(domain))


def passed(facts: ReportFacts) -> ReportFacts:
    return replace(facts, deliveries=())


@pytest.mark.parametrize(
    ("of", "reader", "told"),
    [
        (lambda facts: facts, 0, "Nothing stands against the table"),
        (lambda facts: replace(facts, published=False), 0, "cannot go out"),
        (lambda facts: facts, 1, "Ask BE for a corrected file"),  # at.csv was accepted, be.csv refused
        (passed, 1, "Pass on table.csv"),
        (lambda facts: replace(facts, published=False), 1, "release again"),
        (
            lambda facts: replace(passed(facts), missing_countries=(Header("BE", "Belgium"),)),
            1,
            "Ask BE for a file",
        ),
        (
            lambda facts: replace(facts, missing_countries=(Header("BE", "Belgium"),)),
            0,
            "without the countries that are missing",
        ),
        (lambda facts: facts, 2, "whether somebody whom the audit did not cover matters"),
    ],
)
def test_each_reader_is_told_what_to_do_next(domain: Domain, of, reader: int, told: str) -> None:
    facts = of(small_facts(domain))
    assert told in " ".join(next_steps(facts)[reader][1])
    assert told in render(facts).split("</header>", 1)[0]


@pytest.mark.parametrize("down", [1.0, 0.3])
def test_no_reader_is_sent_to_a_command_or_a_folder_that_is_not_there(domain: Domain, down: float) -> None:
    """A release without secondaries of the receiver has no folder of them."""
    facts = small_facts(domain, down=down)
    told = " ".join(sentence for _, sentences in next_steps(facts) for sentence in sentences)
    assert set(re.findall(r"\bsdc ([a-z-]+)", told)) <= set(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
    assert not any(each.receiver for each in facts.audit.countries)
    assert "secondaries" not in told


def test_a_blocked_release_says_whom_it_was_attacked_by_and_fills_its_screen(domain: Domain) -> None:
    page = render(small_facts(domain, down=0.3))
    assert "The audit did not pass, so nothing was published." in page
    assert "1 requirement broken" in page
    assert '<div class="first blocked">' in page
    assert '<div class="first">' in render(small_facts(domain))


def test_the_first_screen_answers_nine_questions(domain: Domain) -> None:
    """What is out, is it safe, what do I do next: to whoever decides, runs it, or answers for the
    method. It is the header of the page; all else follows.
    """
    header = render(small_facts(domain)).split("</header>", 1)[0]
    said = re.sub(r"[ \n]+", " ", re.sub(r"<[^>]*>", " ", header.split("<main>", 1)[1]))
    for answer in (
        str(
            grouped(int(sum(map(sum, [*AT, *BE]))))
        ),  # out: the total; how many are what; how much of it is exact
        "15 totals: = 12 exact ≈ 2 rounded × 1 withheld",
        "How much of it is exact",
        "Passed. 1 of 1 primaries protected",  # safe: the verdict; from whom; from whom not, and the remedy
        "external : somebody who knows every public national figure",
        "audit: {profiles: [external, internal]}",
        "Whoever decides",
        "Whoever runs it",
        "Whoever answers for the method",
    ):
        assert answer in said, answer


def test_the_report_says_only_what_its_functions_took_in(domain: Domain) -> None:
    """`gather` is the one door: the overview gets a publication, and no deliveries."""
    assert "problem" not in overview.__code__.co_varnames
    assert "problem" in gather.__code__.co_varnames
