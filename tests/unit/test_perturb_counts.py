"""The cell key method for counts: who is in a cell decides its noise, and nothing else does."""

from __future__ import annotations

import collections
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import sdc_tasks as sdc
from sdc_tasks.errors import InvalidInput
from sdc_tasks.intake.tables.ptables import by_keys, by_probabilities, read_ptable
from sdc_tasks.methods.perturb.design import NoiseDesign, design_table
from sdc_tasks.methods.perturb.keys import CellKeying, siphash
from sdc_tasks.methods.perturb.ptable import NoiseRow, PerturbationTable
from sdc_tasks.methods.perturb.whole_keys import in_keys
from sdc_tasks.model.secret import Secret

SECRET = "5e" * 31 + "01"
NOISE = NoiseDesign(5, 3.0, 2)
DIMS = ["AGE", "SEX", "TOWN"]


def people(n: int = 400, seed: int = 7) -> pd.DataFrame:
    chance = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "ID": [f"p{i}" for i in range(n)],
            "AGE": chance.choice(["0", "15", "65"], n, p=[0.2, 0.7, 0.1]),
            "SEX": chance.choice(["f", "m"], n),
            "TOWN": chance.choice([f"t{i}" for i in range(9)], n, p=np.arange(1, 10) / 45),
            "KEY": chance.random(n).round(8),
            "WHOLE": chance.integers(0, 256, n),
        }
    )


def cells_of(found: object) -> dict[tuple[str, ...], int]:
    table = found.table  # type: ignore[attr-defined]
    dims = [name for name in DIMS if name in table]
    return {
        tuple(row[:-2]): row[-1] for row in table[[*dims, "ORIGINAL", "PERTURBED"]].itertuples(index=False)
    }


def test_keys_of_fifteen_decimals_are_added_and_looked_up_exactly():
    """As τ-ARGUS writes them; one lies at the end of an interval, and belongs to the next one."""
    chance = np.random.default_rng(11)
    of = people(500).assign(KEY=[f"0.{key:015d}" for key in chance.integers(0, 10**15, 500)])
    table = design_table(NOISE).table
    two = PerturbationTable((NoiseRow.likely([0], [1.0]), NoiseRow([-1, 2], [0.36648551, 1.0])))
    for key, published in (("0.366485509999999", 0), ("0.366485510000000", 3)):
        lone = pd.DataFrame({"AGE": ["0"], "KEY": [key]})
        assert sdc.perturb(lone, ["AGE"], two, record_key="KEY").table["PERTURBED"][0] == published
    found = sdc.perturb(of, DIMS, table, record_key="KEY").table
    for *codes, count, published in found.itertuples(index=False):
        own = of[
            np.logical_and.reduce([(c == "TOTAL") | (of[d] == c) for d, c in zip(DIMS, codes, strict=True)])
        ]
        key = sum(map(Fraction, own["KEY"])) % 1
        row = table.rows[min(count, table.top)]
        ends = [Fraction(repr(end)) for end in row.upper.tolist()]
        step = next(step for step, end in zip(row.steps.tolist(), ends, strict=True) if key < end)
        assert (len(own), published) == (count, count + step)


def test_the_same_people_have_the_same_noise_in_every_table():
    """A table of two dimensions, the same cells in one of three, and the records in another order."""
    of = people()
    three = cells_of(sdc.perturb(of, DIMS, NOISE, secret=SECRET, record="ID"))
    other = of.sample(frac=1, random_state=3)
    two = cells_of(sdc.perturb(other, DIMS[:2], NOISE, secret=SECRET, record="ID"))
    assert {(*key, "TOTAL"): count for key, count in two.items()}.items() <= three.items()
    # a town whose people all are of one age: its total and that age are the same people
    alone = of[of["TOWN"] != "t0"].copy()
    alone.loc[alone["TOWN"] == "t1", "AGE"] = "15"
    found = cells_of(sdc.perturb(alone, DIMS, NOISE, secret=SECRET, record="ID"))
    assert found["TOTAL", "TOTAL", "t1"] == found["15", "TOTAL", "t1"]


def test_another_secret_is_another_noise_and_a_table_of_some_is_not_that_of_all():
    of = people()
    first = cells_of(sdc.perturb(of, DIMS, NOISE, secret=SECRET, record="ID"))
    second = cells_of(sdc.perturb(of, DIMS, NOISE, secret=SECRET[:-1] + "2", record="ID"))
    assert first.keys() == second.keys()
    assert sum(first[key] != second[key] for key in first) > len(first) / 2


