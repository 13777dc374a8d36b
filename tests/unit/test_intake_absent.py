"""What is not there: cells without a record, values that are not available, flags that
are empty, numbers that cannot be.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sdc_tasks import pipeline
from sdc_tasks.checks import suite
from sdc_tasks.domains import Domain, load_domain
from sdc_tasks.errors import InvalidInput, ReleaseBlocked
from sdc_tasks.intake import read_bytes
from sdc_tasks.intake.unavailable import completed
from sdc_tasks.methods import attack
from sdc_tasks.model.findings import Severity
from sdc_tasks.model.results import Publication
from support.deliveries import HEALTHY, PERIOD, codes, deliver, sdmx_1, small_domain

OPEN = """
            _T           S        L
    TOTAL   2000 F       700 F    1300 F
    C       1000 F       400 F    600 F
    D       1000 F       300 F    700 F
"""
UNIT = "unit_multiplier: 3"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("absent")


@pytest.fixture(scope="module")
def domain(folder: Path) -> Domain:
    return small_domain(folder)


def said(domain: Domain, folder: Path, drawing: str) -> list[str]:
    delivery = deliver(domain, folder, sdmx_1(drawing))
    assert not delivery.accepted
    assert {finding.code for finding in delivery.findings} == {"SDC/absent"}
    return [finding.message for finding in delivery.findings]


# --- absent records -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("gone", ["2000 F", "1000 F", "700 F    1300", "400 F", "600 F"])
def test_a_figure_that_is_left_out_refuses_the_delivery(domain, folder, gone):
    assert said(
        domain,
        folder,
        OPEN.replace(gone, ". ." if " 1300" in gone else ".", 1).replace(". . F", ". .").replace(". F", "."),
    )


def test_a_missing_indicator_is_named(folder, tmp_path):
    second = "  - {code: WAGES, label: Wages, unit: EUR, unit_multiplier: 3}\nhierarchies:"
    [message] = said(small_domain(tmp_path, "hierarchies:", second), folder, OPEN)
    assert message.startswith("no record of INDICATOR WAGES: ")


def test_a_missing_activity_is_named_once(domain, folder):
    gone = "TOTAL 1000 F 400 F 600 F\nC 1000 F 400 F 600 F\nD . . ."
    [message] = said(domain, folder, f"_T S L\n{gone}")
    assert message.startswith("no record of TURNOVER, ACTIVITY D: ")


def test_a_total_without_any_record_is_named_by_its_code(domain, folder):
    [message] = said(domain, folder, "_T S L\nTOTAL . . .\nC 1000 F 400 F 600 F\nD 1000 F 300 F 700 F")
    assert message.startswith("no record of TURNOVER, ACTIVITY TOTAL: ")


def test_of_a_branch_that_is_missing_only_its_head_is_named(folder, tmp_path):
    """C with its parts C1 and C2; D has no parts."""
    deep = small_domain(tmp_path)
    (tmp_path / "activities.csv").write_text("code,parent\nTOTAL,\nC,TOTAL\nD,TOTAL\nC1,C\nC2,C\n")
    deep = load_domain(tmp_path / "small.yaml")
    whole = "C1 400 F 100 F 300 F\nC2 600 F 300 F 300 F\n"
    rest = "_T S L\nTOTAL 2000 F 700 F 1300 F\nC 1000 F 400 F 600 F\nD 1000 F 300 F 700 F\n"
    assert deliver(deep, folder, sdmx_1(rest + whole)).accepted
    [message] = said(deep, folder, "_T S L\nTOTAL 2000 F 700 F 1300 F\nD 1000 F 300 F 700 F\n")
    assert message.startswith("no record of TURNOVER, ACTIVITY C: ")
    [first, second] = said(deep, folder, rest)
    assert first.startswith("no record of TURNOVER, ACTIVITY C1: ")
    assert second.startswith("no record of TURNOVER, ACTIVITY C2: ")


def test_a_missing_grand_total_is_refused_even_where_an_absent_record_is_a_zero(folder, tmp_path):
    zero = small_domain(tmp_path, UNIT, f"{UNIT}, absent: zero")
    [message] = said(zero, folder, OPEN.replace("2000 F", "."))
    assert message.startswith("no record of AT.TURNOVER.TOTAL._T, ")
    assert deliver(zero, folder, sdmx_1("_T S L\nTOTAL 10 F 10 F .\nC 10 F 10 F .\nD . . .")).accepted
    assert said(zero, folder, "_T S L\nTOTAL 10 F 10 F .\nC . 10 F .\nD . . ."), (
        "a total of something is no zero"
    )


def test_many_cells_are_one_finding(domain, folder):
    [message] = said(domain, folder, "_T S L\nTOTAL 2000 F 700 F 1300 F\nC 1000 F . .\nD 1000 F . .")
    assert "and 1 more" in message
    assert "AT.TURNOVER.C.S" in message


def test_where_the_domain_says_missing_no_zero_is_believed(folder, tmp_path):
    zero = "_T S L\nTOTAL 10 F 10 F 0 F\nC 6 F 6 F .\nD 4 F 4 F ."
    assert deliver(small_domain(tmp_path), folder, sdmx_1(zero)).accepted
    assert said(small_domain(tmp_path, UNIT, f"{UNIT}, absent: missing"), folder, zero)
    assert said(small_domain(tmp_path, UNIT, f"{UNIT}, signed: true"), folder, zero), (
        "with signs, parts may cancel out"
    )


def test_a_table_with_one_dimension_has_every_cell(folder, tmp_path):
    flat = small_domain(tmp_path)
    (tmp_path / "sizes.csv").write_text("code,parent\n_T,\nS,\nL,\n")
    assert said(flat, folder, "_T S L\nTOTAL 10 F 10 F 10 F\nC 10 F 10 F 10 F\nD . . .")


# --- not available ------------------------------------------------------------------------------------------


def without(cell: str, sent: str = "", status: str = "M", flag: str = "F") -> str:
    """The open table with one value not available."""
    lines = sdmx_1(OPEN).splitlines()
    at = next(i for i, line in enumerate(lines) if f",TURNOVER,{cell},{PERIOD}," in line)
    head, _ = lines[at].split(f",{PERIOD},")
    lines[at] = f"{head},{PERIOD},{sent},EUR,3,{status},{flag},,,"
    return "\n".join([*lines, ""])


@pytest.mark.parametrize(
    ("sent", "status", "flag"),
    [
        ("", "M", "F"),
        ("", "O", ""),
        ("", "L", "D"),
        (":", "", "F"),
        (":", "M", ""),
        ("m", "", "F"),
        ("NaN", "M", "F"),
        ("NaN", "M", "#N/A"),
    ],
)
def test_a_value_that_is_not_available_is_a_state_of_its_cell(domain, folder, sent, status, flag):
    delivery = deliver(domain, folder, without("C,S", sent, status, flag))
    assert (codes(delivery), delivery.accepted) == ([], True)
    table = delivery.table
    cell = domain.space.national_keys.index(("TURNOVER", "C", "S"))
    assert np.flatnonzero(~table.available).tolist() == [cell]
    assert table.value[cell] == 400, "the only value that fits"
    assert not suite.refusals(suite.check(table, domain))


def test_what_fills_an_unavailable_cell_may_be_negative_only_where_values_have_signs(tmp_path):
    """TOTAL of C and D is 10, C is 30: D is −20, or there is nothing that fits."""
    signed = small_domain(tmp_path, UNIT, f"{UNIT}, signed: true")
    unsigned = small_domain(tmp_path)
    keys = signed.space.national_keys
    known = {"TOTAL": 10.0, "C": 30.0, "D": 0.0}
    value = np.array([known[activity] if size != "L" else 0.0 for _, activity, size in keys])
    available = np.array([activity != "D" or size == "L" for _, activity, size in keys])
    filled = completed(value, available, signed)
    assert filled is not None
    assert {filled[i] for i in np.flatnonzero(~available)} == {-20.0}
    assert completed(value, available, unsigned) is None


@pytest.mark.parametrize(("off", "fits"), [(19, True), (41, False)])
def test_what_fills_an_unavailable_cell_may_be_off_by_a_share_of_the_table(tmp_path, off, fits):
    """Row and column of the cell contradict one another, by more or less than the table allows: 1 % of
    2000 in each of them.
    """
    domain = small_domain(
        tmp_path, "flags:", "checks: {additivity_absolute: 0, additivity_relative: 0.01}\nflags:"
    )
    value = np.array([2000.0, 700, 1300, 1000, 0, 600, 1000, 300 + off, 700 - off])
    filled = completed(value, np.arange(9) != 4, domain)
    assert (filled is not None) == fits
    if filled is not None:
        assert 400 - off - 20 <= filled[4] <= 400 + 20


def test_what_fits_exactly_fills_where_nothing_may_be_off(tmp_path):
    checks = "checks: {additivity_absolute: 0, additivity_relative: 0}\nflags:"
    exact = small_domain(tmp_path, "flags:", checks)
    value = np.array([2000.0, 700, 1300, 1000, 0, 600, 1000, 300, 700])
    filled = completed(value, np.arange(9) != 4, exact)
    assert filled is not None
    assert filled[4] == 400
    value[7] += 1  # the column asks for 399
    assert completed(value, np.arange(9) != 4, exact) is None


def test_a_primary_cell_cannot_be_not_available(domain, folder):
    assert codes(deliver(domain, folder, without("C,S", flag="A"))) == [
        ("SDC/missing", 5 + 1, "AT.TURNOVER.C.S")
    ]


def test_a_gap_that_nothing_fits_refuses_the_delivery(domain, folder):
    wrong = without("C,S").replace(",C,_T,2024,1000,", ",C,_T,2024,599,")  # less than its other part
    assert [code for code, _, _ in codes(deliver(domain, folder, wrong))] == ["SDC/additivity"]


def test_aggregates_of_what_is_not_available_are_withheld_and_cannot_be_published(domain, folder):
    tables = [deliver(domain, folder, text).table for text in (without("C,S"), sdmx_1(HEALTHY, "BE"))]
    problem = pipeline.build_problem(tables, domain)
    key = problem.space.key
    assert [key(int(cell)) for cell in np.flatnonzero(problem.withheld)] == ["EU.TURNOVER.C.S"]
    hidden = domain.space.national_keys.index(("TURNOVER", "C", "S"))
    assert problem.suppressed[hidden]
    assert not problem.primary[hidden]
    requirements, _ = pipeline.baseline(problem, domain)
    publication = pipeline.choose_bases(problem, requirements, pipeline.Adjustment(), domain)
    assert publication.withheld[np.flatnonzero(problem.withheld) - 2 * problem.space.national_size].all()

    def released(publication: Publication) -> None:
        report = pipeline.merge(
            [
                pipeline.audit(problem, publication, requirements, domain, c)
                for c in range(domain.audit.chunks)
            ]
        )
        pipeline.release("id", problem, requirements, publication, report, domain.audit.profiles)

    released(publication)
    with pytest.raises(ReleaseBlocked, match=r"EU\.TURNOVER\.C\.S .*not available"):
        released(
            Publication(publication.cells, problem.a[publication.cells], np.zeros(len(publication.cells)))
        )


def test_what_stands_for_a_hidden_value_does_not_matter(tmp_path):
    """The attacker's bounds on the cells beside it are the same for every value that fits."""
    small_domain(tmp_path, "percent: 10}}\n  M", "percent: 90}}\n  M")
    (tmp_path / "activities.csv").write_text("code,parent\nTOTAL,\nC,TOTAL\nD,TOTAL\nE,TOTAL\nG,TOTAL\n")
    domain = load_domain(tmp_path / "small.yaml")
    rows = (
        "TOTAL 4400 F 1900 F 2500 F\nC 1000 F 400 D 600 D\nD 2000 F 1000 D 1000 D\nE 800 "
        "F 300 D 500 A\nG 600 F 200 D 400 D"
    )
    sent = sdmx_1(f"_T S L\n{rows}")
    for cell, value in (("C,S", 400), ("C,L", 600), ("D,S", 1000), ("D,L", 1000)):
        sent = sent.replace(f",{cell},2024,{value},EUR,3,A,D", f",{cell},2024,,EUR,3,M,D")
    first, second = (
        deliver(domain, tmp_path, each.replace(",AT,", f",{country},")).table
        for country, each in (("AT", sent), ("BE", sent))
    )
    told = []
    for shift in (0, 50, 137):
        value = first.value.copy()
        value[4] = 400 + shift  # C.S; then C.L, and the row of D
        value[5], value[6], value[7], value[8] = 600 - shift, 2000, 1000 - shift, 1000 + shift
        assert not (domain.space.national_relations @ value).any()
        problem = pipeline.build_problem([replace(first, value=value), second], domain)
        asked = attack.promised(problem, domain.audit.profiles)
        report = attack.audit(
            problem, Publication.nothing(np.flatnonzero(problem.aggregate)), asked, [], 1, 0, 1
        )
        told.append((report.down, report.up))
    assert 0 < told[0][1].min() < 1, "there is a bound to compare"
    for each in told[1:]:
        np.testing.assert_allclose(each, told[0], rtol=1e-9)


