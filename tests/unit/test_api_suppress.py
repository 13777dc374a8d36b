"""Cell suppression of a data frame: the same pattern as of the JJ table, with codes
instead of numbers ([2], Figure 11).
"""

from __future__ import annotations

import pandas as pd
import pytest

import sdc_tasks as sdc
from sdc_tasks.errors import InvalidInput, Unprotectable
from sdc_tasks.methods.suppression.pattern.result import SuppressionResult

INNER = {
    ("M1", "P1"): 20,
    ("M1", "P2"): 24,
    ("M1", "P3"): 28,
    ("M2", "P1"): 38,
    ("M2", "P2"): 38,
    ("M2", "P3"): 40,
    ("M3", "P1"): 40,
    ("M3", "P2"): 39,
    ("M3", "P3"): 42,
}


def figure_11(**columns: dict[tuple[str, str], object]) -> pd.DataFrame:
    rows = [{"TOWN": town, "JOB": job, "VALUE": value} for (town, job), value in INNER.items()]
    frame = pd.DataFrame(rows)
    for name, told in {
        "STATUS": {("M2", "P3"): "u"},
        "LPL": {("M2", "P3"): 10},
        "UPL": {("M2", "P3"): 10},
        **columns,
    }.items():
        frame[name] = [told.get(key, "s" if name == "STATUS" else None) for key in INNER]
    return frame


def secondaries(found: pd.DataFrame) -> set[tuple[str, str]]:
    marked = found[found["STATUS"] == "m"]
    return set(zip(marked["TOWN"], marked["JOB"], strict=True))


def test_the_pattern_of_figure_11_and_totals_that_nobody_gave():
    result = sdc.suppress(figure_11(), ["TOWN", "JOB"])
    found = result.table
    assert secondaries(found) == {("M1", "P1"), ("M1", "P3"), ("M2", "P1")}
    assert (result.search.ended, result.loss, result.bound) == ("proven", 86.0, 86.0)
    assert len(found) == 16
    total = found[(found["TOWN"] == "TOTAL") & (found["JOB"] == "TOTAL")]
    assert total["VALUE"].tolist() == [309.0]
    assert found.loc[found["STATUS"] == "u", ["TOWN", "JOB"]].to_numpy().tolist() == [["M2", "P3"]]


def test_a_cell_that_must_stay_open_does():
    result = sdc.suppress(figure_11(STATUS={("M2", "P3"): "u", ("M1", "P1"): "z"}), ["TOWN", "JOB"])
    found = result.table
    assert found.loc[(found["TOWN"] == "M1") & (found["JOB"] == "P1"), "STATUS"].tolist() == ["z"]
    assert secondaries(found) == {("M1", "P2"), ("M1", "P3"), ("M2", "P2")}
    assert result.loss == 24 + 28 + 38


def test_a_hierarchy_as_a_mapping():
    tree = {"ALL": None, "EAST": "ALL", "M1": "EAST", "M2": "EAST", "M3": "ALL"}
    result = sdc.suppress(figure_11(), ["TOWN", "JOB"], hierarchy={"TOWN": tree})
    found = result.table
    assert len(found) == 5 * 4
    assert secondaries(found) == {("M1", "P1"), ("M1", "P3"), ("M2", "P1")}
    assert result.search.ended == "proven"