def test_no_count_is_published_that_the_rules_close_and_none_moves_too_far():
    found = sdc.perturb(people(), DIMS, NOISE, secret=SECRET, record="ID")
    table = found.table
    assert not set(table["PERTURBED"]) & {1, 2}
    assert (table["PERTURBED"] >= 0).all()
    assert (table["PERTURBED"] - table["ORIGINAL"]).abs().max() <= 5
    assert (found.intervals()["LOW"] <= found.intervals()["HIGH"]).all()


def test_a_cell_that_noise_emptied_leaves_no_row():
    """Else the row would say that somebody is there."""
    found = sdc.perturb(people(), DIMS, NOISE, secret=SECRET, record="ID")
    assert (found.table["PERTURBED"] == 0).any()
    assert (found.public["PERTURBED"] > 0).all()
    assert "ORIGINAL" not in found.public


def test_what_is_missing_is_a_category_with_keys_of_its_own():
    of = people()
    of.loc[::5, "AGE"] = None
    found = cells_of(sdc.perturb(of, DIMS, NOISE, secret=SECRET, record="ID"))
    said = of.assign(AGE=of["AGE"].fillna("_U"))
    assert found == cells_of(sdc.perturb(said, DIMS, NOISE, secret=SECRET, record="ID"))
    both = of.copy()
    both.loc[1, "AGE"] = "_U"
    with pytest.raises(InvalidInput, match="row 1: column AGE: _U is a code, and other records have none"):
        sdc.perturb(both, DIMS, NOISE, secret=SECRET, record="ID")


def test_noise_has_the_chances_of_its_table():
    """100 000 cells of 4 people each: the shares of the steps are the row of count 4, to five standard
    errors.
    """
    table = design_table(NOISE).table
    keying = CellKeying.of_secret(Secret.of_hex(SECRET))
    keys = keying.record_keys([str(i) for i in range(400_000)])
    which = np.repeat(np.arange(100_000), 4)
    noise = keying.noise(table, np.full(100_000, 4), keying.summed(which, keys, 100_000))
    row = table.rows[4]
    for step, p in zip(row.steps.tolist(), row.p.tolist(), strict=True):
        assert abs((noise == step).mean() - p) < 5 * np.sqrt(p * (1 - p) / 100_000)


def test_who_knows_the_noise_of_parts_learns_nothing_of_that_of_the_total():
    """Keys add up. With given keys, two parts that fell far have small keys, so their total falls too; with a
    secret the places are drawn anew.
    """
    table, chance = design_table(NoiseDesign(5, 3.0)).table, np.random.default_rng(11)
    big = np.full(200_000, 50)
    for keying in (CellKeying.given(10**9), CellKeying(10**9, Secret.of_hex(SECRET))):
        left, right = (chance.integers(0, 10**9, len(big)).astype(np.uint64) for _ in range(2))
        noise = [keying.noise(table, big, each) for each in (left, right, (left + right) % np.uint64(10**9))]
        fallen = (noise[0] <= -3) & (noise[1] <= -3)
        share = (noise[2][fallen] < 0).mean()
        usual = (noise[2] < 0).mean()
        if keying.secret is None:
            assert share > 0.9
        else:
            assert abs(share - usual) < 5 * np.sqrt(usual / fallen.sum())


def test_siphash_is_that_of_its_authors():
    """The test vector of 8 bytes of the reference implementation: key 00 … 0f, message 00 … 07."""
    words = [int.from_bytes(bytes(range(at, at + 8)), "little") for at in (0, 8)]
    found = siphash(np.array([words[0]], dtype=np.uint64), *words)
    assert int(found[0]).to_bytes(8, "little").hex() == "6224939a79f5f593"


def looked_up(
    of: pd.DataFrame, table: PerturbationTable, key: str, modulus: float
) -> dict[tuple[str, ...], int]:
    """What R cellKey 1.0.2 does, cell by cell: keys summed, modulo 1, the first interval whose end is
    larger.
    """
    found = {}
    for names in ([], ["AGE"], ["SEX"], ["AGE", "SEX"]):
        for codes, own in of.groupby(names) if names else [((), of)]:
            told = dict(zip(names, codes, strict=True))
            place = own[key].sum() / modulus % 1
            row = table.rows[min(len(own), table.top)]
            step = int(row.steps[np.argmax(place < row.upper)])
            found[told.get("AGE", "TOTAL"), told.get("SEX", "TOTAL")] = len(own) + step
    return found