# --- flags and numbers --------------------------------------------------------------------------------------


def test_an_empty_flag_means_what_the_domain_declares_and_is_refused_otherwise(domain, folder, tmp_path):
    text = sdmx_1(OPEN).replace(",C,S,2024,400,EUR,3,A,F", ",C,S,2024,400,EUR,3,A,")
    refused = deliver(domain, folder, text)
    assert codes(refused) == [("150/904-2", 6, None)]
    assert "flag_when_empty" in refused.findings[0].message
    declared = small_domain(tmp_path, "flags:", "flag_when_empty: D\nflags:")
    assert deliver(declared, folder, text).table.flag[4] == "D"
    with pytest.raises(InvalidInput, match="flag_when_empty: Z is not one of the flags F, A"):
        small_domain(tmp_path, "flags:", "flag_when_empty: Z\nflags:")


@pytest.mark.parametrize(
    ("options", "old", "new", "code"),
    [
        ("kind: count", "400 F", "400.5 F", "SDC/whole"),
        ("integer: true", "400 F", "400.5 F", "SDC/whole"),
        ("decimals: 1", "400 F", "-400 F", "SDC/negative"),
        ("kind: count, rounding: {method: small-count, base: 3}", "400 F", "400 A", "SDC/flag"),
    ],
)
def test_a_number_that_its_indicator_cannot_have_is_a_finding_of_that_delivery(
    folder, tmp_path, options, old, new, code
):
    """Today such a number stopped the release of everybody, where all deliveries are put together."""
    domain = small_domain(tmp_path, UNIT, f"{UNIT}, {options}")
    delivery = deliver(domain, folder, sdmx_1(OPEN.replace(old, new)))
    errors = [finding for finding in delivery.findings if finding.severity is Severity.ERROR]
    assert [(each.code, each.line, each.cell) for each in errors] == [(code, 6, "AT.TURNOVER.C.S")]


