"""The facts of a release report: counts, classes and published values. Pages and figures see nothing else.

For aggregate cells: counts, and value and base of the cells that a passed audit releases. For national cells:
counts per country, keys of cells that are not protected, and for blocks of many cells a class of the CTA
deviation. `gather` fills these types.

The *relative base* of a rounded cell is base / |published value|.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sdc_tasks.model.claim import Claim, Proof
    from sdc_tasks.model.results import Publication
    from sdc_tasks.model.table import Bools

MINIMUM_CELLS = 10  # a block with fewer movable cells shows no deviation
TOP_VISIBLE = 100
TOP_WITHHELD = 100
TOP_BROKEN = 200


@dataclass(frozen=True)
class FindingFact:
    """A finding or failed check that occurs `times` times in a file; its first `line` and `cell`, None
    where it concerns the whole file.
    """

    code: str
    severity: str
    line: int | None
    cell: str | None
    message: str
    times: int = 1


@dataclass(frozen=True)
class CommonFinding:
    """A finding that the files of several countries share; it occurs `times` times in all."""

    code: str
    severity: str
    message: str
    countries: tuple[str, ...]
    times: int


@dataclass(frozen=True)
class DeliveryFact:
    """One delivery and its findings; `state` is accepted, refused, superseded or similar."""

    country: str
    file: str
    state: str
    findings: tuple[FindingFact, ...] = ()


@dataclass(frozen=True)
class StepFact:
    """One step of the release and how long it took."""

    step: str
    seconds: float
    note: str = ""


@dataclass(frozen=True)
class Header:
    """A code and its label."""

    code: str
    label: str


@dataclass(frozen=True)
class Loss:
    """Numbers of aggregate cells by state. `size` is the class of the median relative base of the
    rounded cells, 0 if there is none.

    `visible`: published as the sum of the visible countries.
    """

    exact: int
    rounded: int
    visible: int
    withheld: int
    size: int

    @classmethod
    def of(cls, publication: Publication, mask: Bools, size: int = 0) -> Loss:
        """Of the cells of a publication in `mask`: (cells,)."""
        kinds = (publication.exact, publication.rounded, publication.visible, publication.withheld)
        exact, rounded, visible, withheld = (int((kind & mask).sum()) for kind in kinds)
        return cls(exact, rounded, visible, withheld, size)

    @property
    def total(self) -> int:
        return self.exact + self.rounded + self.visible + self.withheld

    def share(self, state: str) -> float:
        count: int = getattr(self, state)
        return count / self.total if self.total else 0.0


@dataclass(frozen=True)
class Mark:
    """One total: its `state` (exact, rounded, visible or withheld), and of a rounded one base/2 relative to
    the value and the class of that; `within` is None where it is not told, or the value is 0.
    """

    state: str
    within: float | None = None
    size: int = 0


@dataclass(frozen=True)
class MarkMap:
    """The totals of one area with `common` codes, at the heads of two dimensions: `marks[row][column]`.
    `by`: the names of both dimensions.
    """

    area: Header
    common: tuple[Header, ...]
    by: tuple[str, str]
    columns: tuple[Header, ...]
    rows: tuple[Header, ...]
    marks: tuple[tuple[Mark, ...], ...]


@dataclass(frozen=True)
class UpperTotal:
    """A total of the upper levels as published. `value` and `half`, the half of its base, are texts, empty
    where there is none; `covers`: the least share of the total that a sum of visible countries is.
    """

    label: str
    value: str
    half: str
    covers: float
    mark: Mark
    top: bool


@dataclass(frozen=True)
class UpperTable:
    """The upper totals of one area; so many `more` are left out."""

    area: Header
    totals: tuple[UpperTotal, ...]
    more: int


@dataclass(frozen=True)
class ValueShare:
    """How much of an indicator is published, by the cells of the finest level, as shares of the published
    total: in `exact` cells; in these and in cells that are at most so much off (`close`: width, share);
    in other rounded cells too (`told`). What is left is in withheld cells.
    """

    area: Header
    indicator: Header
    exact: float
    close: tuple[tuple[float, float], ...]
    told: float


@dataclass(frozen=True)
class Overview:
    """`unit` of the values in words. Without values (of a release that is blocked), `tables` and `shares`
    are empty and no mark tells its width.
    """

    unit: str
    tables: tuple[UpperTable, ...]
    maps: tuple[MarkMap, ...]
    more_maps: int
    shares: tuple[ValueShare, ...]


@dataclass(frozen=True)
class Withheld:
    """So many withheld cells with one reason, in words; `cells` are the first of them by key and label."""

    reason: str
    count: int
    cells: tuple[Header, ...]


@dataclass(frozen=True)
class Histogram:
    """Counts between consecutive edges, (k,) counts and (k + 1,) edges; `unplaced` cells are rounded
    to 0 and have no relative base.
    """

    edges: tuple[float, ...]
    counts: tuple[int, ...]
    unplaced: int


@dataclass(frozen=True)
class RoundedCell:
    """A published rounded cell, as printed in the table."""

    key: str
    label: str
    value: str
    base: str
    lower: str
    upper: str
    relative: float


@dataclass(frozen=True)
class VisibleCell:
    """A published sum of visible countries, and the least share of the total that it covers."""

    key: str
    label: str
    value: str
    covers: float


@dataclass(frozen=True)
class DeviationMap:
    """[1] Figure 1 in classes, for one indicator: Σ|x − a| relative to Σ|a|, for each area as a whole and by
    block.

    None where too few cells move. A block that is None in every area has no column.
    """

    indicator: Header
    columns: tuple[Header, ...]
    areas: tuple[Header, ...]
    classes: tuple[tuple[int | None, ...], ...]


@dataclass(frozen=True)
class RungFact:
    """One rung of the ladder; objective, bound and gap to three digits, None where infinite.

    `chosen`: its table is used.
    """

    method: str
    outcome: str
    objective: float | None
    bound: float | None
    gap: float | None
    seconds: float
    reason: str
    unprotected: int
    chosen: bool


@dataclass(frozen=True)
class RuleFact:
    """One rule for bases on the same data. Means to three digits over the cells that it
    publishes, None without such cells.

    `distance` is the mean |r − a| ([1]: x̄ published), `moved` the mean |x − a| of the adjusted table behind
    it (x̄ CTA). `loss` is the loss that the choice of bases minimises, `bound` a lower bound on it for every
    safe choice from the same ladder. `broken` counts the requirements that the rule leaves to repair.
    """

    name: str
    cells: Loss
    distance: float | None
    moved: float | None
    mean_base: float | None
    median_base: float | None
    loss: float | None
    bound: float | None
    broken: int


@dataclass(frozen=True)
class RoundingFact:
    """An indicator whose aggregates are rounded as a whole table.

    `base` is the requested base; `within`: the largest published distance of a cell from the truth.
    `distance` is the mean |r − a| to three digits, None where there are few cells. `zero` published cells are
    0, and `one` are one base. `aware`: the rounding withstands somebody who has the program.
    """

    indicator: Header
    method: str
    base: str
    within: str
    distance: float | None
    cells: Loss
    zero: int
    one: int
    aware: bool


@dataclass(frozen=True)
class CompositionFact:
    """What all published compositions together reveal of primaries, compared with one composition alone.

    `area`: that composition; None: for each primary the composition that reveals most. Of the `primaries` of
    its members that were examined, `narrower` have a narrower interval when the attacker knows all
    compositions; the median of what remains of these intervals is in the quarter `left`.
    """

    area: Header | None
    primaries: int
    narrower: int
    left: str | None


@dataclass(frozen=True)
class RoomFact:
    """How far an attacker is left beyond the levels: the number of primaries by the least multiple of the
    required distance that a witness shows on either side, in the classes of `ROOM_EDGES`. `area`: of one
    country; None: of all.
    """

    area: Header | None
    counts: tuple[int, ...]


@dataclass(frozen=True)
class CountryFact:
    """Primaries of one country: fully protected ones, and those that its own tables do not fully protect
    (`baseline`). `receiver`: the number of secondaries that the receiver set in these tables.
    """

    area: Header
    primaries: int
    protected: int
    baseline: int
    receiver: int


@dataclass(frozen=True)
class BrokenCell:
    """A primary to which the attacker gets too close. Sides that are protected are None, the
    others have a class of `REACHED`.
    """

    key: str
    down: str | None
    up: str | None
    slide: str | None


@dataclass(frozen=True)
class ProgramFacts:
    """What is shown against somebody who has the program (METHOD §9), in numbers of primaries."""

    removed: float  # of bases.rule_aware: the chance that the key takes an exact figure
    odds: float  # of one decision of this key, at most
    wide: int  # left an interval as wide as both required distances
    narrow: tuple[str, ...]  # left less
    unclaimed: int  # not to be shown even with nothing published
    counts: int  # hidden counts that rule_aware rounds, or their totals
    candidates: int  # of these, left at least `base` numbers


@dataclass(frozen=True)
class AuditFacts:
    """The verdict: `claim` is what the certificate lets anybody say, `proof` how it was shown.
    `broken_requirements` counts sides, `broken` names cells (the first `TOP_BROKEN`).
    """

    claim: Claim
    proof: Proof
    by_lp: int
    broken_requirements: int
    broken: tuple[BrokenCell, ...]
    contradictions: tuple[str, ...]
    countries: tuple[CountryFact, ...]
    together: tuple[CompositionFact, ...]
    linked: tuple[str, ...] = ()  # the related releases that were attacked together with this one
    beside: int = 0  # primaries of theirs
    whole: int = 0  # primaries judged as whole numbers
    by_milp: int = 0  # of these, judged by MILPs
    undecided: int = 0  # of these, with a MILP that stopped at its limit
    small: tuple[str, ...] = ()  # cells that reveal a small count
    program: ProgramFacts | None = None  # where the domain asks for it
    room: tuple[RoomFact, ...] = ()


@dataclass(frozen=True)
class ReportFacts:
    """All facts of the report. If the release is blocked, they hold no value of its publication."""

    title: str
    period: str
    release_id: str | None
    published: bool
    aggregates: tuple[Header, ...]
    missing_countries: tuple[Header, ...]
    digests: tuple[Header, ...]
    overall: Loss
    mean_relative_base: float | None
    median_relative_base: float | None
    overview: Overview
    risks: tuple[tuple[str, Loss], ...]
    histogram: Histogram
    outdone: tuple[str, ...]  # rounded cells that a relation beside them narrows further
    unit: str  # of published values, in words
    largest: tuple[RoundedCell, ...]
    visible: tuple[VisibleCell, ...]
    withheld: tuple[Withheld, ...]
    deviations: tuple[DeviationMap, ...]
    no_deviations: str
    rungs: tuple[RungFact, ...]
    rules: tuple[RuleFact, ...]
    steps: tuple[StepFact, ...]
    audit: AuditFacts
    deliveries: tuple[DeliveryFact, ...]  # refused ones first
    rule_aware: bool  # bases withstand somebody who has the program (METHOD §9)
    rounding: tuple[RoundingFact, ...] = ()
    common: tuple[CommonFinding, ...] = ()  # findings of several deliveries; `deliveries` hold the others