def test_given_keys_are_looked_up_as_the_other_programs_do():
    of, table = people(), design_table(NOISE).table
    for key, modulus, below in (("KEY", 1.0, None), ("WHOLE", 256.0, 256)):
        found = cells_of(sdc.perturb(of, DIMS[:2], table, record_key=key, keys_below=below))
        assert found == looked_up(of, table, key, modulus)


def test_cells_with_sums_of_keys_are_as_their_records():
    of = people()
    inner = of.groupby(DIMS).agg(N=("ID", "size"), KEY=("WHOLE", "sum")).reset_index()
    inner["KEY"] %= 256
    whole = cells_of(sdc.perturb(of, DIMS, NOISE, record_key="WHOLE", keys_below=256))
    assert whole == cells_of(sdc.perturb(inner, DIMS, NOISE, record_key="KEY", keys_below=256, count="N"))


def test_a_cell_without_people_has_no_key():
    """Else its total would be other people than its filled parts."""
    inner = pd.DataFrame({"AGE": ["0", "1", "2"], "N": [3, 0, 5], "KEY": [7, 9, 200]})
    options = {"record_key": "KEY", "keys_below": 256, "count": "N"}
    with pytest.raises(
        InvalidInput, match=r"row 1: column KEY: nobody is in this cell.*Remedy: give the key 0"
    ):
        sdc.perturb(inner, ["AGE"], NOISE, **options)
    assert len(sdc.perturb(inner.assign(KEY=[7, 0, 200]), ["AGE"], NOISE, **options).table) == 4


def test_as_many_people_in_one_code_as_in_all_others_are_no_total():
    """Of cells a count that is the sum of all others may be a total; records of people are none."""
    of = people(8).assign(AGE=["0"] * 4 + ["1", "2", "3", "4"], SEX="f")
    found = sdc.perturb(of, DIMS[:2], NOISE, secret=SECRET, record="ID")
    assert len(found.table) == 2 * 6


def test_weighted_counts_are_the_perturbed_count_times_the_mean_weight():
    of = people().assign(W=2.5)
    found = sdc.perturb(of, DIMS, NOISE, secret=SECRET, record="ID", weight="W")
    np.testing.assert_allclose(found.table["WEIGHTED"], 2.5 * found.table["PERTURBED"])


# --- files of others ----------------------------------------------------------------------------------------


def test_a_table_by_probabilities_comes_back(tmp_path):
    table, path = design_table(NOISE).table, tmp_path / "noise.csv"
    path.write_bytes(by_probabilities(table))
    back = read_ptable(path)
    assert back.top == table.top
    for ours, theirs in zip(table.rows, back.rows, strict=True):
        assert ours.steps.tolist() == theirs.steps.tolist()
        np.testing.assert_allclose(ours.upper, theirs.upper, atol=1e-12)


MODIFIED = """
    i;j;p;v;p_int_lb;p_int_ub;type
    0;0;1.00000000; 0;0.0000000;1.0000000;all
    1;3;0.08750000; 2;0.0000000;0.0875000;all
    1;1;0.20000000; 0;0.0875000;0.2875000;all
    1;0;0.20000000;-1;0.2875000;0.4875000;all
    1;1;0.16250000; 0;0.4875000;0.6500000;all
    1;2;0.18750000; 1;0.6500000;0.8375000;all
    1;0;0.16250000;-1;0.8375000;1.0000000;all
"""


def written(tmp_path, text):  # type: ignore[no-untyped-def]
    path = tmp_path / "noise.csv"
    path.write_text("\n".join(line.strip() for line in text.strip().split("\n")) + "\n")
    return path


