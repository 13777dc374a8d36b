"""Is a table safe as it is? A national table with a pattern, or a table of EU aggregates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Unpack, overload

import numpy as np

from sdc_tasks.api.asked import checks_options
from sdc_tasks.api.frames import CALLED, Table, as_frame
from sdc_tasks.api.options import AuditKeywords, keywords
from sdc_tasks.api.origins import origin_of
from sdc_tasks.api.progress import Progress
from sdc_tasks.api.results import Explanation, Picture, Result
from sdc_tasks.api.suppression import OfTable, SuppressResult
from sdc_tasks.api.tables import layout_of
from sdc_tasks.errors import InvalidInput
from sdc_tasks.intake.tables.crossed import CrossedSuppression, suppression_in
from sdc_tasks.intake.tables.keyed import numbers_in
from sdc_tasks.intake.tables.rows import TextRows, rows_of
from sdc_tasks.judge.pattern import PatternVerdict, verify
from sdc_tasks.model.table import Bools
from sdc_tasks.tested import require_tested

if TYPE_CHECKING:
    import pandas as pd

    from sdc_tasks.api.releases import AggregateAudit, Tables
    from sdc_tasks.domains import Domain

HIDDEN = ("u", "m")


@dataclass(frozen=True, repr=False)
class PatternAudit(OfTable):
    """The verdict on a pattern. Confidential: `table`, `loss`, `intervals`, `at_risk`, `explain`
    and `plot`.
    """

    _crossed: CrossedSuppression = field(repr=False)
    hidden: Bools = field(repr=False)
    verdict: PatternVerdict = field(repr=False)

    @property
    def _hidden(self) -> Bools:
        return self.hidden

    @property
    def public(self) -> pd.DataFrame:
        """The table without the values of hidden cells; the keys alone where it is not safe, for a
        reader would compute some of them.
        """
        return super().public if self.safe else self.cells.frame()

    @property
    def _unsafe(self) -> str:
        return "" if self.safe else "the pattern is not safe. Remedy: suppress the table"

    @property
    def safe(self) -> bool:
        """Whether every primary cell is hidden and keeps its levels."""
        return not len(self._risky)

    @cached_property
    def _risky(self) -> list[int]:
        problem = self._crossed.problem
        return sorted(
            {*self.verdict.unprotected.tolist(), *problem.primaries[~self.hidden[problem.primaries]].tolist()}
        )

    @property
    def at_risk(self) -> tuple[str, ...]:
        """The primary cells that are not shown to be protected."""
        return tuple(self.cells.name(cell) for cell in self._risky)

    @property
    def title(self) -> str:
        return f"audit of a pattern: {'safe' if self.safe else 'NOT SAFE'}"

    @property
    def loss(self) -> float:
        """Confidential: the cost of its secondary cells, |a| each."""
        return self._crossed.problem.cost_of(self.hidden)

    @property
    def bound(self) -> float | None:
        """None: a pattern is judged here, and none sought."""
        return None

    @property
    def figures(self) -> Mapping[str, str]:
        primaries = len(self._crossed.problem.primaries)
        return {"primaries protected": f"{primaries - len(self._risky)} of {primaries}", **super().figures}

    def explain(self, cell: str | Sequence[str]) -> Explanation:
        i = self.cells.find(cell)
        state = self._states[i]
        told = {
            "at risk": "an attacker comes closer than its levels allow: see .intervals()",
            "protected": "tables were found that an attacker cannot exclude, as far away as its levels ask",
            "secondary": "hidden for others",
            "open": "everybody reads it",
        }
        return Explanation(self.cells.name(i), state, (told[state],))

    @cached_property
    def _states(self) -> list[str]:
        risky = np.isin(np.arange(len(self.hidden)), self._risky)
        primary = self._crossed.problem.primary
        states = np.where(
            risky, "at risk", np.where(primary, "protected", np.where(self.hidden, "secondary", "open"))
        )
        return list(map(str, states))

    def plot(self) -> Picture:
        require_tested("plot")
        from sdc_tasks.report.pattern_figures import VERDICT, plot_states

        return Picture(lambda image: plot_states(self.cells.keys, self._states, VERDICT, image))


@overload
def audit(df: SuppressResult | pd.DataFrame) -> PatternAudit: ...


@overload
def audit(
    df: Table,
    dims: None = None,
    value: str = "VALUE",
    *,
    tables: Tables,
    domain: Domain | str | Path,
    period: str,
    progress: Progress = None,
) -> AggregateAudit: ...


@overload
def audit(
    df: Table,
    dims: Sequence[str],
    value: str = "VALUE",
    *,
    progress: Progress = None,
    **options: Unpack[AuditKeywords],
) -> PatternAudit: ...


@checks_options
@keywords(AuditKeywords, status="STATUS")
def audit(
    df: Table | Result,
    dims: Sequence[str] | None = None,
    value: str = "VALUE",
    *,
    tables: Tables | None = None,
    domain: Domain | str | Path | None = None,
    period: str | None = None,
    progress: Progress = None,
    **options: Unpack[AuditKeywords],
) -> PatternAudit | AggregateAudit:
    """Whether a table is safe as it is; nothing is sought.

    A national table: `dims`, `value`, and the column `status`: u a hidden primary cell, m a hidden secondary
    one, all else open. The true values stand in the frame, and the levels, as for `suppress`. A total without
    a row is open: everybody can add it up, or ask for it.

    EU aggregates: `df` is the published table as SDMX-CSV has it (ROUNDING_BASE, LOWER and UPPER optional);
    `tables`, `domain` and `period` as for `release`. A cell without a row counts as withheld.

    What `suppress` returned, or its `.table`, in which statuses may have been changed: the same, with all
    that its rules know of contributors, by code that shares nothing with the search.

    Raises InvalidInput with row, column, key and remedy.

    >>> import pandas as pd, sdc_tasks as sdc
    >>> table = pd.DataFrame({"R": ["a", "a", "b", "b"], "C": ["x", "y", "x", "y"], "VALUE": [20, 50, 40,
    ...         30], "LEVEL": [5, 0, 0, 0],
    ...                       "STATUS": ["u", "m", "m", "s"]})
    >>> sdc.audit(table, ["R", "C"], level="LEVEL").at_risk
    ('a.x',)
    >>> sdc.audit(table.assign(STATUS=["u", "m", "m", "m"]), ["R", "C"], level="LEVEL").safe
    True
    """
    of_aggregates = [each for each in (tables, domain, period) if each is not None]
    if isinstance(df, Result):
        return _audit_of_result(df, alone=dims is None and not of_aggregates)
    if not of_aggregates:
        return _audit_of_pattern(df, dims, value, options)
    if tables is None or domain is None or period is None or dims is not None:
        raise InvalidInput(
            "an audit of aggregates needs tables, domain and period, and no dims. Remedy: give the "
            "three, or none of them"
        )
    require_tested("release")
    from sdc_tasks.api.releases import audit_aggregates

    return audit_aggregates(df, tables, domain, period, progress)


def _audit_of_result(result: Result, alone: bool) -> PatternAudit:
    """The audit of what `suppress` returned. `alone`: nothing else was given."""
    if not isinstance(result, SuppressResult):
        raise InvalidInput(
            f"{result.title}: has no pattern of hidden cells, which an audit judges; it was verified when it "
            "was made. Remedy: .intervals() says what a reader concludes of it; give what suppress returned, "
            "or a frame with dims"
        )
    if not alone:
        raise InvalidInput(
            "what suppress returned brings its own columns. Remedy: give it alone, or a frame with dims"
        )
    return PatternAudit(result._crossed, result._hidden, verify(result._crossed.problem, result._hidden))


def _audit_of_made(df: Table, origin: CrossedSuppression) -> PatternAudit:
    """The audit of the table of a result, whose statuses may have been changed since."""
    records = rows_of(as_frame(df), CALLED)
    keys = list(zip(*(records.column(name) for name in origin.dimensions), strict=True))
    values = numbers_in(records, origin.value)
    if keys != list(origin.keys) or not np.array_equal(values, origin.problem.a):
        raise InvalidInput(
            f"{CALLED}: cells or values were changed since the result made it. Remedy: name its columns, "
            f"as dims=[{', '.join(map(repr, origin.dimensions))}], with statuses and levels"
        )
    hidden = np.isin(records.column("STATUS"), HIDDEN)
    return PatternAudit(origin, hidden, verify(origin.problem, hidden))


def _audit_of_pattern(
    df: Table, dims: Sequence[str] | None, value: str, options: AuditKeywords
) -> PatternAudit:
    """The audit of a national table; without dimensions, of the table of a result."""
    if dims is None and (origin := origin_of(df)) is not None:
        return _audit_of_made(df, origin)
    if dims is None:
        raise InvalidInput(
            "which columns are dimensions? Remedy: name them, as ['REGION', 'ACTIVITY']; of aggregates give "
            "tables, domain, period"
        )
    records = rows_of(as_frame(df), CALLED)
    table = suppression_in(records, layout_of(dims, value, options))
    hidden = _hidden(records, table, options["status"])
    return PatternAudit(table, hidden, verify(table.problem, hidden))


def _hidden(records: TextRows, table: CrossedSuppression, status: str) -> Bools:
    """(n): what the statuses of the records hide."""
    place = {key: i for i, key in enumerate(table.keys)}
    hidden = np.zeros(len(table.keys), dtype=bool)
    for key, letter in zip(
        zip(*(records.column(name) for name in table.dimensions), strict=True),
        records.column(status),
        strict=True,
    ):
        hidden[place[key]] = letter in HIDDEN
    return hidden
