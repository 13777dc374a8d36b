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

TABLE = pd.DataFrame({"R": ["a", "a", "b", "b"], "C": ["x", "y", "x", "y"], "VALUE": [20, 50, 40, 30], "SECRET": [1, 0, 0, 0], "LEVEL": 5})
API = (sdc.primary, sdc.suppress, sdc.audit, sdc.adjust, sdc.round_table, sdc.round_counts, sdc.release)
FUNCTIONS = {
    each.__name__: each for each in (sdc.primary, sdc.suppress, sdc.audit, sdc.adjust, sdc.round_table, sdc.round_counts, sdc.release)
}
NEEDED = {"round_table": {"base": 5}, "primary": {"rules": sdc.Rules(p=10)}}
NONE = {"seconds": (float("nan"), -1, float("inf"), "ten", True), "gap": (float("nan"), -0.1, 1, "x"), "seed": (1.5, "x", float("nan"))}
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
    with pytest.raises(InvalidInput, match=r"dims is one text. Remedy: give a list of columns, such as \['R'\]"):
        sdc.suppress(TABLE, "R")


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