def test_a_table_with_shuffled_intervals_is_read(tmp_path):
    """That of the vignette of R ptable 1.0.0, modified against sums of keys (threshold 0.2), counts 0 and
    1.
    """
    table = read_ptable(written(tmp_path, MODIFIED))
    row = table.rows[1]
    assert row.steps.tolist() == [2, 0, -1, 0, 1, -1]
    assert row.mean == pytest.approx(0, abs=1e-9)
    assert row.variance == pytest.approx(0.9, abs=1e-9)
    keys = np.array([8_749_999, 8_750_000, 99_999_999], dtype=np.uint64)
    told = table.noise(np.array([1, 1, 1]), keys, 10**8)
    assert told.tolist() == [2, 0, -1]


WRONG = {
    "1;3;0.08750000": ("1;3;0.09750000", "line 3: the probabilities of count 1 do not sum to 1"),
    "1;2;0.18750000; 1": ("1;4;0.18750000; 1", "line 7: j is not i \\+ v"),
    "0.2875000;all": ("0.2975000;all", "line 4: p_int_ub does not go on by p"),
    "0;0;1.00000000": ("2;2;1.00000000", "line 2: count 2 where 0 is expected"),
    "1;1;0.16250000": ("1;1;often", "line 6: column p: no number from 0 to 1"),
    "1.0000000;all\n    1;3": ("1.0000000;even\n    1;3", "line 2: a table for values"),
    "1;0;0.20000000;-1": ("1;-1;0.20000000;-2", "noise.csv: the row of count 1 falls below 0"),
}


@pytest.mark.parametrize("right", WRONG)
def test_a_table_that_is_wrong_is_refused_with_its_line(tmp_path, right):
    wrong, told = WRONG[right]
    assert right in MODIFIED
    with pytest.raises(InvalidInput, match=f"{told}.*Remedy"):
        read_ptable(written(tmp_path, MODIFIED.replace(right, wrong, 1)))


def office(change=lambda frame: frame):  # type: ignore[no-untyped-def]
    """The English office's rule of its package, version 3.1.0: below 10 nothing, else to the nearest 5."""
    counts = np.arange(1, 751)
    step = np.where(counts < 10, -counts, np.array([0, -1, -2, 2, 1])[counts % 5])
    keys = 8
    frame = pd.DataFrame(
        {"pcv": counts.repeat(keys), "ckey": np.tile(np.arange(keys), 750), "pvalue": step.repeat(keys)}
    )
    return change(frame)


def test_the_office_s_rule_is_read_and_goes_on_beyond_its_last_row(tmp_path):
    path = tmp_path / "rule.csv"
    office().to_csv(path, index=False)
    table = read_ptable(path)
    assert (table.keys, table.repeat, table.top) == (8, 250, 750)
    counts = np.array([3, 9, 10, 12, 13, 750, 751, 1000, 1003, 123_458])
    noise = table.noise(counts, np.zeros(len(counts), dtype=np.uint64), 8)
    assert (counts + noise).tolist() == [0, 0, 10, 10, 15, 750, 750, 1000, 1005, 123_460]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda frame: frame.drop(index=9), "no line for count 2 and key 1"),
        (lambda frame: frame.assign(pcv=frame["pcv"] + 1), "line 5994: a count outside 1 … 750"),
        (lambda frame: pd.concat([frame, frame[:1]]), "line 6002: a count outside .* or twice"),
        (lambda frame: frame.assign(pvalue="x"), "line 2: column pvalue: no whole number"),
        (lambda frame: frame.rename(columns={"ckey": "key"}), "line 1: neither a table of probabilities"),
    ],
)
def test_a_table_by_keys_that_is_wrong_is_refused(tmp_path, change, told):
    path = tmp_path / "rule.csv"
    office(change).to_csv(path, index=False)
    with pytest.raises(InvalidInput, match=f"{told}.*Remedy"):
        read_ptable(path)


@pytest.mark.parametrize("keys", [256, 4096])
def test_a_table_in_whole_keys_has_no_bias_and_comes_back(tmp_path, keys):
    table, path = design_table(NOISE).table, tmp_path / "keys.csv"
    path.write_bytes(by_keys(table, keys))
    back = read_ptable(path)
    for count in range(1, table.top + 1):
        own = back.rows[count]
        number = np.round(own.p * keys).astype(int)
        assert int(number @ own.steps) == 0, "no bias, exactly"
        assert own.variance == pytest.approx(3, abs=40 / keys)
        assert not set(own.steps + count) & {1, 2}
    # the step of a key is what a merge of the file by (pcv, ckey) finds
    frame = pd.read_csv(path).set_index(["pcv", "ckey"])["pvalue"]
    chance = np.random.default_rng(2)
    counts, places = chance.integers(1, 751, 500), chance.integers(0, keys, 500)
    merged = [frame[pair] for pair in zip(counts.tolist(), places.tolist(), strict=True)]
    assert back.noise(counts, places.astype(np.uint64), keys).tolist() == merged


