"""Perturbation tables that others published, designed again: R ptable 1.0.0 (Enderle; CRAN, 2023-03-01), the
matrices that its vignette «Introduction to the ptable-Package» prints, 7 or 8 digits of each probability.

Their search ends at a relative tolerance of 1e-7; ours proves itself. So a row is theirs to 1e-6, and its
entropy is never below theirs by more than the digits that they print.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from sdc_tasks.methods.perturb.design import NoiseDesign, design_table

PRINTED = 1e-7  # what the last digit leaves open

#   count: published as → probability
D2_V1 = """
    1:  0 0.36648551  1 0.3664855   2 0.1675725   3 0.09945652
    2:  0 0.06382714  1 0.2446915   2 0.3829628   3 0.24469145  4 0.06382714
"""
D2_V09 = """
    1:  0 0.3625      1 0.3625      2 0.1875      3 0.0875
    2:  0 0.05154609  1 0.2438156   2 0.4092765   3 0.2438156   4 0.05154609
"""
D5_V3_JS2 = """
    1:  0 0.73446954  3 0.136720190 4 0.07279631  5 0.03742956  6 0.018584399
    2:  0 0.40880704  3 0.406643537 4 0.14762401  5 0.03231882  6 0.004266868 7 0.0003397188
    3:  0 0.20398618  3 0.393662525 4 0.24749239  5 0.11056847  6 0.035102043 7 0.0079189055 8 0.001269491
    4:  0 0.08485487  3 0.277921233 4 0.27792123  5 0.18939369  6 0.105125448 7 0.0454553570 8 0.015310774
        9 0.004017391
    5:  0 0.02014749  3 0.173347467 4 0.22063302  5 0.22131828  6 0.174967643 7 0.1090164652 8 0.053532830
        9 0.020717693 10 0.006319113
    6:  3 0.072029825 4 0.13671708  5 0.19735138  6 0.216652933 7 0.1808822561 8 0.114850887 9 0.055459983
        10 0.020367237 11 0.005688418
    7:  3 0.018439196 4 0.05548389  5 0.12162104  6 0.194208159 7 0.2259140226 8 0.191441399 9 0.118180404
        10 0.053146176 11 0.017410672 12 0.004155049
    8:  3 0.003791861 4 0.01659093  5 0.05229263  6 0.118730368 7 0.1941934608 8 0.228801496 9 0.194193460
        10 0.118730371 11 0.052292634 12 0.016590928 13 0.00379186
"""
PUBLISHED = {
    "D 2, V 1": (NoiseDesign(2, 1.0, at_most=True, monotone=True), D2_V1),
    "D 2, V 0.9": (NoiseDesign(2, 0.9, at_most=True, monotone=True), D2_V09),
    "D 5, V 3, js 2": (NoiseDesign(5, 3.0, 2, at_most=True, monotone=True), D5_V3_JS2),
}


def drawn(text: str) -> dict[int, dict[int, float]]:
    """Count → published as → probability."""
    rows: dict[int, dict[int, float]] = {}
    count = 0
    for line in text.split("\n"):
        head, colon, rest = line.rpartition(":")
        count = int(head) if colon else count
        numbers = rest.split()
        for j, p in zip(numbers[::2], numbers[1::2], strict=True):
            rows.setdefault(count, {})[int(j)] = float(p)
    return rows


def entropy(p: object) -> float:
    return -math.fsum(float(each) * math.log(each) for each in p)  # type: ignore[attr-defined]


@pytest.mark.parametrize("example", PUBLISHED)
def test_a_published_table_comes_out_of_its_rules(example):
    design, text = PUBLISHED[example]
    made = design_table(design).table
    theirs = drawn(text)
    assert list(theirs) == list(range(1, made.top + 1))
    for count, row in theirs.items():
        ours = made.rows[count]
        assert (ours.steps + count).tolist() == list(row), count
        np.testing.assert_allclose(ours.p, list(row.values()), atol=1e-6, rtol=0)
        assert entropy(ours.p) >= entropy(row.values()) - len(row) * PRINTED * 10


def test_the_example_without_monotony_is_fixed_by_its_moments():
    """D 2, V 1.08, js 1, no monotony for count 1: the vignette says 0.5133, 0.46 and 0.0267. Three steps,
    three equations, so nothing is left to choose.
    """
    row = design_table(NoiseDesign(2, 1.08, 1)).table.rows[1]
    assert (row.steps + 1).tolist() == [0, 2, 3]
    np.testing.assert_allclose(row.p, [0.5133, 0.46, 0.0267], atol=5e-5)


def test_a_probability_of_staying_is_kept():
    """D 4, V 1, pstay 0.5: the vignette prints a diagonal of 0.5 and variances of 1."""
    made = design_table(NoiseDesign(4, 1.0, monotone=True, at_most=True, stay=0.5)).table
    for count, row in enumerate(made.rows[1:], start=1):
        assert row.p[row.steps == 0] == pytest.approx([0.5], abs=1e-9), count
        assert row.variance == pytest.approx(1, abs=1e-9)
