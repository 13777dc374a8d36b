"""A domain file: everything about one statistical domain that is not code. Typed, frozen, unknown keys refused.

A domain is found by name (`sbs` → `sdc_tasks/domains/sbs.yaml`) or by the path of its file; code lists are CSV files
(`code,parent,label`) relative to it.

Where a composition or a country belongs to the domain for some time only (`from`, `until`), `Domain.of` gives the domain of a reference
period, as if it had been written for that period alone: whoever asks for countries or cells takes that one.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections import Counter
from collections.abc import Hashable, Iterable
from enum import StrEnum
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin

import yaml
from pydantic import BaseModel, Field, PrivateAttr, ValidationError, model_validator
from pydantic_core import ErrorDetails

from sdc_tasks.domains.calendar import Calendar, bounds
from sdc_tasks.domains.validity import Bound, Span, stretches
from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.primary import LevelRule
from sdc_tasks.model.findings import Severity
from sdc_tasks.model.profiles import EXTERNAL, named
from sdc_tasks.model.results import ENDED_BY
from sdc_tasks.model.strict import Strict
from sdc_tasks.model.table import Aggregate, CellSpace, Hierarchy
from sdc_tasks.model.weights import Weights
from sdc_tasks.untrusted import FORMULA, formula, settings_text

HERE = Path(__file__).parent
FILE_BYTES, CODELIST_BYTES = 1 << 20, 1 << 24  # a domain file; a code list, of a hundred thousand codes and more
DEEPEST = 20  # levels of a domain file


class Role(StrEnum):
    """What a flag means for protection."""

    PUBLIC = "public"
    PRIMARY = "primary"
    SECONDARY = "secondary"


class Flag(Strict):
    """One code of CONF_STATUS. Codes that a domain file does not list refuse the delivery.

    `units_unknown`: what a cell of this flag has where UNITS was not sent. refuse: nobody knows, so that no delivery with such a cell
    can be attacked by respondents (profiles internal, coalition). one: the office states that it is a single unit, who knows the cell.
    """

    role: Role
    rule: LevelRule | None = None
    units_unknown: Literal["refuse", "one"] = "refuse"

    @model_validator(mode="after")
    def _rule_for_primaries(self) -> Flag:
        if (self.role is Role.PRIMARY) != (self.rule is not None):
            raise ValueError("exactly the primary flags have a rule")
        return self


class CodelistSource(Strict):
    """A dimension: its id on the wire, its code list, and what reports call it, such as size class."""

    dimension: str
    codelist: str
    label: str | None = None

    @property
    def name(self) -> str:
        """What reports call it."""
        return self.label or self.dimension


class SmallCountRounding(Strict):
    """Small count rounding: no aggregate, nor what follows from several, is in 1 … base − 1 (methods/rounding/counts.py).

    For counts of which nobody publishes what is confidential here, nor any total above it.
    """

    method: Literal["small-count"]
    base: int = Field(ge=2)
    quality: Literal["paper", "fast", "best"] = "fast"


class ControlledRounding(Strict):
    """Controlled rounding: all aggregates are multiples of one base that add up (methods/rounding/aggregates.py).

    `base`: the least, larger ones are tried where the audit breaks it; `reach`: multiples that a cell may move, as `zero_restricted` in
    `sdc round-table`; `gap` ends the search, and `nodes` each MILP in it. `seconds`: a base that takes longer stops the release.
    """

    method: Literal["controlled"]
    base: float = Field(gt=0)
    reach: int = Field(default=2, ge=1)
    zero_restricted: bool = False
    gap: float = Field(default=0.01, ge=0)
    nodes: int = Field(default=5000, ge=1)
    seconds: float = Field(default=7200.0, gt=0)


class QuadraticRounding(Strict):
    """Random rounding with quadratic programming, of whole numbers: aggregates that attacks lean on become multiples of the base, those
    beside them are adjusted, margins are exact (methods/rounding/aggregates.py). `base`, `gap`, `nodes`, `seconds`: as controlled.
    """

    method: Literal["quadratic"]
    base: int = Field(ge=2)
    gap: float = Field(default=0.01, ge=0)
    nodes: int = Field(default=5000, ge=1)
    seconds: float = Field(default=7200.0, gt=0)


class Indicator(Strict):
    """A measured variable; values are integers times 10^−decimals of unit · 10^unit_multiplier.

    `unit_of`, instead of both, names a hierarchy whose code list has a unit for each code (kg, m², pieces).
    `kind: count` (of persons, enterprises and the like), or `integer`: the attacker knows that every value is a whole number.
    `absent`: what a cell without a record means (intake/absent.py). `rounding`:
    how its aggregates are rounded, all together; without it, each goes to a base of its own (`bases`).
    """

    code: str
    label: str
    unit: str = ""
    unit_multiplier: int = 0
    unit_of: str | None = None
    decimals: int = Field(default=0, ge=0, le=9)
    signed: bool = False
    kind: Literal["magnitude", "count"] = "magnitude"
    integer: bool = False
    absent: Literal["zero", "missing"] | None = None
    rounding: Annotated[SmallCountRounding | ControlledRounding | QuadraticRounding, Field(discriminator="method")] | None = None

    @model_validator(mode="after")
    def _whole_without_decimals(self) -> Indicator:
        if self.whole and self.decimals:
            raise ValueError("integer: not together with decimals")
        if bool(self.unit) == (self.unit_of is not None):
            raise ValueError("unit: one for the indicator, or unit_of: the hierarchy whose codes have units; exactly one of them")
        if self.unit_of is not None and self.unit_multiplier:
            raise ValueError("unit_multiplier: with unit_of it stands in the code list")
        if self.kind == "count" and self.signed:
            raise ValueError("kind: a count is never negative, so not together with signed")
        if self.rounding is not None and self.rounding.method == "small-count" and self.kind != "count":
            raise ValueError("rounding: small-count is for an indicator of kind: count")
        return self

    @property
    def whole(self) -> bool:
        """Are its values whole numbers, and does everybody know it?"""
        return self.integer or self.kind == "count"

    @property
    def least(self) -> int:
        """No published count is in 1 … least − 1; 0 where that is not asked for."""
        return self.rounding.base if isinstance(self.rounding, SmallCountRounding) else 0


class IndicatorRelation(Strict):
    """A linked indicator: in every area and code, `total` is the sum of `parts`."""

    total: str
    parts: tuple[str, ...] = Field(min_length=1)


class AggregateSpec(Strict):
    """A composition. `members: all` means every country of the domain. `partial_code` names the sum where members are missing.

    It belongs to the domain in the periods `from` … `until`, both included. Another of the same code may follow it.
    """

    code: str
    label: str
    members: Literal["all"] | tuple[str, ...]
    partial_code: str | None = None
    since: Bound | None = Field(default=None, alias="from")
    until: Bound | None = None

    @model_validator(mode="after")
    def _in_order(self) -> AggregateSpec:
        _ = self.span
        return self

    @property
    def span(self) -> Span:
        return Span.of(self.since, self.until)


class Code(NamedTuple):
    """A row of a code list. `since until` bound the periods of an area, as those of a composition; `unit unit_multiplier` are what
    indicators count here whose unit is that of the code.
    """

    code: str
    parent: str
    label: str
    since: str = ""
    until: str = ""
    unit: str = ""
    unit_multiplier: int = 0

    @property
    def span(self) -> Span:
        return Span.of(self.since, self.until)


class Attributes(Strict):
    """The columns that carry attributes; None where the domain has none."""

    conf_status: str = "CONF_STATUS"
    obs_status: str = "OBS_STATUS"
    unit: str | None = "UNIT_MEASURE"
    unit_multiplier: str | None = "UNIT_MULT"
    units: str | None = "UNITS"
    share_1: str | None = "SHARE_1"
    share_2: str | None = "SHARE_2"


class Checks(Strict):
    """Content checks of a delivery: tolerances and severities. A check with severity None is switched off."""

    additivity_absolute: float = Field(default=0.5, ge=0)
    additivity_relative: float = Field(default=1e-9, ge=0)
    additivity: Severity | None = Severity.ERROR
    non_negative: Severity | None = Severity.ERROR
    complete_keys: Severity | None = Severity.ERROR
    shares: Severity | None = Severity.ERROR
    lone_suppressed: Severity | None = Severity.WARNING
    all_free: Severity | None = Severity.WARNING
    all_suppressed: Severity | None = Severity.WARNING
    vintage_change: Severity | None = Severity.WARNING
    vintage_change_ratio: float = Field(default=10.0, gt=1)


# options of a rung that some methods have no use for
ONLY_OF = {"solver": ("auto", "milp"), "blocks": ("bcd", "fix-and-relax"), "polygon": ("milp", "bcd", "fix-and-relax")}


class RungOptions(Strict):
    """One rung of the ladder. It ends by counted work, the same on any machine: `rounds` or `nodes`, whichever its method has.

    `seconds`: a rung that takes longer leaves nothing and stops the release, which can be run again.
    """

    method: Literal["auto", "milp", "bcd", "fix-and-relax", "benders"]
    solver: Literal["cbc", "highs"] = "cbc"
    seconds: float = Field(default=1800.0, gt=0)
    rounds: int | None = Field(default=None, ge=0, description="auto: batches of regions; bcd: cycles; benders: choices of senses")
    nodes: int | None = Field(default=None, ge=0, description="milp: of the search tree")
    gap: float = Field(default=0.02, ge=0)
    accept_gap: float = Field(default=0.25, ge=0, description="a feasible table with a larger gap sends us to the next rung")
    blocks: int = Field(default=12, ge=1, description="bcd, fix-and-relax: blocks of a partition")
    polygon: bool = Field(default=True, description="valid inequalities in the MILPs")

    @model_validator(mode="after")
    def _ends_by_work(self) -> RungOptions:
        end = ENDED_BY[self.method]
        for name in ("rounds", "nodes"):
            if name == end and getattr(self, name) is None:
                raise ValueError(f"{self.method}: {name} must say when it ends; no clock does, for equal input must give an equal release")
            if name != end and getattr(self, name) is not None:
                raise ValueError(f"{self.method}: {name} do not end it" + (f", {end} do" if end else "; it ends by itself"))
        for name, methods in ONLY_OF.items():
            if name in self.model_fields_set and self.method not in methods:
                raise ValueError(f"{self.method}: it has no {name}, only {', '.join(methods)}. Remedy: leave {name} out")
        return self


class Cta(Strict):
    """Controlled tabular adjustment: weights and the ladder of fallbacks, tried in order. An empty ladder: audit-driven bases alone."""

    weights: Weights = Weights.INVERSE_SQRT
    gamma: float = Field(default=2.0, gt=0, description="γ of weights: depth")
    seed: int = 1
    mirror: bool = Field(default=False, description="ask for a table whose mirror image is one too; most real releases have none")
    accept_short: float = Field(default=0.0, ge=0, le=1, description="share of sensitive cells a table for the bases may leave short")
    ladder: tuple[RungOptions, ...] = ()


class CellRule(Strict):
    """A wish for some aggregate cells: `cells` is a pattern of keys, such as EU27_2020.TURNOVER.C*._T (* and ? stand for anything).

    `must` be exact, or published (exact or rounded); a unit of loss there counts `cost` times.
    """

    cells: str = Field(min_length=1)
    must: Literal["exact", "published"] | None = None
    cost: float = Field(default=1.0, gt=0)


class Bases(Strict):
    """How bases are chosen, from the ladder mantissas × 10^k from `smallest`, in the unit of the indicator.

    Repair makes safe what the adjusted table asks for (cta), or nothing at all, whichever loses less. minimum-uncertainty: from there on,
    `passes` searches for less. The audit has the last word. `gap` is that of `sdc what-if`, to the bound on the least loss.

    `strata`: cells of one composition and indicator share one base, apart by `level` or `code` of the hierarchies named; {} for none of
    them. `sharpen`: afterwards no cell is coarser than what the others tell of it. `additive`: values within each composition add up.
    `visible_share`: where a total is withheld, the sum of the visible countries goes out if it covers at least this share and is safe.
    """

    rule: Literal["cta", "minimum-uncertainty"] = "minimum-uncertainty"
    gap: float = Field(default=0.05, ge=0)
    passes: int = Field(default=2, ge=1)
    mantissas: tuple[Annotated[float, Field(ge=1, lt=10)], ...] = (1.0, 2.0, 5.0)
    smallest: float = Field(default=1.0, gt=0)
    maximum_relative_base: float = Field(default=0.5, gt=0)
    weights: Weights = Field(default=Weights.INVERSE, description="loss per unit of half-width")
    rounding_charge: float = Field(default=0.005, ge=0, description="what an exact figure is worth, as a share of its value")
    rounds: int = Field(default=60, ge=1, description="rounds of audit and repair before what still fails is withheld")
    cells: tuple[CellRule, ...] = ()
    strata: dict[str, Literal["level", "code"]] | None = None
    sharpen: bool = False
    additive: bool = False
    visible_share: float | None = Field(default=None, gt=0, lt=1)

    @model_validator(mode="after")
    def _one_base_each(self) -> Bases:
        if self.strata is not None and (self.sharpen or self.additive):
            raise ValueError("strata: not together with sharpen or additive, which give each cell a base of its own")
        if self.rule == "cta" and "passes" in self.model_fields_set:
            raise ValueError("passes: only the rule minimum-uncertainty makes passes. Remedy: leave passes out, or change rule")
        return self


class Audit(Strict):
    """Attacker profiles (model/profiles.py), all of which a release must withstand, and into how many chunks it is mapped.

    Where a version of the period is out, `vintage` is attacked whether or not it is named. `revision`: what somebody knows of how far
    cells were revised since (methods/attack/vintage.py): `tied` how far, `bounded PERCENT` at most so far, `free` nothing.
    """

    profiles: tuple[str, ...] = (EXTERNAL,)
    chunks: int = Field(default=4, ge=1)
    seed: int = 1
    revision: str = Field(default="tied", pattern=r"^(tied|free|bounded \d+(\.\d+)?)$")

    @property
    def revised_by(self) -> float | None:
        """`revision` as percent: 0 where it is known how far, None where nothing is."""
        kind, _, percent = self.revision.partition(" ")
        return {"tied": 0.0, "free": None}.get(kind, float(percent or 0))

    @model_validator(mode="after")
    def _bounded_by_something(self) -> Audit:
        if self.revised_by == 0 and self.revision != "tied":
            raise ValueError("revision: bounded by more than 0 percent. Remedy: revision: tied, for somebody who knows how far")
        return self

    @model_validator(mode="after")
    def _known_profiles(self) -> Audit:
        if EXTERNAL not in named(self.profiles):
            raise ValueError("profiles: external is always one of them, for it covers every primary")
        return self


class Governance(Strict):
    """Who must agree before a release goes out, and how long confidential bytes are kept.

    `approvals`: how many people other than the submitter. `retention_days`: after the last that happened in a period; none: for ever.
    """

    approvals: int = Field(default=0, ge=0)
    retention_days: int | None = Field(default=None, ge=0)


class InboxOptions(Strict):
    """Names that may lie in an inbox without being read, such as README.*; anything else that is not read stops the release."""

    ignore: tuple[str, ...] = ()


class Expected(Strict):
    """Which cells had a record last time: a CSV file with a column for the area, the indicator and each hierarchy, relative to the domain
    file; other columns are not looked at, so that last year's records, one country after the other, will do. Keys that vanished and keys
    that appeared are findings of these severities; null: not told.
    """

    keys: str
    vanished: Severity | None = Severity.WARNING
    appeared: Severity | None = Severity.WARNING


class MissingCountry(StrEnum):
    """What happens when a country has no accepted delivery."""

    BLOCK = "block"
    PARTIAL = "partial"
    WAIT = "wait"


class Domain(Strict):
    """One statistical domain."""

    id: str = Field(pattern=r"^[a-z0-9_]+$")
    title: str
    structure_id: str
    frequency: str = "A"
    areas: CodelistSource
    aggregates: tuple[AggregateSpec, ...] = Field(min_length=1)
    indicator_dimension: str = "INDICATOR"
    indicators: tuple[Indicator, ...] = Field(min_length=1)
    indicator_relations: tuple[IndicatorRelation, ...] = ()
    hierarchies: tuple[CodelistSource, ...] = Field(min_length=1)
    attributes: Attributes = Attributes()
    flags: dict[str, Flag]
    flag_when_empty: str | None = None
    checks: Checks = Checks()
    cta: Cta = Cta()
    bases: Bases = Bases()
    audit: Audit = Audit()
    governance: Governance = Governance()
    calendar: Calendar = Calendar()
    missing_country: MissingCountry = MissingCountry.BLOCK
    inbox: InboxOptions = InboxOptions()
    expected: Expected | None = None
    _folder: Path = PrivateAttr(default=HERE)
    _digest: str = PrivateAttr(default="")
    _span: Span | None = PrivateAttr(default=None)
    _compositions: frozenset[str] = PrivateAttr(default=frozenset())

    def of(self, period: str) -> Domain:
        """The domain of a reference period: its countries and compositions, and a digest of nothing else.

        Raises InvalidInput where the domain has none then, or where one of them is valid for a part of the period only.
        """
        if self._lasts:
            return self
        try:
            span = Span(*bounds(period))
        except ValueError as error:
            raise InvalidInput(f"{self.id}: {error}. It must be one, for countries or compositions of the domain change in time") from error
        if self._span is not None:
            if self._span != span:
                raise ValueError(f"{self.id}: this is the domain of another period")
            return self
        for what, each in self._valid():
            if each.meets(span) and not each.covers(span):
                raise InvalidInput(
                    f"{self.id}: {what} is valid {each}, which is a part of {period}. Remedy: whole periods in from and until"
                )
        return self._within(span, f"{self.id} in {period}")

    @property
    def _lasts(self) -> bool:
        """Does everything belong to the domain for ever?"""
        return self._span is None and all(span.endless for _, span in self._valid())

    def _valid(self) -> list[tuple[str, Span]]:
        """Every composition and area, and when it belongs to the domain."""
        return [*((spec.code, spec.span) for spec in self.aggregates), *((row.code, row.span) for row in self.area_rows)]

    def _within(self, span: Span, name: str) -> Domain:
        """The domain of a span of time in which nothing changes. Raises InvalidInput where it contradicts itself then."""
        lasting = {"since": None, "until": None}
        kept = tuple(spec.model_copy(update=lasting) for spec in self.aggregates if spec.span.covers(span))
        other = self.model_copy(update={"aggregates": kept})
        for name_of, member in vars(Domain).items():
            if isinstance(member, cached_property):
                other.__dict__.pop(name_of, None)
        other._span = span
        if not kept or not other.countries:
            raise InvalidInput(
                f"{name}: no {'country' if kept else 'composition'} is valid then. Remedy: see from and until in the domain file"
            )
        other._check(name)
        other._digest = other._sum()
        return other

    def with_profiles(self, profiles: tuple[str, ...]) -> Domain:
        """The same domain, attacked by these profiles. Raises InvalidInput for those no audit can be of."""
        try:
            audit = Audit.model_validate({**self.audit.model_dump(), "profiles": profiles})
        except ValidationError as error:
            raise InvalidInput("; ".join(_told(e) for e in error.errors())) from error
        other = self.model_copy(update={"audit": audit})
        other._digest = hashlib.sha256(f"{self.digest} {profiles}".encode()).hexdigest()
        return other

    @property
    def digest(self) -> str:
        """sha256 of the settings, given or left to their defaults, and of the code lists. Not of the calendar: next year's dates make no
        new release of this year.
        """
        return self._digest

    @cached_property
    def countries(self) -> tuple[str, ...]:
        """Every area of the code list that is not an aggregate, in the order of the list. Raises ValueError where it takes a period."""
        if self._span is None and not self._lasts:
            raise ValueError(f"{self.id}: its countries and compositions change in time; take the domain of a period")
        return tuple(row.code for row in self.area_rows if row.code not in self._compositions)

    @cached_property
    def labels(self) -> dict[str, dict[str, str]]:
        """dimension → code → label, for reports."""
        found = {source.dimension: {row.code: row.label for row in self._codelist(source)} for source in (self.areas, *self.hierarchies)}
        found[self.areas.dimension].update({spec.code: spec.label for spec in self.aggregates})
        found[self.indicator_dimension] = {indicator.code: indicator.label for indicator in self.indicators}
        return found

    @property
    def settings(self) -> dict[str, Any]:
        """All that the digest is of, as JSON knows it, with the code lists: dimension → [code, parent, label] in file order."""
        lists = {source.dimension: [list(row[:3]) for row in self._codelist(source)] for source in self.hierarchies}
        lists[self.areas.dimension] = [list(row[:3]) for row in self.area_rows]
        return {**self.model_dump(mode="json", exclude_none=True, exclude={"calendar"}), "codelists": lists}

    @cached_property
    def units(self) -> tuple[tuple[str, int], ...]:
        """(unit, power of ten) of every cell of a national table."""
        own = {each.code: (each.unit, each.unit_multiplier) for each in self.indicators}
        by_code = {
            source.dimension: {row.code: (row.unit, row.unit_multiplier) for row in self._codelist(source)} for source in self.hierarchies
        }
        at = {source.dimension: 1 + i for i, source in enumerate(self.hierarchies)}
        of = {each.code: each.unit_of for each in self.indicators}
        return tuple(
            own[key[0]] if (dimension := of[key[0]]) is None else by_code[dimension][key[at[dimension]]] for key in self.space.national_keys
        )

    def unit_by_code(self, indicator: str) -> bool:
        """Does the unit of an indicator stand in a code list?"""
        return any(each.unit_of is not None for each in self.indicators if each.code == indicator)

    @cached_property
    def space(self) -> CellSpace:
        """The cells of a release with every country present."""
        return self.space_of(self.countries)

    def space_of(self, delivered: tuple[str, ...]) -> CellSpace:
        """The cells of a release with these countries. An aggregate with missing members goes under its partial code.

        Raises InvalidInput where an aggregate has missing members and no partial code, or no member at all.
        """
        aggregates = []
        for spec in self.aggregates:
            wanted = self.countries if spec.members == "all" else spec.members
            members = tuple(country for country in wanted if country in delivered)
            code = spec.code if len(members) == len(wanted) else spec.partial_code
            if code is None or not members:
                missing = sorted(set(wanted) - set(members))
                raise InvalidInput(f"{spec.code}: no delivery from {', '.join(missing)}, and the domain file gives no partial_code for it")
            aggregates.append(Aggregate(code, members))
        return CellSpace(
            countries=tuple(country for country in self.countries if country in delivered),
            aggregates=tuple(aggregates),
            indicators=tuple(indicator.code for indicator in self.indicators),
            hierarchies=tuple(self._hierarchy(source) for source in self.hierarchies),
            indicator_relations=tuple((each.total, each.parts) for each in self.indicator_relations),
        )

    def _hierarchy(self, source: CodelistSource) -> Hierarchy:
        rows = self._codelist(source)
        try:
            return Hierarchy(source.dimension, tuple(row.code for row in rows), tuple(row.parent or None for row in rows))
        except ValueError as error:
            raise InvalidInput(f"{self._folder / source.codelist}: {error}") from error

    @cached_property
    def area_rows(self) -> list[Code]:
        """The areas of the code list that are valid then, in file order."""
        rows = self._codelist(self.areas)
        span = self._span
        return rows if span is None else [row._replace(since="", until="") for row in rows if row.span.covers(span)]

    def _codelist(self, source: CodelistSource) -> list[Code]:
        """The rows in file order."""
        path = self._folder / source.codelist
        text = settings_text(path, CODELIST_BYTES, f"code list of {source.dimension}")
        try:
            reader = csv.DictReader(io.StringIO(text, newline=""), strict=True, restval="")
            if not {"code", "parent"} <= set(reader.fieldnames or ()):
                raise InvalidInput(f"{path}: a code list needs the columns code,parent[,label|name]")
            rows = [_code(row) for row in reader]
            _ = [row.span for row in rows]
        except (ValueError, csv.Error) as error:
            raise InvalidInput(f"{path}: {error}") from error
        for row in rows:
            _refuse_unprintable(str(path), row.code, row.label, row.unit)
        if not rows:
            raise InvalidInput(f"{path}: the code list is empty")
        return rows

    def _settle(self, folder: Path) -> None:
        """Binds the domain to its folder, and refuses what only the code lists can show."""
        self._folder = folder
        self._compositions = frozenset(spec.code for spec in self.aggregates)  # of any time: none of them is ever a country
        for source in self.hierarchies:
            if any(not row.span.endless for row in self._codelist(source)):
                raise InvalidInput(f"{folder / source.codelist}: from and until are for areas. Remedy: leave the columns out")
        self._digest = self._sum()
        if self._lasts:
            self._check(self.id)
            return
        for span in stretches(span for _, span in self._valid()):
            if any(spec.span.covers(span) for spec in self.aggregates):
                self._within(span, f"{self.id} {span}")

    @cached_property
    def expected_keys(self) -> frozenset[tuple[str, ...]]:
        """(area, indicator, code of each hierarchy) of every cell that is expected to have a record."""
        if self.expected is None:
            return frozenset()
        path = self._folder / self.expected.keys
        columns = (self.areas.dimension, self.indicator_dimension, *(source.dimension for source in self.hierarchies))
        try:
            with path.open(newline="", encoding="utf-8-sig") as lines:
                reader = csv.DictReader(lines)
                if lacking := sorted(set(columns) - set(reader.fieldnames or ())):
                    raise InvalidInput(f"{path}: expected keys need the columns {', '.join(columns)}; {', '.join(lacking)} is missing")
                return frozenset(tuple(row[column] or "" for column in columns) for row in reader)
        except OSError as error:
            raise InvalidInput(f"expected.keys: cannot read {path} ({error.strerror})") from error
        except (UnicodeDecodeError, csv.Error) as error:
            raise InvalidInput(f"{path}: expected keys are a CSV file in utf-8") from error

    def _sum(self) -> str:
        """sha256 of settings, code lists and expected keys."""
        h = hashlib.sha256(self.model_dump_json(exclude={"calendar"}).encode())  # defaults count as if they were written
        h.update(repr([tuple(row) for row in self.area_rows]).encode())
        for source in self.hierarchies:
            h.update((self._folder / source.codelist).read_bytes())
        h.update(repr(sorted(self.expected_keys)).encode())
        return h.hexdigest()

    def _check(self, name: str) -> None:
        """Refuses what contradicts itself, as a domain of countries and compositions that do not change."""
        _refuse_repeated(f"{self.areas.codelist}: areas", self.countries)
        _refuse_repeated("dimensions", (source.dimension for source in (self.areas, *self.hierarchies)))
        _refuse_repeated("indicators", (indicator.code for indicator in self.indicators))
        for relation in self.indicator_relations:
            named = (relation.total, *relation.parts)
            _refuse_repeated(f"indicator relation of {relation.total}", named)
            if unknown := sorted(set(named) - {indicator.code for indicator in self.indicators}):
                raise InvalidInput(f"indicator relation of {relation.total}: {', '.join(unknown)} are no indicators of the domain")
            if apart := [each.code for each in self.indicators if each.code in named and each.rounding is not None]:
                raise InvalidInput(f"indicator relation of {relation.total}: {apart[0]} is rounded by itself. Remedy: drop its rounding")
        if self.flag_when_empty is not None and self.flag_when_empty not in self.flags:
            raise InvalidInput(f"flag_when_empty: {self.flag_when_empty} is not one of the flags {', '.join(self.flags)}")
        codes = [code for spec in self.aggregates for code in (spec.code, spec.partial_code) if code is not None]
        _refuse_unprintable("aggregates", *codes, *(spec.label for spec in self.aggregates))
        _refuse_unprintable("indicators", *(text for each in self.indicators for text in (each.code, each.label, each.unit)))
        _refuse_unprintable(
            "dimensions",
            *(text for each in (self.areas, *self.hierarchies) for text in (each.dimension, each.name)),
            self.indicator_dimension,
        )
        _refuse_unprintable("domain", self.title, self.structure_id, self.frequency)
        _refuse_repeated("codes of aggregates, partial ones included, and countries", (*codes, *self.countries))
        for spec in self.aggregates:
            if spec.members != "all":
                _refuse_repeated(f"members of aggregate {spec.code}", spec.members)
                if unknown := sorted(set(spec.members) - set(self.countries)):
                    raise InvalidInput(f"{name}: aggregate {spec.code}: members {unknown} are not in {self.areas.codelist}")
        _ = self.space
        self._check_units(name)

    def _check_units(self, name: str) -> None:
        """Every cell has a unit, and no sum is of several."""
        lists = {source.dimension: source for source in self.hierarchies}
        for indicator in self.indicators:
            if indicator.unit_of is not None and indicator.unit_of not in lists:
                raise InvalidInput(f"{name}: indicator {indicator.code}: unit_of {indicator.unit_of} is no hierarchy of the domain")
            bare = [row.code for row in self._codelist(lists[indicator.unit_of]) if not row.unit] if indicator.unit_of else []
            if bare:
                raise InvalidInput(
                    f"{lists[str(indicator.unit_of)].codelist}: {', '.join(bare[:5])} ({len(bare)} in all) without a unit, which "
                    f"{indicator.code} needs. Remedy: fill the column unit"
                )
        number = {unit: i for i, unit in enumerate(dict.fromkeys(self.units))}
        if len(number) == 1:
            return
        M, units = self.space.national_relations, [number[unit] for unit in self.units]
        for first, after in pairwise(M.indptr.tolist()):
            cells = M.indices[first:after].tolist()
            if other := next((cell for cell in cells if units[cell] != units[cells[0]]), None):
                total, part = (".".join(self.space.national_keys[cell]) for cell in (cells[0], other))
                raise InvalidInput(
                    f"{name}: {total} would be a sum with {part}, which is in another unit. Remedy: take it out of that total or relation"
                )


def _code(row: dict[str, str]) -> Code:
    since, until, unit, power = (row.get(name) or "" for name in ("from", "until", "unit", "unit_multiplier"))
    return Code(row["code"], row["parent"], row.get("label") or row.get("name") or row["code"], since, until, unit, int(power or 0))


def _refuse_unprintable(where: str, *texts: str) -> None:
    """Codes and labels stand in tables that people open with a spreadsheet, in messages and on pages."""
    for text in texts:
        if formula(text):
            raise InvalidInput(f"{where}: {text!r} {FORMULA}")
        if not text.isprintable():
            raise InvalidInput(f"{where}: {text!r} holds what cannot be printed. Remedy: letters, digits and signs only")


def _refuse_repeated(what: str, codes: Iterable[str]) -> None:
    repeated = sorted(code for code, count in Counter(codes).items() if count > 1)
    if repeated:
        raise InvalidInput(f"{what}: {', '.join(repeated)} stands more than once")


class _UniqueKeys(yaml.CSafeLoader):
    """YAML lets the last of two equal keys count: a flag could lose its protection without a word. Here it is an error."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[Any] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(None, None, "a key must be a word", key.start_mark)
            name = self.construct_object(key, deep=True)
            if name in seen:
                raise yaml.constructor.ConstructorError(None, None, f"key {name} stands twice", key.start_mark)
            seen.add(name)
        return super().construct_mapping(node, deep)


