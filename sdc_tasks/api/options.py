"""The keywords that functions of the API share: which of them each function takes, and their types.

What a keyword of a table means, and its default, stands in `TableLayout`, once. `keywords` shows all of them
in the signature of a function and in its documentation.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from inspect import Parameter, Signature, cleandoc, signature
from pathlib import Path
from typing import Literal, ParamSpec, TypedDict, TypeVar

from sdc_tasks.intake.tables.microdata import ContributorColumns
from sdc_tasks.methods.cta.names import Method
from sdc_tasks.methods.rounding.names import Quality
from sdc_tasks.methods.suppression.names import PatternMethod
from sdc_tasks.model.layout import DEFAULTS, MEANINGS, Missing
from sdc_tasks.solver.names import SolverName

# Each code's parent, None for the top; or a file of codes, .csv or .hrc.
Parents = Mapping[str, str | None] | str | Path
# By dimension; several where codes add up in several ways.
Hierarchies = Mapping[str, Parents | Sequence[Parents]]
Totals = str | Mapping[str, str] | None  # the code of totals, of every dimension or by dimension
Weighting = Literal["one", "inverse", "sqrt"]

Given = ParamSpec("Given")
Made = TypeVar("Made")
WIDTH = 100  # of the documentation


class DimensionKeywords(TypedDict, total=False):
    """What its codes add up to, of any table."""

    total: Totals
    hierarchy: Hierarchies | None
    tolerance: float


class LevelKeywords(DimensionKeywords, total=False):
    """Of a table with a row for each cell: what is confidential of it, and by how much."""

    level: str | None
    lpl: str | None
    upl: str | None
    spl: str | None
    lb: str | None
    ub: str | None
    missing: Missing


class PatternKeywords(LevelKeywords, total=False):
    """Of a table of which cells are hidden, or will be: also who is alone in a cell."""

    singleton: str | None
    respondent: str | None


class AdjustKeywords(LevelKeywords, total=False):
    status: str | None
    primary: str | None
    method: Method
    solver: SolverName
    seconds: float
    gap: float
    seed: int


class RoundKeywords(PatternKeywords, total=False):
    status: str | None
    primary: str | None
    attainable: bool
    zero_restricted: bool
    reach: int
    weights: Weighting
    solver: SolverName
    seconds: float
    gap: float
    seed: int | None


class AuditKeywords(PatternKeywords, total=False):
    status: str


class SuppressKeywords(PatternKeywords, total=False):
    status: str | None
    primary: str | None
    count: str | None
    min_contributors: int
    contributors: ContributorColumns
    top: Sequence[str]
    cost: str
    margins: float
    method: PatternMethod
    seconds: float | None
    gap: float
    seed: int
    prove: bool
    attainable: bool


class CountKeywords(TypedDict, total=False):
    base: int
    max_order: int | None
    crossings: Sequence[Sequence[str]] | None
    formula: str | None
    hierarchy: Hierarchies | None
    quality: Quality
    max_round: int | None
    zero_candidates: bool
    protect_zeros: bool
    leverage: bool
    rule_aware: bool
    drawn: float
    seed: int | None


class KeyedKeywords(TypedDict, total=False):
    """Of records with keys, and of what is published of them."""

    record: str | None
    record_key: str | None
    keys_below: int | None
    unknown: str
    max_order: int | None
    crossings: Sequence[Sequence[str]] | None
    formula: str | None
    hierarchy: Hierarchies | None


class PerturbKeywords(KeyedKeywords, total=False):
    count: str | None
    weight: str | None


def keywords(options: type, **defaults: object) -> Callable[[Callable[Given, Made]], Callable[Given, Made]]:
    """Decorates a function that ends in `**options: Unpack[options]`, a TypedDict of this module: each of its
    keys is a keyword in the signature, with a default of `defaults`, else that of `TableLayout`. The
    documentation ends with what the keywords of `TableLayout` mean.
    """
    taken = {name: getattr(kind, "__forward_arg__", kind) for name, kind in options.__annotations__.items()}
    new = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=({**DEFAULTS, **defaults})[name], annotation=kind)
        for name, kind in taken.items()
    ]

    def described(step: Callable[Given, Made]) -> Callable[Given, Made]:
        plain = signature(step)
        own = [each for each in plain.parameters.values() if each.kind is not Parameter.VAR_KEYWORD]
        step.__signature__ = plain.replace(parameters=[*own, *new])  # type: ignore[attr-defined]
        names = [name for name in MEANINGS if name in taken and name != "cost"]  # a measure or a column
        step.__doc__ = f"{cleandoc(step.__doc__ or '')}\n\n{_meanings(names)}\n"
        return step

    return described


def _meanings(names: Sequence[str]) -> str:
    """A line for each keyword, indented: what it means."""
    width = max(map(len, names)) + 2
    fill = partial(textwrap.fill, width=WIDTH, subsequent_indent=" " * (width + 4))
    lines = [fill(f"    {name:<{width}}{MEANINGS[name]}") for name in names]
    return "\n".join(["Where is what in the table; each is an option of `sdc suppress` too:", "", *lines])


def refuse_unknown(known: Signature, name: str, given: Mapping[str, object]) -> None:
    """Raises TypeError for a keyword that a function does not have, with the nearest one that it has."""
    for wrong in given:
        if wrong not in known.parameters:
            near = get_close_matches(wrong, known.parameters, 1)
            meant = f"; did you mean '{near[0]}'?" if near else ""
            raise TypeError(f"{name}() got an unexpected keyword argument '{wrong}'{meant}")
