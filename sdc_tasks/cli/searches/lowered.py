"""What `--attainable` lowered: the cells on the terminal; levels, wanted and kept, in the JSON alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sdc_tasks.cli.screen import out
from sdc_tasks.errors import some_of

if TYPE_CHECKING:
    from sdc_tasks.methods.suppression.attainable import AttainableLevels, Lowered
    from sdc_tasks.model.table import Bools


@dataclass(frozen=True)
class LoweredLevels:
    """Levels that no pattern keeps, with the names of their cells; the primaries with such levels whose
    attackers are too many to judge all of them; and those of which outsiders too are left nothing on a side.
    """

    told: tuple[tuple[str, Lowered], ...] = field(default=(), repr=False)
    not_judged: tuple[str, ...] = ()
    disclosed: tuple[str, ...] = ()

    @classmethod
    def of(cls, levels: AttainableLevels, hidden: Bools | None = None) -> LoweredLevels:
        """Those of the cells of a problem, and of the sums of hidden cells of a pattern, if there is one."""
        from sdc_tasks.methods.suppression.pattern.sums import told_of

        name = levels.problem.name
        return cls(
            tuple(told_of(levels, hidden)),
            tuple(map(name, levels.unjudged)),
            tuple(map(name, levels.disclosed)),
        )

    @property
    def facts(self) -> Mapping[str, object]:
        """Confidential as all figures of a search."""
        return {
            "lowered": [
                {
                    "cell": name,
                    "side": each.side,
                    "wanted": each.wanted,
                    "kept": each.kept,
                    "kept_from_outsiders": each.outsiders,
                }
                for name, each in self.told
            ],
            "not_judged": list(self.not_judged),
        }

    def show(self, what: str = "pattern") -> None:
        """Names the cells, all of them: they are protected less than was asked. No such `what` keeps more."""
        names = list(dict.fromkeys(name for name, _ in self.told))
        if names:
            out.print(f"no {what} keeps the levels of {', '.join(names)}: each is kept as far as can be")
        if self.disclosed:
            out.print(
                f"NOT PROTECTED, also against outsiders, whatever is hidden: {', '.join(self.disclosed)}",
                style="bold",
            )
        if self.not_judged:
            out.print(f"not judged against every part of the lone respondents: {some_of(self.not_judged)}")