def test_whole_keys_are_the_nearest_without_bias():
    """Against all ways to share 6 keys among three steps."""
    row = NoiseRow.likely([-1, 0, 2], [0.5, 0.25, 0.25])
    best: dict[tuple[int, ...], float] = collections.defaultdict(float)
    for a in range(7):
        for b in range(7 - a):
            number = (a, b, 6 - a - b)
            if -a + 2 * number[2] == 0:
                best[number] = sum((n - 6 * p) ** 2 for n, p in zip(number, row.p, strict=True))
    assert tuple(many for _, many in in_keys(row, 6)) == min(best, key=best.__getitem__)
    with pytest.raises(InvalidInput, match="2 keys are fewer than the 3 intervals"):
        in_keys(row, 2)


# --- what is refused ----------------------------------------------------------------------------------------

REFUSED = {
    "no keys": ({}, {}, "where do the keys of the records come from"),
    "two sorts of keys": ({}, {"record": "ID", "record_key": "KEY", "secret": SECRET}, "where do the keys"),
    "no secret": ({}, {"record": "ID"}, "names of records become keys by a secret only"),
    "a secret that is none": ({}, {"record": "ID", "secret": "5e5e"}, "the secret is none"),
    "a secret anybody tries": ({}, {"record": "ID", "secret": "00" * 32}, "the secret is none"),
    "a name twice": ({"ID": "p0"}, {"record": "ID", "secret": SECRET}, "row 3: column ID: an earlier record"),
    "no name": ({"ID": ""}, {"record": "ID", "secret": SECRET}, "row 3: column ID: the record has no name"),
    "a key of 1": ({"KEY": 1.0}, {"record_key": "KEY"}, "row 3: column KEY: .*whole numbers need"),
    "a key missing": ({"KEY": None}, {"record_key": "KEY"}, "row 3: column KEY: a key is missing"),
    "a key below 0": ({"KEY": -0.5}, {"record_key": "KEY"}, "row 3: column KEY: a key is missing, or no"),
    "a whole key too large": (
        {"WHOLE": 256},
        {"record_key": "WHOLE", "keys_below": 256},
        "row 3: column WHOLE: the key is missing, or no whole number from 0 to below 256",
    ),
    "no modulus": ({"WHOLE": 2}, {"record_key": "WHOLE"}, "column WHOLE: whole numbers need their modulus"),
    "a weight below 0": (
        {"W": -1.0},
        {"record": "ID", "secret": SECRET, "weight": "W"},
        "row 3: column W: a weight is a number, 0 or more",
    ),
    "a column twice": ({}, {"record": "ID", "secret": SECRET, "weight": "AGE"}, "AGE is named for two"),
    "names of cells": ({}, {"record": "ID", "secret": SECRET, "count": "WHOLE"}, "a record with a count"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_wrong_is_refused_without_a_key_or_a_weight(case):
    change, options, told = REFUSED[case]
    of = people(6).assign(W=1.25)
    for column, value in change.items():
        of[column] = of[column].astype(object)
        of.loc[3, column] = value
    with pytest.raises(InvalidInput, match=f"{told}.*Remedy") as refused:
        sdc.perturb(of, DIMS, NOISE, **options)
    kept = [text for text in map(str, [*of["KEY"], SECRET]) if len(text) > 3]
    assert not [text for text in kept if text in str(refused.value)]
    assert refused.value.__cause__ is None


def test_a_ptable_that_is_none_is_refused():
    with pytest.raises(InvalidInput, match="ptable is no perturbation table"):
        sdc.perturb(people(), DIMS, 5, secret=SECRET, record="ID")  # type: ignore[arg-type]


def test_a_picture_shows_the_table_and_is_the_same_every_time():
    found = sdc.perturb(people(), DIMS, NOISE, secret=SECRET, record="ID")
    assert found.plot().draw("svg") == found.plot().draw("svg")
    assert b"probability of each step" in found.plot().draw("svg")
