"""Options that several commands take, in groups: each field of a group is an option of its own.

A command has a parameter for each group, a frozen dataclass; `as_command` gives Typer its fields. The options
of a table are those fields of `TableLayout` that a command lists (`takes`), with their meanings and
defaults.
"""

from __future__ import annotations

import csv
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass, replace
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.layout import DEFAULTS, MEANINGS, Missing
from sdc_tasks.tested import require_tested

if TYPE_CHECKING:
    from sdc_tasks.model.layout import TableLayout

PANELS = INPUT, RULES, METHOD, OUTPUT = "Input", "Rules", "Method", "Output"  # of --help, in their order

# How an option of the command line says what the field holds, where it is not the name of a column.
KINDS: Mapping[str, Any] = {
    "value": str,
    "total": list[str] | None,
    "hierarchy": list[str] | None,
    "missing": Missing,
    "tolerance": float,
    "min_contributors": int,
}
SAID: Mapping[str, str] = {
    "dims": "the columns of codes, one for each dimension, such as REGION,ACTIVITY",
    "total": "the code of totals, as CODE or DIMENSION=CODE, none for none; else TOTAL, _T or Total; repeat",
    "hierarchy": "DIMENSION=FILE: a CSV file code,parent, or a τ-ARGUS .hrc; repeat, also for a second tree",
}


@dataclass(frozen=True)
class Takes:
    """Which fields of `TableLayout` a command takes, those without which it does not work, and the defaults
    and meanings that are its own.
    """

    names: tuple[str, ...]
    needed: tuple[str, ...]
    own: Mapping[str, object]
    meanings: Mapping[str, str]

    def parameters(self) -> list[inspect.Parameter]:
        return [self._parameter(name) for name in self.names]

    def _parameter(self, name: str) -> inspect.Parameter:
        option = typer.Option(
            f"--{name.replace('_', '-')}",
            help=self.meanings.get(name) or SAID.get(name, MEANINGS[name]),
            rich_help_panel=INPUT,
            min=0 if name in ("tolerance", "min_contributors") else None,
        )
        needed = name in self.needed
        kind = str if needed else KINDS.get(name, str | None)
        default = inspect.Parameter.empty if needed else {"dims": None, **DEFAULTS, **self.own}[name]
        return inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, option]
        )


@dataclass(frozen=True)
class AskedLayout:
    """What the options of a command say of its table. `own`: the dimensions of which they say something of
    this one of several tables, which must have them.
    """

    takes: Takes
    given: Mapping[str, Any]
    own: frozenset[str] = frozenset()

    def of(self, file: Path) -> TableLayout:
        """Where is what in a file. Raises InvalidInput where the dimensions are not named, or an option is
        none.
        """
        from sdc_tasks.model.layout import TableLayout

        read: dict[str, Any] = dict(self.given)
        dims = dimensions_of(file, read.pop("dims"))
        totals = codes_of_totals(read.pop("total", None))
        trees = parents_by_dimension(read.pop("hierarchy", None))
        return TableLayout(dims, total=totals, hierarchy=trees, **read)

    def each(self, files: Mapping[str, Path]) -> dict[str, AskedLayout]:
        """What they say of each of several tables, by name: TABLE:DIMENSION=FILE is a hierarchy of that table
        alone, in the place of the one of all. Raises InvalidInput where there is no such table, or an option
        stands there twice.
        """
        common: list[str] = []
        own: dict[str, dict[str, list[str]]] = {name: {} for name in files}
        for given in self.given.get("hierarchy") or []:
            name, _, place = given.partition("=")
            table, colon, dimension = name.partition(":")
            if not colon or name in names_in(self.given["dims"] or ""):
                common.append(given)
            elif table not in own or place in own[table].get(dimension, ()):
                raise InvalidInput(
                    f"--hierarchy {given}: TABLE:DIMENSION=FILE is expected once, of one of the tables "
                    f"{', '.join(own)}. Remedy: give it so"
                )
            else:
                own[table].setdefault(dimension, []).append(place)
        return {name: self._with(common, mine) for name, mine in own.items()}

    def _with(self, common: list[str], own: Mapping[str, list[str]]) -> AskedLayout:
        usual = [each for each in common if each.partition("=")[0] not in own]
        told = [*usual, *(f"{dimension}={place}" for dimension, places in own.items() for place in places)]
        return replace(self, given={**self.given, "hierarchy": told or None}, own=frozenset(own))

    def refuse_for_jj(self, file: Path) -> None:
        """Raises InvalidInput if an option is given of a table that has columns."""
        usual = {"dims": None, **DEFAULTS, **self.takes.own}
        if named := [
            f"--{name.replace('_', '-')}" for name, told in self.given.items() if told != usual[name]
        ]:
            raise InvalidInput(
                f"{file}: a JJ file brings its own relations and columns. Remedy: leave out "
                f"{', '.join(named)}"
            )


