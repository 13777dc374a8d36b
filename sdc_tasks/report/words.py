"""The words of the report, explained for somebody who reads one for the first time."""

from __future__ import annotations

WORDS = {
    "total": "A figure of this table: a sum over countries, here also called aggregate cell.",
    "primary cell": (
        "A national figure that a country keeps confidential, because it would tell too much about one of "
        "its respondents."
    ),
    "secondary cell": (
        "A national figure that is hidden so that nobody computes a primary one from the figures beside it. "
        "It needs no protection of its own, so a total may tell it."
    ),
    "exact (=)": "Published as it is, at the precision of the deliveries.",
    "rounded (≈)": (
        "Published as a multiple of a base: a value r with base b says that the true value a is between "
        "r − b/2 and r + b/2. This page writes ± for b/2."
    ),
    "withheld (×)": "Not published, because every figure that is allowed would tell too much. Not zero.",
    "sum of the visible countries (≥)": (
        "Published in place of a withheld total: the sum of the countries whose figure is public."
    ),
    "relative base": "The base divided by the published value: the width of what a reader learns.",
    "level, required distance": (
        "How far from its true value an attacker's best guess of a primary cell must stay, below and above. "
        "It follows from the flag of the cell and the rule of the domain file."
    ),
    "requirement": "Each primary cell has three: its level below, its level above, and the width of both.",
    "attacker profile": "What somebody is assumed to know, such as external: all that is public.",
    "witness": (
        "A table that no attacker can tell from the truth, in which primary cells are as far from their true "
        "values as their levels ask. Also called counter-table."
    ),
    "linear program (LP)": (
        "The exact computation of the smallest or largest value that an attacker can conclude for a cell."
    ),
    "adjusted table (CTA)": (
        "The table x closest to the true one, a, in which every primary cell is at its level and all totals "
        "still add up. It is not published; bases may start from it."
    ),
    "relaxed, short of level": (
        "An adjusted table in which so many primary cells do not reach their level. The choice of bases, "
        "which is judged by the attack itself, mends that."
    ),
    "loss": (
        "What bases are chosen by: the sum over rounded cells of weight · base/2 and a small charge; a "
        "withheld cell costs as much as twice the coarsest base allowed."
    ),
    "bound, gap": "No safe choice loses less than the bound; the gap is the distance to it.",
    "mean distance": "The mean of |r − a|, in the paper of the method x̄ published, over what is published.",
    "composition": "A set of countries that are added up, such as EU27_2020.",
    "step bases with a number": "The step for one group of indicators that no relation links, by its number.",
}
