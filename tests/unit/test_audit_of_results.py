"""A result is judged as it is: `audit(found)`, and `audit(found.table)`, which knows what made it."""

from __future__ import annotations

import gc

import pandas as pd
import pytest

import sdc_tasks as sdc
from sdc_tasks.api import origins
from sdc_tasks.errors import InvalidInput

TABLE = pd.DataFrame(
    {
        "R": ["a", "a", "a", "b", "b", "b", "c", "c", "c"],
        "C": ["x", "y", "z"] * 3,
        "VALUE": [20, 50, 10, 8, 13, 7, 12, 9, 11],
        "SECRET": [1, 0, 0, 0, 0, 0, 0, 0, 0],
        "LEVEL": [5, 0, 0, 0, 0, 0, 0, 0, 0],
    }
)


def suppressed() -> sdc.SuppressResult:
    return sdc.suppress(TABLE, ["R", "C"], primary="SECRET", level="LEVEL")


def test_the_table_of_a_result_is_judged_with_the_levels_of_the_result() -> None:
    found = suppressed()
    told = sdc.audit(found.table)
    assert told.safe
    assert told.table.equals(sdc.audit(found).table)
    assert told.figures == sdc.audit(found).figures


def test_a_cell_that_somebody_opened_since_is_found() -> None:
    found = suppressed()
    secondary = found.table.index[found.table["STATUS"] == "m"][0]
    found.table.loc[secondary, "STATUS"] = "s"
    assert sdc.audit(found.table).at_risk == ("a.x",)


def test_microdata_by_rules_are_judged_too() -> None:
    firms = pd.DataFrame(
        {"REGION": list("NNNSSS"), "BRANCH": list("CCDCDD"), "VALUE": [90, 4, 30, 40, 50, 60]}
    )
    found = sdc.suppress(firms, ["REGION", "BRANCH"], rules=sdc.Rules(p=10))
    assert sdc.audit(found.table).safe


def test_other_values_are_another_table() -> None:
    found = suppressed()
    found.table.loc[0, "VALUE"] = 21
    with pytest.raises(InvalidInput, match=r"changed since the result made it\. Remedy: name its columns"):
        sdc.audit(found.table)


def test_a_copy_knows_nothing() -> None:
    with pytest.raises(InvalidInput, match="which columns are dimensions"):
        sdc.audit(suppressed().table.copy())


def test_a_frame_that_is_gone_is_forgotten() -> None:
    gc.collect()
    before = len(origins.ORIGINS)
    found = suppressed()
    _ = found.table
    assert len(origins.ORIGINS) == before + 1
    del found, _
    gc.collect()
    assert len(origins.ORIGINS) == before


def test_a_result_without_a_pattern_says_what_to_do() -> None:
    people = pd.DataFrame({"A": ["x", "y", "x"], "B": ["1", "1", "2"]})
    rounded = sdc.round_counts(people, ["A", "B"], seed=1)
    table = sdc.round_table(TABLE[["R", "C", "VALUE"]], ["R", "C"], base=5)
    for result in (rounded, table):
        with pytest.raises(InvalidInput, match=r"no pattern of hidden cells.*Remedy"):
            sdc.audit(result)


def test_a_method_without_a_bound_has_no_gap() -> None:
    """Hypercubes prove nothing of the cost: 100 % would look like a finding."""
    found = sdc.suppress(TABLE, ["R", "C"], primary="SECRET", level="LEVEL", method="hypercube")
    assert found.loss > 0
    assert found.bound == 0
    assert found.figures["gap"] == "no bound"
    assert suppressed().figures["gap"] == "0.00%"
