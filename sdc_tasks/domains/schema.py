"""A domain file: everything about one statistical domain that is not code. Typed, frozen, unknown keys
refused.

`file.py` reads it. The options of a method stand beside the method (`methods/*/options.py`,
`methods/primary.py`); this composes them.

Where a composition or a country belongs to the domain for some time only (`from`, `until`), `Domain.of`
gives the domain of a reference period, as if it had been written for that period alone: whoever asks for
countries or cells takes that one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, PrivateAttr, ValidationError, model_validator

from sdc_tasks.domains.calendar import Calendar
from sdc_tasks.domains.codelists import (
    Code,
    CodelistSource,
    of_registry,
    printable_codes,
    read_codelist,
    refuse_repeated,
    refuse_unprintable,
)
from sdc_tasks.domains.deliveries import Attributes, CheckOptions, Expected, InboxOptions, read_keys
from sdc_tasks.domains.dissemination import DisseminationOptions
from sdc_tasks.domains.groupings import Added, HierarchySource
from sdc_tasks.domains.linked import LinkedOptions
from sdc_tasks.domains.messages import told
from sdc_tasks.domains.registry.folder import Registry
from sdc_tasks.domains.structures import DomainColumns, Structure
from sdc_tasks.domains.suites import OfficeExpectation, read_suite
from sdc_tasks.domains.validity import Bound, Span, stretches
from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.bases.options import BasesOptions
from sdc_tasks.methods.cta.options import CtaOptions
from sdc_tasks.methods.primary import LevelRule
from sdc_tasks.methods.receiver.options import SuppressionOptions
from sdc_tasks.methods.rounding.options import Rounding, SmallCountRounding
from sdc_tasks.model.keys import printed_key
from sdc_tasks.model.profiles import EXTERNAL, named
from sdc_tasks.model.strict import Strict
from sdc_tasks.model.table import Aggregate, Bools, CellSpace, Hierarchy, Ints, linked
from sdc_tasks.model.time.periods import holds, reference

HERE = Path(__file__).parent
_OF_NO_TABLE = (
    "calendar",
    "dissemination",
    "structures",
)  # keys that change nothing in a table; what structures say is added
LONGEST_UNRELATED = 400  # characters, as of a retraction


class Role(StrEnum):
    """What a flag means for protection."""

    PUBLIC = "public"
    PRIMARY = "primary"
    SECONDARY = "secondary"


class Flag(Strict):
    """One code of CONF_STATUS. Codes that a domain file does not list refuse the delivery.

    `units_unknown`: what a cell of this flag has where UNITS was not sent. refuse: nobody knows, so that no
    delivery with such a cell can be attacked by respondents (profiles internal, coalition). one: the office
    states that it is a single unit, who knows the cell.
    """

    role: Role = Field(description="public, primary, or secondary: hidden only to protect others")
    rule: LevelRule | None = Field(
        default=None, description="of a primary flag: how far from the truth the world must be kept"
    )
    units_unknown: Literal["refuse", "one"] = Field(
        default="refuse", description="what a hidden cell has whose UNITS was not sent"
    )
    ends: str | None = Field(
        default=None,
        min_length=1,
        description="of a primary flag: the column of the instant from which on the cell is public, such as "
        "EMBARGO_TIME; without an instant it stays hidden",
    )

    @model_validator(mode="after")
    def _rule_for_primaries(self) -> Flag:
        if (self.role is Role.PRIMARY) != (self.rule is not None):
            raise ValueError("exactly the primary flags have a rule")
        if self.ends is not None and self.role is not Role.PRIMARY:
            raise ValueError("ends: a primary flag alone may have an end")
        return self


class Indicator(Strict):
    """A measured variable; values are integers times 10^−decimals of unit · 10^unit_multiplier.

    `unit_of`, instead of both, names a hierarchy whose code list has a unit for each code (kg, m², pieces).
    `kind: count` (of persons, enterprises and the like), or `integer`: the attacker knows that every value is
    a whole number. `absent`: what a cell without a record means (intake/absent.py). `rounding`: how its
    aggregates are rounded, all together; without it, each goes to a base of its own (`bases`).
    """

    code: str = Field(description="its code on the wire")
    label: str = Field(description="its name for readers")
    unit: str = Field(default="", description="its unit on the wire, such as EUR")
    unit_multiplier: int = Field(default=0, description="power of ten of the unit")
    unit_of: str | None = Field(
        default=None, description="instead of both: the hierarchy whose code list has a unit for each code"
    )
    decimals: int = Field(default=0, ge=0, le=9, description="of its values, in the unit")
    signed: bool = Field(default=False, description="may be negative")
    kind: Literal["magnitude", "count"] = Field(
        default="magnitude", description="count: of persons, enterprises and the like"
    )
    integer: bool = Field(default=False, description="everybody knows that its values are whole numbers")
    absent: Literal["zero", "missing"] | None = Field(
        default=None, description="what a cell without a record means; without it, an error"
    )
    rounding: Rounding | None = Field(
        default=None, description="how its aggregates are rounded, all together; without it, bases"
    )

    @model_validator(mode="after")
    def _whole_without_decimals(self) -> Indicator:
        if self.whole and self.decimals:
            raise ValueError("integer: not together with decimals")
        if bool(self.unit) == (self.unit_of is not None):
            raise ValueError(
                "unit: one for the indicator, or unit_of: the hierarchy whose codes have units; exactly one "
                "of them"
            )
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

    @property
    def counts_aware(self) -> bool:
        """Are its counts rounded so that they withstand somebody who has the program?"""
        return isinstance(self.rounding, SmallCountRounding) and self.rounding.rule_aware


class IndicatorRelation(Strict):
    """A linked indicator: in every area and code, `total` is the sum of `parts`."""

    total: str = Field(description="code of the indicator that is the sum")
    parts: tuple[str, ...] = Field(min_length=1, description="codes of the indicators that add up to it")


class AggregateSpec(Strict):
    """A composition. `members: all` means every country of the domain. `partial_code` names
    the sum where members are missing.

    It belongs to the domain in the periods `from` … `until`, both included. Another of the same code may
    follow it.
    """

    code: str = Field(description="its code in the area dimension")
    label: str = Field(description="its name for readers")
    members: Literal["all"] | tuple[str, ...] = Field(
        description="codes of its countries, or all of the domain"
    )
    partial_code: str | None = Field(
        default=None, description="the code of the sum where members are missing"
    )
    since: Bound | None = Field(
        default=None, alias="from", description="the first period in which it belongs to the domain"
    )
    until: Bound | None = Field(default=None, description="the last such period, included")

    @model_validator(mode="after")
    def _in_order(self) -> AggregateSpec:
        _ = self.span
        return self

    @property
    def span(self) -> Span:
        return Span.of(self.since, self.until)


class AuditOptions(Strict):
    """Attacker profiles (model/profiles), all of which a release must withstand, and
    into how many chunks it is mapped.

    Where a version of the period is out, `vintage` is attacked whether or not it is named. `revision`: what
    somebody knows of how far cells were revised since (methods/attack/vintage.py): `tied` how far, `bounded
    PERCENT` at most so far, `free` nothing.
    """

    profiles: tuple[str, ...] = Field(
        default=(EXTERNAL,), description="attackers that a release must withstand, all of them"
    )
    chunks: int = Field(default=4, ge=1, description="tasks that the audit is mapped into")
    seed: int = Field(default=1, description="of the attacks")
    unjudged: Literal["named", "refused"] = Field(
        default="named",
        description="what happens where more weaker attackers than are counted would have to be "
        "judged for a primary: the certificate and "
        "the report name it, or the release is refused",
    )
    revision: str = Field(
        default="tied",
        pattern=r"^(tied|free|bounded \d+(\.\d+)?)$",
        description="what is known of how far a cell was revised: tied, free, or bounded PERCENT",
    )

    @property
    def revised_by(self) -> float | None:
        """`revision` as percent: 0 where it is known how far, None where nothing is."""
        kind, _, percent = self.revision.partition(" ")
        return {"tied": 0.0, "free": None}.get(kind, float(percent or 0))

    @model_validator(mode="after")
    def _bounded_by_something(self) -> AuditOptions:
        if self.revised_by == 0 and self.revision != "tied":
            raise ValueError(
                "revision: bounded by more than 0 percent. Remedy: revision: tied, for somebody who knows "
                "how far"
            )
        return self

    @model_validator(mode="after")
    def _known_profiles(self) -> AuditOptions:
        if EXTERNAL not in named(self.profiles):
            raise ValueError("profiles: external is always one of them, for it covers every primary")
        return self


class Governance(Strict):
    """Who must agree before a release goes out, and how long confidential bytes are kept.

    `approvals`: how many people must agree, none of whom started a run of the release. `retention_days`:
    after the last that happened in a period; none: for ever.
    """

    approvals: int = Field(
        default=0, ge=0, description="people who must agree, none of whom started a run of the release"
    )
    retention_days: int | None = Field(
        default=None, ge=0, description="days that confidential bytes are kept; without it, for ever"
    )


class MissingCountry(StrEnum):
    """What happens when a country has no accepted delivery."""

    BLOCK = "block"
    PARTIAL = "partial"
    WAIT = "wait"


class Domain(Strict):
    """One statistical domain."""

    id: str = Field(pattern=r"^[a-z0-9_]+$", description="its name, in ids of releases and DAGs")
    title: str = Field(description="its name for readers")
    structure_id: str = Field(description="SDMX dataflow of the deliveries, AGENCY:ID(VERSION)")
    structures: str | None = Field(
        default=None,
        description="structure message (SDMX-ML, SDMX-JSON), or a folder of them as exported from a "
        "registry, relative to the domain file. "
        "The columns and codes of the domain must be those of the data structure of structure_id, and its "
        "content constraints say which "
        "keys may be reported",
    )
    frequency: str = Field(default="A", description="SDMX frequency of the deliveries")
    areas: CodelistSource = Field(description="the dimension of the countries")
    aggregates: tuple[AggregateSpec, ...] = Field(
        min_length=1, description="the compositions whose tables are released"
    )
    indicator_dimension: str = Field(default="INDICATOR", description="the column that names the indicator")
    indicators: tuple[Indicator, ...] = Field(min_length=1, description="what is measured")
    indicator_relations: tuple[IndicatorRelation, ...] = Field(
        default=(), description="indicators that are sums of others"
    )
    hierarchies: tuple[HierarchySource, ...] = Field(
        min_length=1,
        description="the other dimensions, each a tree of codes, and perhaps further sums of them",
    )
    attributes: Attributes = Field(default=Attributes(), description="the columns that carry attributes")
    flags: dict[str, Flag] = Field(
        description="codes of CONF_STATUS; a code that is not listed refuses the delivery"
    )
    flag_when_empty: str | None = Field(
        default=None,
        description="the flag of a record without one; without this, it is refused. With it, a file "
        "with an unknown column is refused",
    )
    checks: CheckOptions = Field(default=CheckOptions(), description="content checks of a delivery")
    suppression: SuppressionOptions = Field(
        default=SuppressionOptions(),
        description="secondaries that the receiver sets where a national "
        "table does not protect its primaries",
    )
    cta: CtaOptions = Field(
        default=CtaOptions(),
        description="controlled tabular adjustment: how much uncertainty the aggregates need",
    )
    bases: BasesOptions = Field(default=BasesOptions(), description="how bases are chosen")
    audit: AuditOptions = Field(default=AuditOptions(), description="whom a release must withstand")
    governance: Governance = Field(
        default=Governance(), description="who must agree, and how long bytes are kept"
    )
    calendar: Calendar = Field(
        default=Calendar(), description="when the deliveries of a period are due, and when it may be seen"
    )
    missing_country: MissingCountry = Field(
        default=MissingCountry.BLOCK, description="what happens when a country has no accepted delivery"
    )
    inbox: InboxOptions = Field(default=InboxOptions(), description="what may lie beside the deliveries")
    expected: Expected | None = Field(default=None, description="which cells had a record last time")
    dissemination: DisseminationOptions = Field(
        default=DisseminationOptions(),
        description="the files that the world gets of a release, beside table.csv",
    )
    unrelated: dict[
        Annotated[str, Field(pattern=r"^[a-z0-9_]+$")], Annotated[str, Field(max_length=LONGEST_UNRELATED)]
    ] = Field(
        default={},
        description="another domain of the same agency to the reason why nothing of either can be "
        "computed from the other, although they "
        "share an indicator, an area and time. Without it, a release beside what that domain published is "
        "refused",
    )
    linked: LinkedOptions = Field(
        default=LinkedOptions(),
        description="what else the statistic publishes: a release is attacked together with it",
    )
    _file: Path = PrivateAttr(default=HERE / "domain.yaml")
    _digest: str = PrivateAttr(default="")
    _span: Span | None = PrivateAttr(default=None)
    _whole: Domain | None = PrivateAttr(default=None)
    _compositions: frozenset[str] = PrivateAttr(default=frozenset())

    def of(self, period: str) -> Domain:
        """The domain of a reference period: its countries and compositions, and a digest of nothing else.

        Raises InvalidInput where that is no period, or another spelling of one (nobody would find what is
        out under it); where the domain has no countries or compositions then; and where one of them is
        valid only for a part of the period.
        """
        try:
            span = Span(*reference(period))
        except ValueError as error:
            raise InvalidInput(f"{self.id}: {error}") from error
        if self._lasts:
            return self
        if self._span is not None:
            if self._span != span:
                raise ValueError(f"{self.id}: this is the domain of another period")
            return self
        for what, each in self._valid():
            if each.meets(span) and not each.covers(span):
                raise InvalidInput(
                    f"{self.id}: {what} is valid {each}, which is a part of {period}. Remedy: whole periods "
                    f"in from and until"
                )
        return self._within(span, f"{self.id} in {period}")

    def at(self, period: str) -> Domain:
        """As `of`, also of the domain of another period: its cells are those of the same domain
        file, its countries may be others.
        """
        return (self._whole or self).of(period)

    @property
    def _lasts(self) -> bool:
        """Does everything belong to the domain for ever?"""
        return self._span is None and all(span.endless for _, span in self._valid())

    def _valid(self) -> list[tuple[str, Span]]:
        """Every composition and area, and when it belongs to the domain."""
        return [
            *((spec.code, spec.span) for spec in self.aggregates),
            *((row.code, row.span) for row in self.area_rows),
        ]

    def _within(self, span: Span, name: str) -> Domain:
        """The domain of a span of time in which nothing changes. Raises InvalidInput
        where it contradicts itself then.
        """
        lasting = {"since": None, "until": None}
        kept = tuple(spec.model_copy(update=lasting) for spec in self.aggregates if spec.span.covers(span))
        other = self.model_copy(update={"aggregates": kept})
        for name_of, member in vars(Domain).items():
            if isinstance(member, cached_property):
                other.__dict__.pop(name_of, None)
        other._span, other._whole = span, self
        if not kept or not other.countries:
            raise InvalidInput(
                f"{name}: no {'country' if kept else 'composition'} is valid then. Remedy: see from and "
                f"until in the domain file"
            )
        other._check(name)
        other._digest = other._sum()
        return other

    def with_profiles(self, profiles: tuple[str, ...]) -> Domain:
        """The same domain, attacked by these profiles. Raises InvalidInput for profiles that no audit can
        have.
        """
        try:
            audit = AuditOptions.model_validate({**self.audit.model_dump(), "profiles": profiles})
        except ValidationError as error:
            raise InvalidInput("; ".join(told(e, AuditOptions) for e in error.errors())) from error
        other = self.model_copy(update={"audit": audit})
        other._digest = hashlib.sha256(f"{self.digest} {profiles}".encode()).hexdigest()
        return other

    @property
    def digest(self) -> str:
        """sha256 of the settings, with their defaults, and of the code lists. It leaves out the
        calendar and the formats of the published files: next year's dates, and one more format,
        make no new release of this year.
        """
        return self._digest

    @cached_property
    def countries(self) -> tuple[str, ...]:
        """Every area of the code list that is not an aggregate, in the order of the list. Raises
        ValueError where it takes a period.
        """
        if self._span is None and not self._lasts:
            raise ValueError(
                f"{self.id}: its countries and compositions change in time; take the domain of a period"
            )
        return tuple(row.code for row in self.area_rows if row.code not in self._compositions)

    @cached_property
    def labels(self) -> dict[str, dict[str, str]]:
        """dimension → code → label, for reports."""
        found = {
            source.dimension: {row.code: row.label for row in self.rows(source)}
            for source in (self.areas, *self.hierarchies)
        }
        found[self.areas.dimension].update({spec.code: spec.label for spec in self.aggregates})
        found[self.indicator_dimension] = {indicator.code: indicator.label for indicator in self.indicators}
        return found

    @property
    def settings(self) -> dict[str, Any]:
        """All that the digest is of, as JSON knows it, with the code lists: dimension →
        [code, parent, label] in file order.
        """
        lists = {
            source.dimension: [list(row[:3]) for row in self.rows(source)] for source in self.hierarchies
        }
        lists[self.areas.dimension] = [list(row[:3]) for row in self.area_rows]
        told = self.model_dump(mode="json", exclude_none=True, exclude=self._left_out) | {"codelists": lists}
        sums = {
            dimension: [[total, list(parts)] for total, parts in added.sums]
            for dimension, added in self._grouped.items()
        }
        suite = {} if self.checks.suite is None else {"suite": self._told_suite}
        return told | ({"sums": sums} if sums else {}) | suite

    @property
    def _told_suite(self) -> list[list[Any]]:
        return [[each.type, each.severity, each.kwargs] for each in self.suite]

    @property
    def _left_out(self) -> dict[str, Any]:
        """What neither settings nor digest have. A file that does not say `unrelated`, `linked`, `suite`, or
        `ends` of a flag, and whose hierarchies have no groupings, has the digest that it always had.
        """
        silent = [name for name in ("unrelated", "linked") if not getattr(self, name)]
        endless = {code: {"ends"} for code, flag in self.flags.items() if flag.ends is None}
        alone = {i: each.silent for i, each in enumerate(self.hierarchies) if each.silent}
        left = {**dict.fromkeys((*_OF_NO_TABLE, *silent), True), "flags": endless, "hierarchies": alone}
        return {**left, **({"checks": {"suite"}} if self.checks.suite is None else {})}

    @property
    def draws(self) -> bool:
        """Is anything of its tables drawn at random, by the secret of the warehouse?"""
        return self.bases.rule_aware or any(each.rounding is not None for each in self.indicators)

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The indicators in groups that no relation links: bases are chosen for each group by itself.
        Where bases are `rule_aware`, all that go to bases are one group, because one test of the width
        speaks of all of them (METHOD §9).
        """
        links = [(each.total, each.parts) for each in self.indicator_relations]
        to_bases = [each.code for each in self.indicators if each.rounding is None]
        if self.bases.rule_aware and to_bases:
            links.append((to_bases[0], tuple(to_bases[1:])))
        return linked([each.code for each in self.indicators], links)

    @property
    def largest_first(self) -> list[int]:
        """The numbers of the groups, the largest first: where several are decided at
        once, the longest work begins first.
        """
        return sorted(range(len(self.groups)), key=lambda number: -len(self.groups[number]))

    @cached_property
    def units(self) -> tuple[tuple[str, int], ...]:
        """(unit, power of ten) of every cell of a national table."""
        own = {each.code: (each.unit, each.unit_multiplier) for each in self.indicators}
        by_code = {
            source.dimension: {row.code: (row.unit, row.unit_multiplier) for row in self.rows(source)}
            for source in self.hierarchies
        }
        at = {source.dimension: 1 + i for i, source in enumerate(self.hierarchies)}
        of = {each.code: each.unit_of for each in self.indicators}
        return tuple(
            own[key[0]] if (dimension := of[key[0]]) is None else by_code[dimension][key[at[dimension]]]
            for key in self.space.national_keys
        )

    @cached_property
    def unit_at(self) -> tuple[tuple[tuple[str, int], ...], Ints]:
        """The different (unit, power of ten) of the table; and (cells,): which of them
        each cell of a national table has.
        """
        number = {unit: i for i, unit in enumerate(dict.fromkeys(self.units))}
        return tuple(number), np.array([number[unit] for unit in self.units], dtype=np.int64)

    def unit_by_code(self, indicator: str) -> bool:
        """Does the unit of an indicator stand in a code list?"""
        return any(each.unit_of is not None for each in self.indicators if each.code == indicator)

    @cached_property
    def space(self) -> CellSpace:
        """The cells of a release with every country present."""
        return self.space_of(self.countries)

    def space_of(self, delivered: tuple[str, ...]) -> CellSpace:
        """The cells of a release with these countries. An aggregate with missing members goes under its
        partial code.

        Raises InvalidInput where an aggregate has missing members and no partial code, or no member at all.
        """
        return CellSpace(
            countries=tuple(country for country in self.countries if country in delivered),
            aggregates=tuple(self._aggregate(spec, delivered) for spec in self.aggregates),
            indicators=tuple(indicator.code for indicator in self.indicators),
            hierarchies=tuple(self._hierarchy(source) for source in self.hierarchies),
            indicator_relations=tuple((each.total, each.parts) for each in self.indicator_relations),
        )

    def _aggregate(self, spec: AggregateSpec, delivered: tuple[str, ...]) -> Aggregate:
        """The aggregate of those of its members that have delivered, as `space_of`."""
        wanted = self.countries if spec.members == "all" else spec.members
        members = tuple(country for country in wanted if country in delivered)
        code = spec.code if len(members) == len(wanted) else spec.partial_code
        if code is None or not members:
            missing = sorted(set(wanted) - set(members))
            raise InvalidInput(
                f"{spec.code}: no delivery from {', '.join(missing)}, and the domain file gives no "
                f"partial_code for it"
            )
        return Aggregate(code, members)

    def _hierarchy(self, source: HierarchySource) -> Hierarchy:
        listed = self._listed(source)
        added = self._added(source, listed)
        rows = [*listed, *added.codes]
        try:
            return Hierarchy(
                source.dimension,
                tuple(row.code for row in rows),
                tuple(row.parent or None for row in rows),
                added.sums,
            )
        except ValueError as error:
            where = ", ".join([str(self._list(source)), *source.places(self._file)])
            remedy = (
                ". Remedy: correct the groupings, so that each sum counts a code once" if added.sums else ""
            )
            raise InvalidInput(f"{where}: {error}{remedy}") from error

    @property
    def _grouped(self) -> dict[str, Added]:
        """What groupings add to each dimension that has some."""
        return {
            source.dimension: self._added(source, self._listed(source))
            for source in self.hierarchies
            if source.groupings or source.correspondences
        }

    def _added(self, source: CodelistSource, listed: Sequence[Code]) -> Added:
        """What the groupings of a dimension add to its code list."""
        if not isinstance(source, HierarchySource):
            return Added()
        return source.added(self._file, self._list(source), listed)

    @cached_property
    def area_rows(self) -> list[Code]:
        """The areas of the code list that are valid then, in file order."""
        rows = self.rows(self.areas)
        span = self._span
        return (
            rows
            if span is None
            else [row._replace(since="", until="") for row in rows if row.span.covers(span)]
        )

    def rows(self, source: CodelistSource) -> list[Code]:
        """The codes of a dimension: those of its list in their order, then totals that its groupings add."""
        listed = self._listed(source)
        return [*listed, *self._added(source, listed).codes]

    def _listed(self, source: CodelistSource) -> list[Code]:
        if source.codelist is not None:
            return read_codelist(self._list(source), source.dimension, source.codelist_id)
        if self.structure is None:
            raise InvalidInput(
                f"{self.id}: {source.dimension} has no codelist. Remedy: name one, or a registry's export as "
                f"structures"
            )
        if source.codelist_id is not None:
            return printable_codes(
                self._list(source),
                (Code(*row) for row in self.structure.registry.codelist(source.codelist_id)),
            )
        return printable_codes(
            self._list(source), (Code(*row) for row in self.structure.rows(source.dimension))
        )

    def _list(self, source: CodelistSource) -> Path:
        """Where the code list of a dimension is."""
        return self.folder / (source.codelist or self.structures or "")

    @property
    def structure(self) -> Structure | None:
        """The data structure that the domain must have; None where it names no structures."""
        return (
            None
            if self.structures is None
            else Structure(Registry(self.folder / self.structures), self.structure_id)
        )

    @cached_property
    def reportable(self) -> Bools | None:
        """(countries, cells of a national table): which records content constraints
        allow; None where there is none.
        """
        return None if self.structure is None else self.structure.reportable(self._columns)

    @property
    def _columns(self) -> DomainColumns:
        """What a data structure must have."""
        attributes, must = self.attributes, ("conf_status", "obs_status", "unit", "unit_multiplier")
        named = {key: getattr(attributes, key) for key in (*must, *sorted(attributes.model_fields_set))}
        codes = {"FREQ": (self.frequency,), attributes.conf_status: tuple(self.flags)}
        if attributes.unit is not None:
            codes[attributes.unit] = tuple(dict.fromkeys(each.unit for each in self.indicators if each.unit))
        return DomainColumns(
            axes={
                self.areas.dimension: self.countries,
                self.indicator_dimension: tuple(each.code for each in self.indicators),
                **{each.dimension: each.codes for each in self.space.hierarchies},
            },
            attributes={key: column for key, column in named.items() if column is not None},
            codes=codes,
            unsaid={each.code for each in self.indicators if each.absent is None},
        )

    def beside(self, folder: Path) -> list[Path]:
        """The files in that folder that make the domain together with its own. One may be
        a folder, of structure messages.
        """
        named = [source.codelist for source in (self.areas, *self.hierarchies)]
        named += [file for source in self.hierarchies for file in source.files]
        named += [self.structures, self.expected.keys if self.expected else None, self.checks.suite]
        return [folder / each for each in dict.fromkeys(named) if each is not None]

    def settle(self, file: Path) -> None:
        """Binds the domain to its file, and refuses what only the code lists beside it can show."""
        self._file = file
        self._compositions = frozenset(
            spec.code for spec in self.aggregates
        )  # of any time: none of them is ever a country
        for source in self.hierarchies:
            if any(not row.span.endless for row in self.rows(source)):
                raise InvalidInput(
                    f"{self._list(source)}: from and until are for areas. Remedy: leave the columns out"
                )
        _ = self.suite  # refused here, not by the first delivery
        self._digest = self._sum()
        if self._lasts:
            self._check(self.id)
            return
        for span in stretches(span for _, span in self._valid()):
            if any(spec.span.covers(span) for spec in self.aggregates):
                self._within(span, f"{self.id} {span}")

    def can_release(self, countries: Collection[str | None]) -> bool:
        """Whether a release can be made of the deliveries of these countries."""
        return self.missing_country is MissingCountry.PARTIAL or set(self.countries) <= {*countries}

    @property
    def file(self) -> Path:
        """The domain file."""
        return self._file

    @property
    def folder(self) -> Path:
        """The folder of the domain file."""
        return self._file.parent

    @cached_property
    def suite(self) -> tuple[OfficeExpectation, ...]:
        """The expectations that the office adds to the checks; none where it has no suite."""
        return (
            () if self.checks.suite is None else read_suite(self.folder / self.checks.suite, self.dimensions)
        )

    @property
    def dimensions(self) -> tuple[str, ...]:
        """The columns of codes of a cell: area, indicator, and those of the hierarchies."""
        hierarchies = (source.dimension for source in self.hierarchies)
        return (self.areas.dimension, self.indicator_dimension, *hierarchies)

    @cached_property
    def expected_keys(self) -> frozenset[tuple[str, ...]]:
        """(area, indicator, code of each hierarchy) of every cell that is expected to have a record."""
        if self.expected is None:
            return frozenset()
        columns = (
            self.areas.dimension,
            self.indicator_dimension,
            *(source.dimension for source in self.hierarchies),
        )
        return read_keys(self.folder / self.expected.keys, columns)

    def _sum(self) -> str:
        """sha256 of settings, code lists and expected keys."""
        h = hashlib.sha256(
            self.model_dump_json(exclude=self._left_out).encode()
        )  # defaults count as if they were written
        h.update(repr([tuple(row) for row in self.area_rows]).encode())
        for source in self.hierarchies:
            if source.codelist is None or of_registry(self._list(source)):
                h.update(repr([tuple(row) for row in self.rows(source)]).encode())
            else:
                h.update(self._list(source).read_bytes())
        if grouped := self._grouped:
            h.update(repr(grouped).encode())
        if self.structure is not None:
            h.update(repr((self.structure.identity, self.structure.registry.contents)).encode())
        h.update(repr(sorted(self.expected_keys)).encode())
        if self.checks.suite is not None:
            h.update(json.dumps(self._told_suite).encode())
        return h.hexdigest()

    def _check(self, name: str) -> None:
        """Refuses what contradicts itself, as a domain of countries and compositions that do not change."""
        refuse_repeated(f"{self._list(self.areas).name}: areas", self.countries)
        refuse_repeated("dimensions", (source.dimension for source in (self.areas, *self.hierarchies)))
        refuse_repeated("indicators", (indicator.code for indicator in self.indicators))
        for relation in self.indicator_relations:
            self._check_relation(relation)
        self._check_codes_in_lists()
        self._check_printable(name)
        refuse_repeated(
            "codes of aggregates, partial ones included, and countries",
            (*self._aggregate_codes(), *self.countries),
        )
        for spec in self.aggregates:
            if spec.members != "all":
                self._check_members(name, spec.code, spec.members)
        self._check_unrelated(name)
        self._check_linked(name)
        self._check_rivals(name)
        self._check_units(name)
        if self.structure is not None:
            self.structure.check(self._columns)
        self._check_aware(name)

    def _check_relation(self, relation: IndicatorRelation) -> None:
        """Refuses a relation of unknown or repeated indicators, or of one that is rounded by itself."""
        named = (relation.total, *relation.parts)
        refuse_repeated(f"indicator relation of {relation.total}", named)
        if unknown := sorted(set(named) - {indicator.code for indicator in self.indicators}):
            raise InvalidInput(
                f"indicator relation of {relation.total}: {', '.join(unknown)} are no indicators of the "
                f"domain"
            )
        rounded = (each.code for each in self.indicators if each.rounding is not None)
        if apart := [code for code in rounded if code in named]:
            raise InvalidInput(
                f"indicator relation of {relation.total}: {apart[0]} is rounded by itself. Remedy: drop "
                f"its rounding"
            )

    def _check_codes_in_lists(self) -> None:
        """Refuses settings that name a flag or a country that is not there."""
        if self.flag_when_empty is not None and self.flag_when_empty not in self.flags:
            raise InvalidInput(
                f"flag_when_empty: {self.flag_when_empty} is not one of the flags {', '.join(self.flags)}"
            )
        if unknown := sorted(set(self.checks.proportion_confirmed) - {row.code for row in self.area_rows}):
            raise InvalidInput(
                f"checks.proportion_confirmed: {', '.join(unknown)} not in {self._list(self.areas).name}"
            )

    def _check_printable(self, name: str) -> None:
        """Refuses words that a file cannot hold, and names that its format does not allow."""
        refuse_unprintable("aggregates", *self._aggregate_codes(), *(spec.label for spec in self.aggregates))
        refuse_unprintable(
            "indicators", *(text for each in self.indicators for text in (each.code, each.label, each.unit))
        )
        refuse_unprintable(
            "dimensions",
            *(text for each in (self.areas, *self.hierarchies) for text in (each.dimension, each.name)),
            self.indicator_dimension,
        )
        refuse_unprintable("domain", self.title, self.structure_id, self.frequency, self.dissemination.policy)
        columns = (
            self.areas.dimension,
            self.indicator_dimension,
            *(each.dimension for each in self.hierarchies),
            self.attributes.unit,
            self.attributes.unit_multiplier,
        )
        self.dissemination.refuse_names(
            name, self.structure_id, (column for column in columns if column is not None)
        )

    def _aggregate_codes(self) -> list[str]:
        """The codes of the aggregates, with those of partial ones."""
        codes = (code for spec in self.aggregates for code in (spec.code, spec.partial_code))
        return [code for code in codes if code is not None]

    def _check_members(self, name: str, code: str, members: Sequence[str]) -> None:
        """Refuses repeated or unknown members of an aggregate."""
        refuse_repeated(f"members of aggregate {code}", members)
        if unknown := sorted(set(members) - set(self.countries)):
            raise InvalidInput(
                f"{name}: aggregate {code}: members {unknown} are not in {self._list(self.areas).name}"
            )

    def _check_unrelated(self, name: str) -> None:
        """Refuses a statement without a reason, and one about the domain itself."""
        if self.id in self.unrelated:
            raise InvalidInput(
                f"{name}: unrelated: {self.id} is this domain, and its year is always a sum of its quarters. "
                f"Remedy: leave it out; say under linked: periods what a year is to its quarters, or release "
                "one frequency only"
            )
        if silent := [domain for domain, reason in self.unrelated.items() if not reason.strip()]:
            raise InvalidInput(
                f"{name}: unrelated: {silent[0]}: no reason. Remedy: say why nothing of it can be computed "
                f"from this domain"
            )
        refuse_unprintable("unrelated", *self.unrelated.values())

    def _check_linked(self, name: str) -> None:
        """Refuses a link to itself or to what is unrelated, and periods of unknown or silent indicators."""
        refuse_repeated("linked: tables", self.linked.tables)
        if self.id in self.linked.tables:
            raise InvalidInput(
                f"{name}: linked: tables: {self.id} is this domain. Remedy: leave it out; its own periods "
                f"are linked by linked: periods"
            )
        if both := sorted(set(self.linked.tables) & set(self.unrelated)):
            raise InvalidInput(
                f"{name}: {both[0]} is linked, and unrelated. Remedy: leave out one of the two"
            )
        if self.linked.reserve and not holds(self.linked.reserve, self.frequency):
            raise InvalidInput(
                f"{name}: linked: reserve: {self.linked.reserve} holds no whole periods of frequency "
                f"{self.frequency}, which is that of the domain. Remedy: name the frequency of the totals, "
                "such as A, or leave it out"
            )
        if isinstance(self.linked.periods, dict):
            codes = {indicator.code for indicator in self.indicators}
            if unknown := sorted(set(self.linked.periods) - codes):
                raise InvalidInput(
                    f"{name}: linked: periods: {', '.join(unknown)} are no indicators of the domain"
                )
            if silent := sorted(codes - set(self.linked.periods)):
                raise InvalidInput(
                    f"{name}: linked: periods: nothing is said of {', '.join(silent)}. Remedy: sum, mean or "
                    f"none for each indicator"
                )

    def _check_rivals(self, name: str) -> None:
        """Refuses small counts where two trees have other inner codes: what is rounded in one does not add up
        in the other.
        """
        counts = [each.code for each in self.indicators if each.least]
        rivals = [tree for tree in self.space.hierarchies if tree.rivals]
        if counts and rivals:
            total = rivals[0].codes[rivals[0].rivals[0]]
            raise InvalidInput(
                f"{name}: indicator {counts[0]}: small counts are rounded in the inner codes of "
                f"{rivals[0].dimension}, and {total} is a sum of others in a grouping. Remedy: leave that "
                f"grouping out, or round in another way"
            )

    def _check_aware(self, name: str) -> None:
        """Refuses what a rule_aware is not offered with: what the program then tells is not known."""
        counts = [each.code for each in self.indicators if each.counts_aware]
        whose = [f"indicator {code}: rounding.rule_aware" for code in counts]
        not_offered = {
            "suppression": self.suppression.active,
            f"audit.profiles other than {EXTERNAL}": self.audit.profiles != (EXTERNAL,),
        }
        if self.bases.rule_aware:
            whose.insert(0, "bases.rule_aware")
            not_offered |= self._not_offered_with_aware_bases()
        taken = [what for what, is_set in not_offered.items() if is_set]
        if whose and taken:
            raise InvalidInput(
                f"{name}: {', '.join(whose)} is not offered together with {'; '.join(taken)}. What that "
                f"tells somebody who has the program "
                "is not known. Remedy: leave out rule_aware, or the other"
            )

    def _not_offered_with_aware_bases(self) -> dict[str, bool]:
        """What `bases.rule_aware` is not offered with → whether the domain has it, in the order of the
        message.
        """
        sliding = any(flag.rule is not None and flag.rule.sliding for flag in self.flags.values())
        found = {"sliding in the rule of a flag": sliding}
        found |= {
            f"indicator {each.code}: rounding": each.rounding is not None and not each.counts_aware
            for each in self.indicators
        }
        found |= {
            f"indicator {each.code}: kind: count or integer": each.rounding is None and each.whole
            for each in self.indicators
        }
        return found | {f"indicator {each.code}: signed": each.signed for each in self.indicators}

    def require_named(self, indicators: Iterable[str]) -> None:
        """Raises ValueError for an indicator that the domain does not name: nobody has said how to protect
        it.
        """
        if unnamed := set(indicators) - {each.code for each in self.indicators}:
            raise ValueError(f"the domain does not say how to protect {', '.join(sorted(unnamed))}")

    def _check_units(self, name: str) -> None:
        """Every cell has a unit, and no sum is of several."""
        for indicator in self.indicators:
            if indicator.unit_of is not None:
                self._check_unit_of(name, indicator.code, indicator.unit_of)
        different, at = self.unit_at
        if len(different) == 1:
            return
        M, units = self.space.national_relations, at.tolist()
        for first, after in pairwise(M.indptr.tolist()):
            cells = M.indices[first:after].tolist()
            if other := next((cell for cell in cells if units[cell] != units[cells[0]]), None):
                total, part = (printed_key(self.space.national_keys[cell]) for cell in (cells[0], other))
                raise InvalidInput(
                    f"{name}: {total} would be a sum with {part}, which is in another unit. Remedy: take it "
                    f"out of that total or relation"
                )

    def _check_unit_of(self, name: str, code: str, dimension: str) -> None:
        """Refuses an indicator with units by the codes of an unknown dimension, or of one without units."""
        sources = [each for each in self.hierarchies if each.dimension == dimension]
        if not sources:
            raise InvalidInput(f"{name}: indicator {code}: unit_of {dimension} is no hierarchy of the domain")
        if bare := [row.code for row in self.rows(sources[0]) if not row.unit]:
            raise InvalidInput(
                f"{self._list(sources[0]).name}: {', '.join(bare[:5])} ({len(bare)} in all) without a unit, "
                f"which {code} needs. Remedy: fill the column unit"
            )