def takes(
    *names: str, needed: tuple[str, ...] = (), meanings: Mapping[str, str] | None = None, **own: object
) -> Takes:
    """The metadata of a parameter that is an `AskedLayout`."""
    return Takes(names, needed, own, meanings or {})


def as_command(function: Callable[..., None], extra: str = "") -> Callable[..., None]:
    """What Typer makes a command of: the function with the options of each of its groups in place of the
    group, in the order of the panels, for --help shows them as they come. It needs the packages of an
    `extra`, its help does not.
    """
    groups: dict[str, tuple[Callable[[dict[str, Any]], object], list[inspect.Parameter]]] = {}
    options: list[inspect.Parameter] = []
    for name, each in inspect.signature(function, eval_str=True).parameters.items():
        if group := _group(each.annotation):
            groups[name] = group
            options += group[1]
        else:
            options.append(each)

    @wraps(function)
    def call(**given: Any) -> None:
        if extra:
            require_tested(extra)
        made = {
            name: make({each.name: given.pop(each.name) for each in own})
            for name, (make, own) in groups.items()
        }
        function(**given, **made)

    shown = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in sorted(options, key=_panel)]
    call.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    return call


def _panel(parameter: inspect.Parameter) -> int:
    """The place of its panel in --help; what stands in none comes first."""
    told = (getattr(each, "rich_help_panel", None) for each in get_args(parameter.annotation)[1:])
    return max((PANELS.index(panel) for panel in told if panel in PANELS), default=-1)


def _group(
    annotation: Any,
) -> tuple[Callable[[dict[str, Any]], object], list[inspect.Parameter]] | None:
    """How a group is made of its options, and these; None for an option that is no group."""
    for each in get_args(annotation)[1:]:
        if isinstance(each, Takes):
            return partial(AskedLayout, each), each.parameters()
    if isinstance(annotation, type) and is_dataclass(annotation):
        own = inspect.signature(annotation, eval_str=True).parameters
        return lambda given: annotation(**given), list(own.values())
    return None


def dimensions_of(file: Path, dims: str | None) -> tuple[str, ...]:
    """The dimensions in an option --dims."""
    names = names_in(dims or "")
    if not all(names):
        raise InvalidInput(
            f"{file}: which columns are dimensions? Remedy: name them, as --dims REGION,ACTIVITY"
        )
    return names


def names_in(text: str) -> tuple[str, ...]:
    """Names of columns, between commas; as in CSV, one that has a comma is quoted."""
    return tuple(name.strip() for name in next(csv.reader([text], skipinitialspace=True)) or ("",))


def codes_of_totals(totals: list[str] | None) -> dict[str, str]:
    """The code of the total by dimension, under "" for every other, in options --total."""
    given = totals or []
    named = {
        dimension: code for *of, code in (each.split("=", 1) for each in given) for dimension in of or [""]
    }
    if len(named) < len(given) or "" in named.values():
        raise InvalidInput(
            "--total: CODE once, and DIMENSION=CODE once for each dimension, are expected. Remedy: give it so"
        )
    return named


def parents_by_dimension(hierarchy: list[str] | None) -> dict[str, tuple[Path, ...]]:
    """The files of codes of each dimension, in options --hierarchy."""
    parents: dict[str, tuple[Path, ...]] = {}
    for each in hierarchy or []:
        name, _, place = each.partition("=")
        if not place or Path(place) in parents.get(name, ()):
            raise InvalidInput(
                f"--hierarchy {each}: DIMENSION=FILE is expected, each file once. Remedy: give it so"
            )
        parents[name] = (*parents.get(name, ()), Path(place))
    return parents