# --- last time ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("severity", ["warning", "error"])
def test_keys_that_vanished_and_appeared_are_told(folder, tmp_path, severity):
    before = "_T S L\nTOTAL 10 F 10 F 0 F\nC 6 F 6 F 0 F\nD 4 F 4 F ."
    (tmp_path / "last.csv").write_text(sdmx_1(before))
    domain = small_domain(tmp_path, "flags:", f"expected: {{keys: last.csv, vanished: {severity}}}\nflags:")
    assert codes(deliver(domain, folder, sdmx_1(before))) == []
    delivery = deliver(domain, folder, sdmx_1("_T S L\nTOTAL 10 F 10 F 0 F\nC 6 F 6 F .\nD 4 F 4 F 0 F"))
    assert codes(delivery) == [
        ("SDC/expected", None, "AT.TURNOVER.C.L"),
        ("SDC/expected", None, "AT.TURNOVER.D.L"),
    ]
    assert [str(each.severity) for each in delivery.findings] == [severity, "warning"]
    assert [each.message.partition(":")[0] for each in delivery.findings] == [
        "AT.TURNOVER.C.L had a record before and has none now (AT.TURNOVER.C.L)",
        "AT.TURNOVER.D.L has a record and had none before (AT.TURNOVER.D.L)",
    ]
    assert delivery.accepted == (severity == "warning")
    two_less = deliver(domain, folder, sdmx_1("_T S L\nTOTAL 10 F 10 F .\nC 6 F 6 F .\nD 4 F 4 F ."))
    [both] = [each for each in two_less.findings if each.code == "SDC/expected"]
    keys = "AT.TURNOVER.TOTAL.L, AT.TURNOVER.C.L"
    assert both.message.startswith(
        f"AT.TURNOVER.TOTAL.L had a record before and has none now, as 1 more ({keys}): "
    )
    assert codes(deliver(domain, folder, sdmx_1(before, "BE"))) == [], "nothing is known of last time"


