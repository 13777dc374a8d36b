"""A word that is nearly a known one: the message names that one, and not what follows from the mistake."""

from __future__ import annotations

import pandas as pd
import pytest

import sdc_tasks as sdc
from sdc_tasks.domains import load_domain
from sdc_tasks.errors import InvalidInput, did_you_mean
from support.deliveries import small_domain


@pytest.mark.parametrize(
    ("wrong", "known", "meant"),
    [
        ("additivty", ["additivity", "shares"], " Did you mean additivity?"),
        ("region", ["REGION", "BRANCH"], " Did you mean REGION?"),
        ("Region", ["REGION", "REGIONS"], " Did you mean REGION?"),
        ("x", ["additivity"], ""),
        ("x", [], ""),
    ],
)
def test_the_nearest_name_is_asked_for(wrong, known, meant):
    assert did_you_mean(wrong, known) == meant


def refused(folder, old, new):
    with pytest.raises(InvalidInput) as error:
        small_domain(folder, old, new)
    return str(error.value)


def test_a_key_of_a_domain_file(tmp_path):
    said = refused(tmp_path, "indicators:", "checks: {additivty: null}\nindicators:")
    assert "checks.additivty: Extra inputs are not permitted. Did you mean additivity? Remedy: leave" in said


def test_a_key_that_must_be_there_is_not_missed_where_it_is_misspelt(tmp_path):
    said = refused(tmp_path, "indicators:", "indicator:")
    assert "indicator: Extra inputs are not permitted. Did you mean indicators? Remedy: " in said
    assert "Field required" not in said


def test_a_key_that_is_missing_is_told_beside_another_that_is_wrong(tmp_path):
    said = refused(tmp_path, "indicators:", "zzz:")
    assert "indicators: Field required" in said
    assert "zzz: Extra inputs" in said


def test_a_file_that_has_no_keys_at_all(tmp_path):
    (tmp_path / "word.yaml").write_text("hello\n")
    with pytest.raises(InvalidInput, match=r"word\.yaml: keys and values are wanted"):
        load_domain(tmp_path / "word.yaml")


def test_a_column():
    table = pd.DataFrame({"REGION": ["a", "b"], "VALUE": [1.0, 2.0], "LEVEL": [1.0, 0.0]})
    with pytest.raises(InvalidInput, match=r"no column REGON\. Did you mean REGION\? Remedy: name columns"):
        sdc.suppress(table.assign(STATUS="s"), ["REGON"], level="LEVEL")
