"""What every function of the API does around its work: it refuses options that are none, keeps values out of
its exceptions, and has its linear algebra on one thread.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from inspect import Parameter, Signature, signature, unwrap
from typing import Literal, ParamSpec, TypeVar, get_args, get_origin

import numpy as np

from sdc_tasks.api import options as shared
from sdc_tasks.api.options import refuse_unknown
from sdc_tasks.confidential import keeps_to_itself
from sdc_tasks.errors import InvalidInput, SdcError
from sdc_tasks.intake.tables.microdata import ContributorColumns
from sdc_tasks.methods.contributions import ContributionRules
from sdc_tasks.one_thread import one_thread

Given = ParamSpec("Given")
Made = TypeVar("Made")
MOST = 1e15  # of a number: whole numbers beyond it are not exact


def _is_number(told: object, fits: Callable[[float], bool]) -> bool:
    return (
        isinstance(told, int | float | np.integer | np.floating)
        and bool(-MOST <= told <= MOST)
        and fits(float(told))
    )


def _is_whole(told: object, least: int, most: float = MOST) -> bool:
    return isinstance(told, int | np.integer) and least <= int(told) <= most


def _above_zero(told: object) -> bool:
    return _is_number(told, lambda number: number > 0)


# Option → what it must be, and whether it is. An option whose default is None may be None.
NUMBERS: Mapping[str, tuple[str, Callable[[object], bool]]] = {
    "seconds": ("a number, at least 0", lambda told: _is_number(told, lambda number: number >= 0)),
    "gap": (
        "a number from 0 to below 1, such as 0.01",
        lambda told: _is_number(told, lambda number: 0 <= number < 1),
    ),
    "margins": ("a number above 0", _above_zero),
    "base": ("a number above 0, such as 5", _above_zero),
    "tolerance": (
        "a number, at least 0, such as 0.5",
        lambda told: _is_number(told, lambda number: number >= 0),
    ),
    "min_contributors": ("a whole number, at least 0", lambda told: _is_whole(told, 0)),
    "reach": ("a whole number, at least 1", lambda told: _is_whole(told, 1)),
    "keys_below": ("a whole number, at least 2", lambda told: _is_whole(told, 2)),
    "max_order": ("a whole number, at least 1", lambda told: _is_whole(told, 1)),
    "max_round": ("a whole number, at least 1", lambda told: _is_whole(told, 1)),
    "seed": ("a whole number, at least 0", lambda told: _is_whole(told, 0, math.inf)),
}


def _is_texts(told: object) -> bool:
    return (
        isinstance(told, Sequence | np.ndarray)
        and not isinstance(told, str)
        and all(isinstance(each, str) for each in told)
    )


# Annotation → what such an option must be, and whether it is.
KINDS: Mapping[str, tuple[str, Callable[[object], bool]]] = {
    "str": ("a text", lambda told: isinstance(told, str)),
    "Literal['one', 'inverse', 'sqrt'] | str": (
        "one, inverse, sqrt, or the name of a column",
        lambda told: isinstance(told, str),
    ),
    "Sequence[str]": ("a list of columns, such as ['REGION', 'BRANCH']", _is_texts),
    "Sequence[Sequence[str]]": (
        "a list of lists of columns",
        lambda told: isinstance(told, Sequence) and not isinstance(told, str) and all(map(_is_texts, told)),
    ),
    "Totals": (
        "the code of totals, or a mapping from dimension to code",
        lambda told: isinstance(told, str | Mapping),
    ),
    "Hierarchies": (
        "a mapping from dimension to what its codes add up to",
        lambda told: isinstance(told, Mapping),
    ),
    "ContributionRules": ("rules, such as sdc.Rules(p=10)", lambda told: isinstance(told, ContributionRules)),
    "ContributorColumns": (
        "columns, such as sdc.Contributors(holding='GROUP')",
        lambda told: isinstance(told, ContributorColumns),
    ),
    "int": ("a whole number", lambda told: _is_whole(told, 0, math.inf)),
}


def checks_options(step: Callable[Given, Made]) -> Callable[Given, Made]:
    """Decorates a function of the API; all its keywords get their values, defaults too. A keyword that it
    does not have raises TypeError with the nearest one. An option that is none of its choices, no number of
    its kind, or no yes or no, raises InvalidInput that names it. Its exceptions hold no local variables;
    those that tell a user what to do hold nothing that they came from, where a reader of numbers repeats
    the text that it could not read.
    """
    options, names = signature(step), {**vars(shared), **unwrap(step).__globals__}

    @wraps(step)
    def checked(*arguments: Given.args, **named: Given.kwargs) -> Made:
        try:
            refuse_unknown(options, step.__name__, named)
            bound = options.bind(*arguments, **named)
            _refuse_unfit(options, names, bound.arguments)
            one_thread()
            bound.apply_defaults()
            return keeps_to_itself(step)(*bound.args, **bound.kwargs)
        except SdcError as error:
            error.__cause__ = error.__context__ = None
            raise

    return checked


def _refuse_unfit(options: Signature, names: Mapping[str, object], given: Mapping[str, object]) -> None:
    for name, told in given.items():
        option = options.parameters[name]
        if told is not None or option.default is not None:
            _refuse_one(option, told)
            _refuse_other(name, told, _choices(option, names))


def _refuse_one(option: Parameter, told: object) -> None:
    name = option.name
    if name == "dims" and isinstance(told, str):
        raise InvalidInput(f"dims is one text. Remedy: give a list of columns, such as [{told!r}]")
    if isinstance(option.default, bool) and not isinstance(told, bool | np.bool_):
        raise InvalidInput(f"{name} is no yes or no. Remedy: give True or False")
    if name in NUMBERS:
        what, fits = NUMBERS[name]
        if isinstance(told, bool) or not fits(told):
            raise InvalidInput(f"{name} is no such number. Remedy: give {what}")
    what, fits = KINDS.get(str(option.annotation).removesuffix(" | None"), ("anything", lambda _: True))
    if not fits(told):
        raise InvalidInput(f"{name} is not of its kind. Remedy: give {what}")


def _refuse_other(name: str, told: object, choices: Sequence[object]) -> None:
    """Raises InvalidInput for what is none of the choices of an option, if it has some."""
    if choices and not (isinstance(told, str) and told in choices):
        raise InvalidInput(
            f"{name} is none of its choices. Remedy: give one of {', '.join(map(str, choices))}"
        )


def _choices(option: Parameter, names: Mapping[str, object]) -> Sequence[object]:
    """The choices of an option whose annotation is the name of a Literal."""
    kind = names.get(str(option.annotation))
    return get_args(kind) if get_origin(kind) is Literal else ()