def test_a_table_of_expected_keys_that_cannot_be_read_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match=r"cannot read .*last\.csv"):
        small_domain(tmp_path, "flags:", "expected: {keys: last.csv}\nflags:")
    (tmp_path / "last.csv").write_text("REF_AREA\nAT\n")
    with pytest.raises(InvalidInput, match="ACTIVITY, INDICATOR, SIZECLASS is missing"):
        small_domain(tmp_path, "flags:", "expected: {keys: last.csv}\nflags:")


# --- a law --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(30))
def test_no_record_can_be_dropped_in_silence(domain, seed):
    """Without any one record, or several, a delivery is refused, or is the same table: then they
    were zeros.
    """
    chance = np.random.default_rng(seed)
    inner = chance.integers(0, 40, (2, 2)) * (chance.random((2, 2)) < 0.6)
    full = np.zeros((3, 3), dtype=int)
    full[1:, 1:] = inner
    full[0, 1:], full[1:, 0], full[0, 0] = inner.sum(axis=0), inner.sum(axis=1), inner.sum()
    rows = [
        "_T S L",
        *(
            " ".join([name, *(f"{value} F" for value in row)])
            for name, row in zip(("TOTAL", "C", "D"), full, strict=True)
        ),
    ]
    head, *records = sdmx_1("\n".join(rows)).splitlines()
    whole = read_bytes("\n".join([head, *records, ""]).encode(), "AT.csv", domain, PERIOD).table
    assert whole is not None
    kept = [[record for i, record in enumerate(records) if i != gone] for gone in range(len(records))]
    kept += [[record for record in records if chance.random() < 0.7] for _ in range(30)]
    for some in kept:
        table = read_bytes("\n".join([head, *some, ""]).encode(), "AT.csv", domain, PERIOD).table
        if table is not None and not suite.refusals(suite.check(table, domain)):
            assert table.value.tolist() == whole.value.tolist()
            assert table.flag.tolist() == whole.flag.tolist()