@pytest.mark.parametrize("column", ["COST", "COUNT"])
def test_costs_of_a_column(column):
    dear = {key: 100.0 if key == ("M1", "P1") else 1.0 for key in INNER}
    frame = figure_11(**{column: dear})
    margins = {
        ("M1", "TOTAL"): 72,
        ("M2", "TOTAL"): 116,
        ("M3", "TOTAL"): 121,
        ("TOTAL", "P1"): 98,
        ("TOTAL", "P2"): 101,
        ("TOTAL", "P3"): 110,
        ("TOTAL", "TOTAL"): 309,
    }
    totals = pd.DataFrame(
        [{"TOWN": town, "JOB": job, "VALUE": value} for (town, job), value in margins.items()]
    )
    totals = totals.assign(**{"STATUS": "s", column: 9.0})
    result = sdc.suppress(
        pd.concat([frame, totals]), ["TOWN", "JOB"], cost="COST" if column == "COST" else "frequency"
    )
    found = result.table
    assert result.loss == 3.0
    assert ("M1", "P1") not in secondaries(found)


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({}, {"dims": ["TOWN", "TRADE"]}, "no column TRADE"),
        ({}, {"cost": "COST"}, "no column COST"),
        ({}, {"method": "cubes", "gap": 0.1}, "gap: method cubes proves no bound"),
        ({"COUNT": dict.fromkeys(INNER, 1)}, {"cost": "frequency"}, "M1.TOTAL|TOTAL.* more: no COUNT"),
        ({"STATUS": {("M1", "P1"): "x"}}, {}, "row 0: M1.P1: its STATUS is none of s u m z"),
        ({"LPL": {}, "UPL": {}}, {}, "row 5: M2.P3: primary without a level in LPL"),
        (
            {"LPL": {}},
            {},
            "row 5: M2.P3: primary without a level in LPL. Remedy: give its level, 0 where none is asked",
        ),
        ({"UPL": {("M2", "P3"): float("nan")}}, {}, "row 5: M2.P3: primary without a level in UPL"),
        ({"SPL": {("M2", "P3"): ""}}, {}, "row 5: M2.P3: primary without a level in SPL"),
        (
            {"STATUS": {("M2", "P3"): "u", ("M1", "P1"): None}},
            {},
            "row 0: M1.P1: no STATUS. Remedy: s where the cell is safe",
        ),
        ({"STATUS": {("M2", "P3"): "u", ("M1", "P2"): ""}}, {}, "row 1: M1.P2: no STATUS"),
        (
            {"SECRET": {("M2", "P3"): 1}},
            {"primary": "SECRET"},
            "row 0: M1.P1: no SECRET. Remedy: mark with 1",
        ),
        ({"SINGLETON": {("M2", "P3"): 1}}, {}, "row 0: M1.P1: no SINGLETON. Remedy: mark with 1"),
        ({"LPL": {("M2", "P3"): float("inf")}}, {}, "row 5: LPL is not finite"),
        ({}, {"hierarchy": {"TOWN": {"M1": None, "M2": "M9", "M3": "M1"}}}, "parents .* are not codes"),
        (
            {},
            {"hierarchy": {"TOWN": {"ALL": None, "M1": "ALL", "M2": "ALL"}}},
            "row 6: TOWN M3 is none of the codes in its hierarchy",
        ),
    ],
)
def test_what_is_no_table_is_told(change, options, message):
    with pytest.raises(InvalidInput, match=message) as refused:
        sdc.suppress(figure_11(**change), **{"dims": ["TOWN", "JOB"], **options})
    assert "Remedy: " in str(refused.value)


def two_by_two(lower: object, **columns: list[object]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "R": list("aabb"),
            "C": list("xyxy"),
            "VALUE": [100, 5, 5, 3],
            "LPL": [lower, 0, 0, 0],
            "UPL": [5, 0, 0, 0],
            "STATUS": ["u", "m", "m", "m"],
            **columns,
        }
    )


@pytest.mark.parametrize("nothing", [None, float("nan"), "", pd.NA])
def test_a_level_that_is_missing_on_one_side_is_not_taken_for_none(nothing):
    """With a lower level of 20 the pattern is not safe; without a word of it nobody knows."""
    assert not sdc.audit(two_by_two(20), ["R", "C"]).safe
    functions = {sdc.audit: {}, sdc.suppress: {}, sdc.adjust: {}, sdc.round_table: {"base": 5}}
    for function, options in functions.items():
        with pytest.raises(InvalidInput, match=r"row 0: a\.x: primary without a level in LPL"):
            function(two_by_two(nothing), ["R", "C"], **options)
    with pytest.raises(InvalidInput, match=r"levels UPL and none for the other side\. Remedy: add LPL"):
        sdc.suppress(two_by_two(nothing).drop(columns="LPL"), ["R", "C"])


def test_a_level_beyond_the_bound_is_cut_at_it():
    """Everybody knows that a value is at least 0, so no pattern could let it seem lower: METHOD, §2."""
    wide = two_by_two(200, UPL=[200, 0, 0, 0], VALUE=[100, 500, 500, 300])
    assert sdc.audit(wide, ["R", "C"]).safe
    assert sdc.audit(wide, ["R", "C"]).intervals()["LOW"].tolist()[0] == 0.0


def test_what_nothing_protects_is_named_by_its_codes():
    stuck = dict.fromkeys(INNER, "z") | {("M2", "P3"): "u"}
    rows = [
        {"TOWN": town, "JOB": "TOTAL", "VALUE": value, "STATUS": "z"}
        for town, value in (("M1", 72), ("M2", 116), ("M3", 121))
    ]
    with pytest.raises(Unprotectable, match=r"M2\.P3: its relations"):
        sdc.suppress(pd.concat([figure_11(STATUS=stuck), pd.DataFrame(rows)]), ["TOWN", "JOB"])


