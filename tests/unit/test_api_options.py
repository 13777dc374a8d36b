"""Options of the API that are none, and what its exceptions hold."""

from __future__ import annotations

import inspect
import traceback

import pandas as pd
import pytest

import sdc_tasks as sdc
from sdc_tasks.api.asked import NUMBERS
from sdc_tasks.errors import InvalidInput
from support.deliveries import SECRET

TABLE = pd.DataFrame(
    {
        "R": ["a", "a", "b", "b"],
        "C": ["x", "y", "x", "y"],
        "VALUE": [20, 50, 40, 30],
        "SECRET": [1, 0, 0, 0],
        "LEVEL": 5,
    }
)
API = (
    sdc.primary,
    sdc.suppress,
    sdc.audit,
    sdc.adjust,
    sdc.round_table,
    sdc.round_counts,
    sdc.perturb,
    sdc.release,
)
FUNCTIONS = {
    each.__name__: each
    for each in (
        sdc.primary,
        sdc.suppress,
        sdc.audit,
        sdc.adjust,
        sdc.round_table,
        sdc.round_counts,
        sdc.perturb,
        sdc.release,
    )
}
NEEDED = {
    "round_table": {"base": 5},
    "primary": {"rules": sdc.Rules(p=10)},
    "perturb": {"ptable": sdc.NoiseDesign(2, 0.9), "record_key": "VALUE", "keys_below": 100},
}
NONE = {
    "seconds": (float("nan"), -1, float("inf"), "ten", True),
    "gap": (float("nan"), -0.1, 1, "x"),
    "seed": (1.5, "x", float("nan"), -1),
    "base": (float("nan"), -1, "x", True, 10**30),
}
CHOICES = ("method", "solver", "distance", "missing", "quality")
OPTIONS = [
    (name, option, wrong)
    for name, function in FUNCTIONS.items()
    for option in inspect.signature(function).parameters
    if name != "release" and (option in NUMBERS or option in CHOICES)
    for wrong in (("fastest",) if option in CHOICES else NONE.get(option, (float("nan"), -1, "x", True)))
]


@pytest.mark.parametrize(("name", "option", "wrong"), OPTIONS)
def test_an_option_that_is_none_is_refused_by_name(name, option, wrong):
    with pytest.raises(InvalidInput, match=f"^{option} is no(ne of its choices| such number). Remedy: give"):
        FUNCTIONS[name](TABLE, ["R", "C"], **NEEDED.get(name, {}) | {option: wrong})


def test_every_function_has_its_options_checked():
    assert len(OPTIONS) > 60
    assert {name for name, function in FUNCTIONS.items() if not hasattr(function, "__wrapped__")} == set()


def test_a_yes_or_no_is_one_and_dims_are_several():
    with pytest.raises(InvalidInput, match="zero_restricted is no yes or no"):
        sdc.round_table(TABLE, ["R", "C"], base=5, zero_restricted="no")
    with pytest.raises(
        InvalidInput, match=r"dims is one text. Remedy: give a list of columns, such as \['R'\]"
    ):
        sdc.suppress(TABLE, "R")


OTHERS = (
    "dims",
    "record",
    "record_key",
    "weight",
    "unknown",
    "value",
    "level",
    "count",
    "cost",
    "weights",
    "hierarchy",
    "total",
    "rules",
    "contributors",
    "top",
    "crossings",
    "formula",
)


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "release"])
@pytest.mark.parametrize("wrong", [5, [1], {1}, float("nan"), 10**400])
def test_an_option_of_another_kind_is_refused_by_name(name, wrong):
    """None of them ends in an error of Python, which tells no user what to give."""
    for option in inspect.signature(FUNCTIONS[name]).parameters.keys() & set(OTHERS):
        with pytest.raises(
            InvalidInput, match=rf"^{option} is (not of its kind|none of its choices). Remedy: give"
        ):
            FUNCTIONS[name](TABLE, **{"dims": ["R", "C"], **NEEDED.get(name, {}), option: wrong})
    if name != "audit":
        with pytest.raises(InvalidInput, match=r"^dims is not of its kind"):
            FUNCTIONS[name](TABLE, None, **NEEDED.get(name, {}))
    if "hierarchy" in inspect.signature(FUNCTIONS[name]).parameters:
        with pytest.raises(InvalidInput, match="the hierarchy of R is none"):
            FUNCTIONS[name](TABLE, ["R", "C"], **NEEDED.get(name, {}), hierarchy={"R": 5})


