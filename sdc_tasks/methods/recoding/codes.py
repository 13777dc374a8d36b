"""The codes of a dimension that may be collapsed, and which of them are there after some were.

To *close* a code takes the codes below it out of the table; the code itself stays. A *group* joins sibling
codes: closed, it stands in their place, as a code of its own; open, it is not there. A code is there if
everything above it, groups included, is open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.table import Bools, Hierarchy, Ints


@dataclass(frozen=True)
class CodeGroup:
    """Sibling codes of a dimension that may become one code. `place`: file and line, for messages."""

    dimension: str
    name: str
    members: tuple[str, ...]
    place: str = "a group"


@dataclass(frozen=True)
class CodeNodes:
    """The codes of a dimension, then its groups. `above` (nodes): the code or group that each belongs to,
    −1 for the top; `group` (nodes).

    `sums` (nodes, codes): which codes of the table each node adds up.
    """

    dimension: str
    names: tuple[str, ...]
    above: Ints = field(repr=False)
    group: Bools = field(repr=False)
    sums: sp.csr_array = field(repr=False)

    @property
    def closable(self) -> Ints:
        """The nodes that have others below them."""
        return np.unique(self.above[self.above >= 0])

    def there(self, closed: Bools) -> Bools:
        """(nodes): which are there when some are closed."""
        there = np.ones(len(self.names), dtype=bool)
        for node in range(len(self.names)):
            step, mine = int(self.above[node]), True
            while step >= 0:
                mine &= not closed[step]
                step = int(self.above[step])
            there[node] = mine and (bool(closed[node]) or not self.group[node])
        return there

    def hierarchy(self, there: Bools) -> Hierarchy:
        """The codes that are there; groups that are not are passed over."""
        nodes = np.flatnonzero(there)
        parents = []
        for node in nodes:
            step = int(self.above[node])
            while step >= 0 and not there[step]:
                step = int(self.above[step])
            parents.append(self.names[step] if step >= 0 else None)
        return Hierarchy(self.dimension, tuple(self.names[node] for node in nodes), tuple(parents))


def code_nodes(axis: Hierarchy, groups: Sequence[CodeGroup]) -> CodeNodes:
    """The nodes of a dimension with its groups.

    Raises InvalidInput, with place and remedy, where members are no siblings, stand in
    two groups, or a name is taken.
    """
    above = [axis.index[parent] if parent is not None else -1 for parent in axis.parent]
    names = [*axis.codes, *(group.name for group in groups)]
    rows, columns = list(range(len(axis.codes))), list(range(len(axis.codes)))
    taken: dict[str, str] = {}
    for node, group in enumerate(groups, start=len(axis.codes)):
        _refuse_names(axis, group, names, taken)
        members = [axis.index[code] for code in group.members]
        parents = {above[member] for member in members}
        if len(parents) > 1 or parents == {-1} or len(members) < 2:
            raise InvalidInput(
                f"{group.place}: {group.name} needs two codes or more with the same parent. Remedy: group "
                f"siblings"
            )
        taken |= dict.fromkeys(group.members, group.name)
        above.append(parents.pop())
        for member in members:
            above[member] = node
            rows.append(node)
            columns.append(member)
    sums = sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(names), len(axis.codes)))
    return CodeNodes(
        axis.dimension,
        tuple(names),
        np.array(above, dtype=np.int64),
        np.arange(len(names)) >= len(axis.codes),
        sums,
    )


def _refuse_names(axis: Hierarchy, group: CodeGroup, names: Sequence[str], taken: Mapping[str, str]) -> None:
    """Raises InvalidInput where a group names an unknown code, one that another group has (`taken`: group by
    code), or has the name of another code or group (`names`).
    """
    if unknown := [code for code in group.members if code not in axis.index]:
        raise InvalidInput(
            f"{group.place}: {group.dimension} has no code {unknown[0]}. Remedy: name codes of the table"
        )
    if group.name in axis.index or names.count(group.name) > 1:
        raise InvalidInput(
            f"{group.place}: {group.name} is a code already. Remedy: give the group another name"
        )
    if double := [code for code in group.members if code in taken]:
        raise InvalidInput(
            f"{group.place}: {double[0]} is in the group {taken[double[0]]} already. Remedy: one group "
            f"for each code"
        )
