"""The cell key method for sums of values: noise in proportion to the largest contributions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import sdc_tasks as sdc
from sdc_tasks.errors import InvalidInput

SECRET = "5e" * 31 + "01"
DIMS = ["AREA", "SIZE"]


def firms(n: int = 300, seed: int = 5) -> pd.DataFrame:
    chance = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "ID": [f"f{i}" for i in range(n)],
            "AREA": chance.choice(["n", "s", "w"], n),
            "SIZE": chance.choice(["1", "2", "3", "4"], n, p=[0.7, 0.2, 0.08, 0.02]),
            "VALUE": np.where(chance.random(n) < 0.1, 0, chance.lognormal(6, 1.5, n)).round(1),
            "WHOLE": chance.integers(0, 256, n),
        }
    )


def by_hand(own: pd.DataFrame, noise: sdc.ValueNoise, places: int) -> float:
    """The published sum of one cell, from its records: the formula of the method with one contribution."""
    there = own[own["VALUE"] > 0]
    if there.empty:
        return 0.0
    key = there["WHOLE"].sum() % places
    largest = there["VALUE"].max()
    share = noise.share
    if noise.flex_point is not None and noise.large is not None and largest >= noise.flex_point:
        f, large = noise.flex_point, noise.large
        share = large * (
            1 + (noise.share * largest - large * f) / (large * f) * (2 * f / (f + largest)) ** noise.q
        )
        share = min(share, noise.share)
    v = noise.row.steps[np.argmax(key / places < noise.row.upper)] / 10
    return round(there["VALUE"].sum() + largest * share * v, 1)


@pytest.mark.parametrize(
    "noise",
    [
        sdc.ValueNoise(0.1),
        sdc.ValueNoise(0.2, large=0.02, flex_point=500.0),
        sdc.ValueNoise(0.3, 0.1, 900.0, q=1),
    ],
    ids=["simple", "flex", "flex, q 1"],
)
def test_every_cell_is_what_the_formula_says(noise):
    of = firms()
    found = sdc.perturb_values(of, DIMS, "VALUE", noise, record_key="WHOLE", keys_below=256).table
    for area, size, total, published in found.itertuples(index=False):
        own = of[(area == "TOTAL") | (of["AREA"] == area)]
        own = own[(size == "TOTAL") | (own["SIZE"] == size)]
        assert total == pytest.approx(own["VALUE"].sum())
        assert published == pytest.approx(by_hand(own, noise, 256), abs=0.11)


def test_the_noise_has_mean_0_and_the_share_as_its_standard_deviation():
    row = sdc.ValueNoise(0.1).row
    assert row.mean == pytest.approx(0, abs=1e-9)
    assert row.variance == pytest.approx(100, abs=1e-8)  # of 10 grains a standard deviation
    of = pd.DataFrame({"ID": range(8000), "AREA": np.arange(8000).astype(str), "VALUE": 1000})
    found = sdc.perturb_values(
        of, ["AREA"], "VALUE", sdc.ValueNoise(0.1), secret=SECRET, record="ID", max_order=1
    )
    moved = (found.table["PERTURBED"] - found.table["VALUE"]).to_numpy()[1:]
    assert abs(moved.mean()) < 5 * 100 / np.sqrt(8000)
    assert moved.std() == pytest.approx(100, rel=0.05)


def test_who_gives_nothing_changes_no_noise_and_neither_does_the_order():
    of = firms()
    noise = sdc.ValueNoise(0.2, weights=(1, 0.5, 0.25))
    first = sdc.perturb_values(of, DIMS, "VALUE", noise, secret=SECRET, record="ID").public
    giving = of[of["VALUE"] > 0].sample(frac=1, random_state=1)
    pd.testing.assert_frame_equal(
        first, sdc.perturb_values(giving, DIMS, "VALUE", noise, secret=SECRET, record="ID").public
    )


def test_no_sum_is_below_0_or_has_digits_that_no_record_has():
    noise = sdc.ValueNoise(1 / 3, weights=(1, 1, 1))
    found = sdc.perturb_values(firms(), DIMS, "VALUE", noise, secret=SECRET, record="ID")
    published = found.table["PERTURBED"].to_numpy()
    assert (published >= 0).all()
    np.testing.assert_allclose(published, published.round(1), atol=1e-9)


def test_the_interval_that_a_reader_has_holds_the_truth():
    found = sdc.perturb_values(firms(), DIMS, "VALUE", sdc.ValueNoise(0.2), secret=SECRET, record="ID")
    truth = {tuple(row[:2]): row[2] for row in found.table.itertuples(index=False)}
    for area, size, _, low, high in found.intervals().itertuples(index=False):
        assert low <= truth[area, size] <= high


def told(result: sdc.PerturbValuesResult) -> dict[tuple[str, ...], tuple[float, float]]:
    return {tuple(row[:-3]): row[-2:] for row in result.audit().table.itertuples(index=False)}


def could_be_published(total: int, asked: sdc.ValueNoise, published: int) -> bool:
    """Whether noise of at most its share of the sum leads there, rounding too."""
    return abs(total - published) <= Fraction(asked.share) * asked.max_step * total + Fraction(1, 2)


@pytest.mark.parametrize("seed", range(6))
def test_what_a_table_of_one_dimension_tells_is_exact(seed):
    """Against every true table, with whole sums below 200. Three areas, one of them empty."""
    chance = np.random.default_rng(seed)
    of = pd.DataFrame({"ID": range(6), "AREA": list("aaabbb"), "VALUE": chance.integers(1, 12, 6)})
    noise, tree = sdc.ValueNoise(0.15), {"AREA": {"T": None, "a": "T", "b": "T", "c": "T"}}
    asked = {"secret": SECRET, "record": "ID", "hierarchy": tree}
    result = sdc.perturb_values(of, ["AREA"], "VALUE", noise, **asked)
    shown = dict.fromkeys("Tab", 0) | dict(result.public.itertuples(index=False))
    possible = {
        key: [s for s in range(200) if could_be_published(s, noise, int(x))] for key, x in shown.items()
    }
    tables = [
        (a, b)
        for a in possible["a"]
        for b in possible["b"]
        if a + b in possible["T"]
        and all(part < a + b or shown["T"] == shown[key] for key, part in (("a", a), ("b", b)))
    ]
    sums = {"a": [a for a, _ in tables], "b": [b for _, b in tables], "T": [a + b for a, b in tables]}
    assert {key: bounds for (key,), bounds in told(result).items()} == {
        key: (min(own), max(own)) for key, own in sums.items()
    }


@pytest.mark.parametrize("weights", [(1.0,), (1.0, 0.5)])
def test_no_true_sum_is_outside_of_what_all_cells_tell(weights):
    of = firms(150)
    result = sdc.perturb_values(
        of, DIMS, "VALUE", sdc.ValueNoise(0.2, weights=weights), secret=SECRET, record="ID"
    )
    audit, alone = result.audit(), result.intervals()
    bounds = told(result)
    for area, size, total, _ in result.table.itertuples(index=False):
        low, high = bounds[area, size]
        assert low <= round(total, 1) <= high
    narrower = 0
    for area, size, _, low, high in alone.itertuples(index=False):
        within = bounds[area, size]
        assert low <= within[0] <= within[1] <= high
        narrower += within != (low, high)
    assert 0 < narrower <= audit.facts["told_more_of_by_other_cells"]


def test_noise_that_may_be_as_large_as_a_sum_sets_no_end_to_it():
    of = firms(60)
    result = sdc.perturb_values(
        of, DIMS, "VALUE", sdc.ValueNoise(1 / 3, weights=(1, 1)), secret=SECRET, record="ID"
    )
    assert np.isinf(result.intervals()["HIGH"]).all()
    facts = result.audit().facts
    assert (facts["told_exactly"], facts["told_within_10_percent"], facts["told_to_be_0"]) == (0, 0, 0)


def test_a_sum_of_more_digits_than_bounds_have_is_refused():
    of = firms(20).assign(VALUE=1e14 + 0.5)
    result = sdc.perturb_values(of, DIMS, "VALUE", sdc.ValueNoise(0.1), secret=SECRET, record="ID")
    with pytest.raises(InvalidInput, match=r"more than 14 digits.*Remedy"):
        result.audit()


def test_a_name_of_a_column_of_ours_is_no_dimension_and_values_are_none():
    of = firms(20).rename(columns={"AREA": "LOW"})
    with pytest.raises(InvalidInput, match="LOW is the name of a column of ours"):
        sdc.perturb_values(of, ["LOW"], "VALUE", sdc.ValueNoise(0.1), secret=SECRET, record="ID")
    with pytest.raises(InvalidInput, match="column VALUE is a dimension"):
        sdc.perturb_values(of, ["VALUE"], "VALUE", sdc.ValueNoise(0.1), secret=SECRET, record="ID")


def test_two_columns_of_one_cell_have_noise_of_their_own():
    """Else their ratio would be told."""
    of = firms().assign(SAME=lambda frame: frame["VALUE"])
    found = [
        sdc.perturb_values(of, DIMS, name, sdc.ValueNoise(0.2), secret=SECRET, record="ID").table["PERTURBED"]
        for name in ("VALUE", "SAME")
    ]
    assert (found[0] != found[1]).mean() > 0.5


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"share": 0.5}, "share"),
        ({"share": 0.0}, "share"),
        ({"share": "much"}, "share"),
        ({"share": 0.1, "weights": 1}, "weights"),
        ({"share": 0.1, "large": 0.05}, "belong together"),
        ({"share": 0.1, "large": 0.2, "flex_point": 1.0}, "large"),
        ({"share": 0.1, "large": 0.05, "flex_point": -1.0}, "flex_point"),
        ({"share": 0.1, "q": 0.5}, "q is no"),
        ({"share": 0.1, "max_step": 1}, "max_step"),
        ({"share": 0.1, "weights": (0.5,)}, "weights"),
        ({"share": 0.1, "weights": (1, 0.5, 0.7)}, "weights"),
        ({"share": 0.1, "weights": ()}, "weights"),
    ],
)
def test_noise_that_is_none_is_refused(asked, told):
    with pytest.raises(InvalidInput, match=f"{told}.*Remedy"):
        sdc.ValueNoise(**asked)


def test_what_is_wrong_is_refused():
    of = firms(10)
    of["VALUE"] = of["VALUE"].astype(object)
    for wrong in (-1.0, None, "many"):
        of.loc[4, "VALUE"] = wrong
        with pytest.raises(InvalidInput, match="row 4: column VALUE: a value is a number, 0 or more"):
            sdc.perturb_values(of, DIMS, "VALUE", sdc.ValueNoise(0.1), secret=SECRET, record="ID")
    noise = sdc.ValueNoise(0.1, weights=(1, 0.5))
    with pytest.raises(InvalidInput, match="a place of its own for each"):
        sdc.perturb_values(firms(), DIMS, "VALUE", noise, record_key="WHOLE", keys_below=256)
    with pytest.raises(InvalidInput, match="noise is no noise of values"):
        sdc.perturb_values(firms(), DIMS, "VALUE", 0.1, secret=SECRET, record="ID")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("values", "decimals"), [((2e-05, 3e-05), 5), ((2e-05, 0.5), 5), (("1.5e3", "2"), 0)]
)
def test_sums_have_the_decimals_of_numbers_with_a_power_of_ten(values, decimals):
    """As a data frame writes small numbers: 2e-05 has five decimals, and its cell does not become empty."""
    of = pd.DataFrame({"ID": ["a", "b"], "AREA": ["n", "s"], "VALUE": values})
    found = sdc.perturb_values(of, ["AREA"], "VALUE", sdc.ValueNoise(0.1), secret=SECRET, record="ID").public
    sums = [float(value) for value in found["VALUE"]]
    assert len(sums) == 3
    assert all(value > 0 and value == round(value, decimals) for value in sums)


def test_a_number_with_an_underscore_is_none():
    of = pd.DataFrame({"ID": ["a", "b"], "AREA": ["n", "s"], "VALUE": ["1_000", "2"]})
    with pytest.raises(InvalidInput, match="a value is a number, 0 or more"):
        sdc.perturb_values(of, ["AREA"], "VALUE", sdc.ValueNoise(0.1), secret=SECRET, record="ID")