@pytest.mark.parametrize(
    "told",
    [
        {"p": "10"},
        {"p": True},
        {"p": 10, "q": "x"},
        {"nk": (2, 85)},
        {"nk": [(2.5, 85)]},
        {"nk": "ab"},
        {"minimum": 2.5},
        {"minimum": "3"},
        {"minimum": float("inf")},
        {"minimum": 3, "range": float("inf")},
        {"p": 10, "intruders": 1.5},
        {"requests": 5},
        {"requests": ["a"]},
    ],
)
def test_a_rule_that_is_none_is_refused(told):
    with pytest.raises(InvalidInput, match="Remedy: correct the rule"):
        sdc.Rules(**told)


@pytest.mark.parametrize("column", ["STATUS", "HIGH", "LPL", "COUNT", "ROUNDED"])
def test_a_column_of_ours_is_no_dimension(column):
    """Of two columns of one name a frame keeps one: the codes of cells were replaced by their statuses."""
    table = TABLE.rename(columns={"R": column})
    functions = {
        sdc.suppress: {"primary": "SECRET"},
        sdc.adjust: {"primary": "SECRET"},
        sdc.round_table: {"base": 5},
        sdc.audit: {"status": "SECRET"},
        sdc.primary: {"rules": sdc.Rules(p=10)},
    }
    for function, options in functions.items():
        with pytest.raises(
            InvalidInput, match=f"the frame: {column} is the name of a column of ours.* Remedy: rename it"
        ):
            function(table, [column, "C"], **options)


def test_a_column_of_ours_holds_no_values():
    for value in ("STATUS", "LB", "RESPONDENT"):
        with pytest.raises(InvalidInput, match=f"{value} is the name of a column of ours"):
            sdc.suppress(
                TABLE.rename(columns={"VALUE": value}), ["R", "C"], value, primary="SECRET", level="LEVEL"
            )
    counted = TABLE.rename(columns={"VALUE": "COUNT"})
    assert len(sdc.suppress(counted, ["R", "C"], "COUNT", primary="SECRET", level="LEVEL").table) == 9
    with pytest.raises(InvalidInput, match="COUNT is the name of a column of ours"):
        sdc.primary(counted, ["R", "C"], "COUNT", rules=sdc.Rules(p=10))
    with pytest.raises(InvalidInput, match="ROUNDED is the name of a column of ours"):
        sdc.round_counts(TABLE.rename(columns={"R": "ROUNDED"}), ["ROUNDED", "C"])


def test_a_count_without_end_is_none():
    """It made the cell one of many contributors."""
    tops = pd.DataFrame(
        {
            "R": ["a", "b", "TOTAL"],
            "VALUE": [20, 30, 50],
            "COUNT": [float("inf"), 4, 8],
            "TOP1": 15,
            "TOP2": [5, 5, 15],
        }
    )
    with pytest.raises(InvalidInput, match="row 0: COUNT is not finite"):
        sdc.primary(tops, ["R"], rules=sdc.Rules(p=10), count="COUNT", top=["TOP1", "TOP2"])


@pytest.mark.parametrize("option", ["spl", "singleton", "respondent", "level", "status"])
def test_rules_and_a_column_that_says_it_too_are_refused(option):
    with pytest.raises(InvalidInput, match=f"rules decide what is primary, and {option} says it too"):
        sdc.suppress(TABLE, ["R", "C"], rules=sdc.Rules(p=10), **{option: "LEVEL"})


def test_an_exception_holds_no_value_that_could_not_be_read():
    spoilt = TABLE.astype(object)
    spoilt.loc[1, "VALUE"] = f"{SECRET}x"
    with pytest.raises(InvalidInput, match="row 1: VALUE is not a number") as caught:
        sdc.suppress(spoilt, ["R", "C"], primary="SECRET", level="LEVEL")
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)
    assert SECRET not in "".join(traceback.format_exception(caught.value))