def test_no_pattern_in_time_is_refused(monkeypatch: pytest.MonkeyPatch):
    none = SuppressionResult(None, 0.0, "auto", "time", 0.0, ())
    monkeypatch.setattr("sdc_tasks.api.suppression.suppress_problem", lambda *_: none)
    with pytest.raises(Unprotectable, match=r"no safe pattern in 0 s\. Remedy: give more time"):
        sdc.suppress(figure_11(), ["TOWN", "JOB"], seconds=0.0)


def test_a_minimum_of_contributors_and_dearer_totals():
    counts = dict.fromkeys(INNER, 5) | {("M2", "P3"): 2}
    margins = [
        {
            "TOWN": town,
            "JOB": job,
            "VALUE": sum(
                INNER[key] for key in INNER if town in (key[0], "TOTAL") and job in (key[1], "TOTAL")
            ),
        }
        for town in ("M1", "M2", "M3", "TOTAL")
        for job in ("P1", "P2", "P3", "TOTAL")
        if "TOTAL" in (town, job)
    ]
    frame = pd.concat([figure_11(COUNT=counts), pd.DataFrame(margins).assign(COUNT=20, STATUS="s")])
    least = sdc.suppress(frame, ["TOWN", "JOB"], min_contributors=7)
    more = sdc.suppress(frame, ["TOWN", "JOB"], min_contributors=8, margins=10.0)
    found = more.table
    assert (least.loss, least.bound) == (86.0, 86.0)
    assert more.loss > 86 >= more.bound
    assert {("M2", "P1"), ("M2", "P2")} <= secondaries(found), "totals are dear"


def test_a_table_too_large_for_programs_names_the_cells_that_no_hypercube_protects(
    monkeypatch: pytest.MonkeyPatch,
):
    from sdc_tasks.methods.suppression.cubes import method

    total = {"TOWN": "TOTAL", "JOB": "P3", "VALUE": 110, "STATUS": "z"}
    frame = pd.concat(
        [figure_11(STATUS={("M2", "P3"): "u", ("M1", "P3"): "z", ("M3", "P3"): "z"}), pd.DataFrame([total])]
    )
    monkeypatch.setattr(method, "MOST_PROGRAMMED", 15)
    with pytest.raises(
        InvalidInput,
        match=r"1 of 1 primary cells have no hypercube, and 16 cells are too many .*: M2\.P3\. Remedy: join",
    ):
        sdc.suppress(frame, ["TOWN", "JOB"], method="cubes")


def test_what_was_protected_is_audited_as_it_is(monkeypatch):
    """As docs/python.md says: from firms to a table that is safe, without naming a column of levels."""
    firms = pd.DataFrame(
        {"REGION": list("NNNNSSSSN"), "BRANCH": ["C10", "C10", "F", "F", "C10", "F", "F", "C11", "C11"],
         "TURNOVER": [900, 40, 300, 290, 400, 500, 470, 60, 80]}
    )  # fmt: skip
    found = sdc.suppress(firms, dims=["REGION", "BRANCH"], value="TURNOVER", rules=sdc.Rules(p=10))
    checked = sdc.audit(found)
    assert checked.safe, checked.at_risk
    assert checked.table.equals(found.table)
    monkeypatch.setattr(SuppressionResult, "pattern", (found.table["STATUS"] == "u").to_numpy())
    assert not sdc.audit(found).safe
    with pytest.raises(InvalidInput, match="brings its own columns"):
        sdc.audit(found, ["REGION", "BRANCH"])


def test_totals_that_are_added_up_hold_no_error_of_binary_fractions():
    """It depends on hidden parts: 0.1 + 0.2 is 0.30000000000000004."""
    frame = pd.DataFrame(
        {"R": list("aabb"), "C": list("xyxy"), "VALUE": [0.1, 0.2, 0.7, 0.1], "STATUS": list("ssss")}
    )
    assert {len(str(each)) for each in sdc.suppress(frame, ["R", "C"]).table["VALUE"]} == {3}
    firms = pd.DataFrame({"R": ["a"] * 6 + ["b"] * 6, "C": list("xy") * 6, "VALUE": [0.1, 0.2, 0.7] * 4})
    assert {
        len(str(each)) for each in sdc.suppress(firms, ["R", "C"], rules=sdc.Rules(p=1)).table["VALUE"]
    } == {3}
