"""Tables that come out together are decided together: one table that has each of their cells once (METHOD
§10).

The relations of several tables are sums over cells. So the union of tables is a table with a single code
list: its codes are the cells of one country, in all tables, and each relation of a table is a sum over these
codes. Two tables that name the same cell share the code. Every method that takes a table takes the union.

What is safe for the union is safe for the tables in any order. Who has only some of them knows less; and who
has all of them has the relations and the publication of the union.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from sdc_tasks.errors import InvalidInput, NotTogether
from sdc_tasks.methods.linked.merge import refuse_unmatched
from sdc_tasks.methods.linked.relations import partners
from sdc_tasks.model.keys import printed_key
from sdc_tasks.model.problem import CELL_ARRAYS, ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import Bools, CellSpace, Floats, Hierarchy, Ints

UNION = "TABLES"  # the indicator of a union, and the name of its code list
LARGEST = ("public", "primary", "integral", "least", "withheld", "lpl", "upl", "spl", "lb")


@dataclass(frozen=True)
class TableUnion:
    """The union of several tables of one period. `places`: for each table (national_size,), its cells among
    the codes of the union.
    """

    problem: ProtectionProblem
    places: tuple[Ints, ...] = field(repr=False)

    def largest(self, told: Sequence[np.ndarray]) -> np.ndarray:
        """(aggregate cells,): the largest of what the tables say of each aggregate of the union. `told`
        (aggregate cells,) of each table.
        """
        count = len(self.problem.space.aggregates)
        found = np.zeros((count, self.problem.space.national_size), dtype=told[0].dtype)
        for places, values in zip(self.places, told, strict=True):
            found[:, places] = np.maximum(found[:, places], values.reshape(count, -1))
        return np.asarray(found.ravel())

    @property
    def shown_in(self) -> Bools:
        """(tables, aggregate cells): whether each table has the aggregate cell of the union."""
        space = self.problem.space
        found = np.zeros((len(self.places), len(space.aggregates), space.national_size), dtype=bool)
        for number, places in enumerate(self.places):
            found[number][:, places] = True
        return found.reshape(len(self.places), -1)

    def cells_of(self, cell: int) -> list[tuple[int, int]]:
        """(table, cell in it) of a national cell of the union, for each table that has it."""
        country, code = divmod(cell, self.problem.space.national_size)
        return [
            (number, country * len(places) + int(at))
            for number, places in enumerate(self.places)
            for at in np.flatnonzero(places == code)
        ]

    def parts(self, publication: Publication) -> tuple[Publication, ...]:
        """What is decided for the union, table by table."""
        count, n = len(self.problem.space.aggregates), self.problem.space.national_size
        countries = len(self.problem.space.countries)
        found = []
        for places in self.places:
            at = (n * np.arange(count)[:, None] + places[None, :]).ravel()
            cells = countries * len(places) + np.arange(len(at))
            found.append(
                Publication(cells, publication.value[at], publication.base[at], publication.covers[at])
            )
        return tuple(found)


def union(
    problems: Sequence[ProtectionProblem], names: Sequence[str], allowed: Callable[[Floats], Floats]
) -> TableUnion:
    """The union of the own tables of these problems. `names`: of the tables, for messages. `allowed`: how far
    a value may be off, as the domain allows for totals.

    Raises NotTogether where the tables are not of the same countries and compositions, and where their sums
    contradict each other; InvalidInput where two have other values for one cell, or name cells that are the
    same by other names.
    """
    tables = [each.own for each in problems]
    first = tables[0].space
    _refuse_unlike(tables, names)
    places, keys = _places([each.space for each in tables], names)
    space = CellSpace(
        first.countries, first.aggregates, (UNION,), (_codes([each.space for each in tables], places, keys),)
    )
    arrays: dict[str, Any] = {name: _merged(name, tables, places, len(keys)) for name in CELL_ARRAYS}
    _refuse_two_values(arrays["a"].reshape(len(space.areas), -1), tables, places, names, allowed)
    arrays["primary"] &= ~arrays["public"]
    arrays["lb"], arrays["ub"] = np.minimum(arrays["lb"], arrays["a"]), np.maximum(arrays["ub"], arrays["a"])
    arrays["integral"] &= arrays["a"] == np.rint(arrays["a"])
    known = arrays["known"]
    arrays["known"] = np.where(np.isnan(known), known, np.minimum(known, arrays["a"]))
    of_tables = zip(tables, names, strict=True)
    deliveries = tuple(f"{name}: {each}" for table, name in of_tables for each in table.deliveries)
    salt = tables[0].salt.derive("together")
    return TableUnion(ProtectionProblem(space, **arrays, deliveries=deliveries, salt=salt), places)


def _refuse_unlike(tables: Sequence[ProtectionProblem], names: Sequence[str]) -> None:
    """Raises InvalidInput where tables name the same cells by other names, NotTogether where they are not of
    the same countries and compositions.
    """
    first = tables[0].space
    for number, (each, name) in enumerate(zip(tables, names, strict=True)):
        for other in tables[:number]:
            refuse_unmatched(other.space, name, each.space)
    for each, name in zip(tables[1:], names[1:], strict=True):
        if (each.space.countries, each.space.aggregates) != (first.countries, first.aggregates):
            raise NotTogether(
                f"{name} has other countries or compositions than {names[0]}, so that they cannot be decided "
                "together. Remedy: release them one after the other"
            )


def _refuse_two_values(
    a: Floats,
    tables: Sequence[ProtectionProblem],
    places: Sequence[Ints],
    names: Sequence[str],
    allowed: Callable[[Floats], Floats],
) -> None:
    """Raises InvalidInput where a table has other values than the union. `a` (areas, codes): its values."""
    for each, mine, name in zip(tables, places, names, strict=True):
        apart = np.flatnonzero(np.abs(a[:, mine].ravel() - each.a) > allowed(np.abs(each.a)))
        if len(apart):
            raise InvalidInput(
                f"{each.space.key(int(apart[0]))} of {name} has another value in another of the tables "
                f"{', '.join(names)}. "
                "Remedy: have the office correct one of the two; or, where they are not the same, say in the "
                "domain file that the tables are unrelated, and why"
            )


def merged(spaces: Sequence[CellSpace], names: Sequence[str]) -> tuple[tuple[Ints, ...], sp.csr_array]:
    """For each table (national_size,), its cells among those of the union of one country; and the relations
    of the union over these. Of a single table they are its own. Raises InvalidInput as `union`.
    """
    if len(spaces) == 1:
        return (np.arange(spaces[0].national_size),), spaces[0].national_relations
    places, keys = _places(spaces, names)
    codes = _codes(spaces, places, keys)
    return places, CellSpace((), (), (UNION,), (codes,)).national_relations


def _places(spaces: Sequence[CellSpace], names: Sequence[str]) -> tuple[tuple[Ints, ...], list[str]]:
    """For each table, the number of each cell of one country in the union; and the names of these numbers."""
    found, keys = list[Ints](), list[str]()
    for number, (space, name) in enumerate(zip(spaces, names, strict=True)):
        mine = np.full(space.national_size, -1)
        for other, theirs in zip(spaces[:number], found, strict=True):
            there = partners(space, other)[: space.national_size]
            mine = np.where((mine < 0) & (there >= 0), theirs[np.maximum(there, 0)], mine)
        new = np.flatnonzero(mine < 0)
        mine[new] = len(keys) + np.arange(len(new))
        keys += [f"{name}: {printed_key(space.national_keys[cell])}" for cell in new.tolist()]
        found.append(mine)
    return tuple(found), keys


def _codes(spaces: Sequence[CellSpace], places: Sequence[Ints], keys: Sequence[str]) -> Hierarchy:
    """The cells of one country as a code list, in which each relation of a table is a sum."""
    sums = dict[tuple[int, tuple[int, ...]], None]()
    for space, mine in zip(spaces, places, strict=True):
        relations = space.national_relations
        for start, end in zip(relations.indptr[:-1].tolist(), relations.indptr[1:].tolist(), strict=True):
            cells, sign = mine[relations.indices[start:end]], relations.data[start:end]
            total, parts = int(cells[sign < 0][0]), tuple(sorted(cells[sign > 0].tolist()))
            sums[total, parts] = None
    try:
        return Hierarchy(
            UNION,
            tuple(keys),
            (None,) * len(keys),
            tuple((keys[total], tuple(keys[part] for part in parts)) for total, parts in sums),
        )
    except ValueError as error:
        raise NotTogether(
            f"the tables cannot be decided together, because their sums contradict each other: {error}. "
            "Remedy: correct the code lists, or release the tables one after the other"
        ) from None


def _merged(name: str, tables: Sequence[ProtectionProblem], places: Sequence[Ints], count: int) -> np.ndarray:
    """An array of the union (areas · codes,). Of a cell of several tables: the value of the first one, the
    narrowest bounds, the largest levels, and public where one of them is.
    """
    areas = len(tables[0].space.areas)
    found = np.zeros((areas, count), dtype=getattr(tables[0], name).dtype)
    seen = np.zeros(count, dtype=bool)
    for each, mine in zip(tables, places, strict=True):
        values = getattr(each, name).reshape(areas, -1)
        old, new = seen[mine], ~seen[mine]
        found[:, mine[new]] = values[:, new]
        before = found[:, mine[old]]
        if name in LARGEST:
            found[:, mine[old]] = np.maximum(before, values[:, old])
        elif name == "ub":
            found[:, mine[old]] = np.minimum(before, values[:, old])
        elif name == "known":
            found[:, mine[old]] = np.fmax(before, values[:, old])
        seen[mine] = True
    return np.asarray(found.ravel())