def _refuse_tangles(text: str) -> None:
    """Refuses brackets in brackets without end, and names for pieces that are then repeated: both make much of a small file."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.AliasEvent):
            raise yaml.YAMLError(f"a reference to another place, {event.start_mark}: write it out")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise yaml.YAMLError(f"more than {DEEPEST} levels, {event.start_mark}")


def load_domain(id_or_path: str | Path) -> Domain:
    """The domain of that name, or of that file. Raises InvalidInput naming the file, the key and what is allowed."""
    path = Path(id_or_path)
    if path.suffix not in {".yaml", ".yml"}:
        path = HERE / f"{id_or_path}.yaml"
        if not path.is_file():
            raise InvalidInput(f"no domain named {id_or_path}; known: {', '.join(known_domains())} (or give the path of a .yaml file)")
    text = settings_text(path, FILE_BYTES, "domain file")
    try:
        _refuse_tangles(text)
        domain = Domain.model_validate(yaml.load(text, Loader=_UniqueKeys))
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        if isinstance(error, ValidationError):
            raise InvalidInput(f"{path}: {'; '.join(_told(e) for e in error.errors())}") from error
        raise InvalidInput(f"{path}: not YAML: {error}") from error
    domain._settle(path.parent)
    return domain


def _told(error: ErrorDetails) -> str:
    """The key and what is wrong with it; for a key that does not belong there, those that do."""
    keys, models = _place(error["loc"])
    told = f"{'.'.join(keys)}: {error['msg']}"
    if error["type"] == "extra_forbidden" and len(models) == 1:
        [model] = models
        known = sorted(field.alias or name for name, field in model.model_fields.items())
        told += f". Remedy: leave {keys[-1]} out (known here: {', '.join(known)})"
    return told


def _place(loc: tuple[int | str, ...]) -> tuple[list[str], set[type[BaseModel]]]:
    """The keys on the way to an error, as the file has them, and the models one of which the last stands in. pydantic puts the kind or
    method of a rule, rung or rounding among the keys.
    """
    keys: list[str] = []
    models: set[type[BaseModel]] = {Domain}
    for part in loc:
        chosen = {model for model in models if len(models) > 1 and _is_kind(model, part)}
        if not chosen:
            keys.append(str(part))
        below = {found for model in models if part in model.model_fields for found in _models(model.model_fields[str(part)].annotation)}
        if part is not loc[-1]:
            models = chosen or below or models
    return keys, models


def _is_kind(model: type[BaseModel], part: int | str) -> bool:
    return any(get_origin(field.annotation) is Literal and part in get_args(field.annotation) for field in model.model_fields.values())


def _models(annotation: Any) -> set[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return {annotation}
    return {found for each in get_args(annotation) for found in _models(each)}


def known_domains() -> list[str]:
    """Names of the domains shipped in this folder: a new file here is a new domain, and a new DAG."""
    return sorted(path.stem for path in HERE.glob("*.yaml"))
