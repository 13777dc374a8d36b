"""Reference metadata of a published table: how it is protected, and what that cost. As a message of
SDMX-JSON 2.0, by concepts of ESMS.

Confidentiality is concept 7 everywhere. Statistical processing was concept 20 of the first ESMS (21 concepts,
Commission Recommendation 2009/498/EC). SIMS 2.0 and the ESMS that follows it have 19 concepts, because they
join accessibility with clarity, and comparability with coherence: it is S.18 there. The ids, such as
STAT_PROCESS and DATA_COMP, did not change. It is made of public facts alone: of the domain file the kinds of
the rules but no parameter (who knows p of the p% rule narrows an interval by it), and counts that everybody
can make in `table.csv`. Nothing here says how many cells a country hides, or why.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sdc_tasks.domains.schema import Domain
from sdc_tasks.model.table import Ints
from sdc_tasks.report.facts import Header, Loss, Overview
from sdc_tasks.report.overview import overview
from sdc_tasks.report.published.edition import Edition

_SCHEMA = (
    "https://raw.githubusercontent.com/sdmx-twg/sdmx-json/master/metadata-message/tools/schemas/2.0.0/"
    "sdmx-json-metadata-schema.json"
)
_RULES = {
    "p_percent": (
        "the p% rule: the second largest contributor must not be able to estimate the largest one closely"
    ),
    "pq": (
        "the (p, q) rule: as the p% rule, for an attacker who knows something of all contributors beforehand"
    ),
    "nk": "the (n, k) rule: dominance by the n largest contributors",
    "percent": "a share of the value, where no rule on contributors applies",
}
_ROUNDINGS = {
    "small-count": (
        "small counts are rounded so that no published count, nor a difference of several, is small"
    ),
    "controlled": "all values are rounded to multiples of one base and still add up",
    "quadratic": "some values are rounded to multiples of one base at random, and the others are "
    "adjusted; totals stay exact where "
    "they tell no confidential cell",
}


@dataclass(frozen=True)
class Concept:
    """A concept with its number in SIMS 2.0, its number in the ESMS of 2009, the
    sentences that fill it, and its parts.
    """

    id: str
    sims: str
    before: str
    name: str
    sentences: tuple[str, ...] = ()
    parts: tuple[Concept, ...] = ()


@dataclass(frozen=True)
class Cost:
    """What protection cost in one composition and indicator. `largest` and `median`: base / |value| of the
    rounded cells, None where there is none.
    """

    area: Header
    indicator: Header
    cells: Loss
    median: float | None
    largest: float | None


@dataclass(frozen=True)
class ReferenceMetadata:
    """The reference metadata of an edition."""

    edition: Edition
    concepts: tuple[Concept, ...]
    costs: tuple[Cost, ...]

    @cached_property
    def overall(self) -> Loss:
        """The cells of the whole table."""
        return Loss.of(self.edition.publication, np.ones(len(self.edition.publication.cells), dtype=bool))

    @cached_property
    def overview(self) -> Overview:
        """The upper levels of the table, and how much of it is exact."""
        return overview(self.edition.domain, self.edition.space.alone, self.edition.publication)

    def message(self) -> str:
        """As a metadata message of SDMX-JSON 2.0. The figures are parts of the concept `ACCURACY_OVERALL`."""
        edition = self.edition
        losses = [
            {
                "id": "PROTECTION_LOSS",
                "attributes": [
                    {"id": "AREA", "value": each.area.code},
                    {"id": "INDICATOR", "value": each.indicator.code},
                    *(
                        {"id": name.upper(), "value": getattr(each.cells, name)}
                        for name in ("exact", "rounded", "visible", "withheld")
                    ),
                    *(
                        {"id": f"{name}_RELATIVE_BASE", "value": size}
                        for name, size in (("MEDIAN", each.median), ("LARGEST", each.largest))
                        if size is not None
                    ),
                ],
            }
            for each in self.costs
        ]
        report = {
            "id": edition.name,
            "version": f"{edition.version}.0.0",
            "agencyID": edition.agency,
            "name": f"{edition.domain.title}, {edition.period}: how the table is protected",
            "metadataflow": "urn:sdmx:org.sdmx.infomodel.metadatastructure."
            f"Metadataflow={edition.domain.dissemination.metadataflow}",
            "targets": [edition.urn],
            "attributes": [*map(_attribute, self.concepts), {"id": "ACCURACY_OVERALL", "attributes": losses}],
        }
        return (
            json.dumps(
                {"meta": edition.header(_SCHEMA), "data": {"metadataSets": [report]}},
                ensure_ascii=False,
                indent=1,
            )
            + "\n"
        )


def metadata_of(edition: Edition) -> ReferenceMetadata:
    """The reference metadata of an edition."""
    domain = edition.domain
    return ReferenceMetadata(
        edition,
        (
            Concept(
                "CONF",
                "S.7",
                "7",
                "Confidentiality",
                parts=(
                    Concept(
                        "CONF_POLICY",
                        "S.7.1",
                        "7.1",
                        "Confidentiality - policy",
                        (domain.dissemination.policy,),
                    ),
                    Concept(
                        "CONF_DATA_TR",
                        "S.7.2",
                        "7.2",
                        "Confidentiality - data treatment",
                        tuple(_treatment(edition)),
                    ),
                ),
            ),
            Concept(
                "STAT_PROCESS",
                "S.18",
                "20",
                "Statistical processing",
                parts=(
                    Concept("SOURCE_TYPE", "S.18.1", "20.1", "Source data", tuple(_sources(edition))),
                    Concept(
                        "DATA_VALIDATION", "S.18.4", "20.4", "Data validation", tuple(_validation(domain))
                    ),
                    Concept("DATA_COMP", "S.18.5", "20.5", "Data compilation", tuple(_compilation(edition))),
                ),
            ),
        ),
        tuple(_costs(edition)),
    )


def _attribute(concept: Concept) -> dict[str, Any]:
    parts = [_attribute(each) for each in concept.parts]
    text = {"value": " ".join(concept.sentences)} if concept.sentences else {}
    return {"id": concept.id, **text, **({"attributes": parts} if parts else {})}


def _treatment(edition: Edition) -> Iterator[str]:
    domain, publication = edition.domain, edition.publication
    yield from _of_countries(domain)
    yield (
        "A total of countries is published exactly only where that brings no attacker closer to a "
        "confidential cell than its rule allows, "
        "or than the table of its own country does anyway."
    )
    if _rounded_apart(edition):
        how = (
            "moved so that they still add up"
            if domain.bases.additive
            else "rounded to a multiple of ROUNDING_BASE"
        )
        yield (
            f"Other totals are {how} (OBS_STATUS E): the total lies within half of ROUNDING_BASE of the "
            f"published value. The base is "
            "chosen so that the attack that is described here fails."
        )
    for indicator in domain.indicators:
        if indicator.rounding is not None:
            within = "A rounded value (OBS_STATUS E) lies within half of ROUNDING_BASE of the total."
            yield f"{indicator.label}: {_ROUNDINGS[indicator.rounding.method]}. {within}"
    if publication.visible.any():
        yield (
            "Some totals are replaced by the sum of the countries whose value is public (OBS_STATUS D), with "
            "the least share of the total "
            "that it covers in VISIBLE_SHARE."
        )
    if publication.withheld.any():
        yield (
            "Totals for which no base was found that is safe and still informs are withheld "
            "(OBS_STATUS Q, CONF_STATUS S)."
        )
    yield from edition.claim


def _of_countries(domain: Domain) -> Iterator[str]:
    """How the tables of countries are protected."""
    kinds = dict.fromkeys(flag.rule.kind for flag in domain.flags.values() if flag.rule is not None)
    yield (
        "Each country decides which cells of its table are confidential, and hides "
        "others beside them, so that none should be computed."
    )
    if kinds:
        rules = "; ".join(_RULES[kind] for kind in kinds)
        yield (
            f"Its reason sets how uncertain a confidential cell must stay: {rules}. The "
            f"parameters of the rules are not published."
        )
    if domain.suppression.receiver != "never":
        yield (
            "Where the table of a country does not protect its confidential cells, further "
            "cells of it are hidden."
        )


def _rounded_apart(edition: Edition) -> bool:
    """Is any cell rounded to a base of its own, and not with its whole indicator?"""
    own = np.array([indicator.rounding is None for indicator in edition.domain.indicators])
    return bool((edition.publication.rounded & own[_indicator(edition)]).any())


def _indicator(edition: Edition) -> Ints:
    """(cells,): the number of the indicator of each published cell."""
    space = edition.space
    return edition.publication.cells % space.national_size // (space.national_size // len(space.indicators))


def _sources(edition: Edition) -> Iterator[str]:
    domain, space = edition.domain, edition.space
    yield (
        f"Complete national tables of {len(space.countries)} countries, confidential "
        f"cells included, sent by their statistical offices."
    )
    if missing := [code for code in domain.countries if code not in space.countries]:
        yield (
            f"Not included, because there is no accepted table: {', '.join(missing)}. Totals "
            f"that miss a member have a code of their own."
        )


def _validation(domain: Domain) -> Iterator[str]:
    checks = domain.checks
    yield "Each national table is checked when it arrives: known codes, known units, no cell twice."
    if checks.additivity is not None:
        yield "Totals must be the sums of their parts, within a tolerance."
    if checks.complete_keys is not None:
        yield "No cell may be missing without a reason."
    if checks.non_negative is not None:
        yield "Values below zero are found, unless the indicator may have them."


def _compilation(edition: Edition) -> Iterator[str]:
    labels = edition.domain.labels[edition.domain.areas.dimension]
    for aggregate in edition.space.aggregates:
        name = labels.get(aggregate.code) or aggregate.code
        yield f"{name} ({aggregate.code}) is the sum of {', '.join(aggregate.members)}."
    if edition.secret:
        yield (
            f"What is drawn at random follows from a secret that is named {edition.secret}. A table of this "
            f"period under another name was "
            "drawn anew."
        )
    if _rounded_apart(edition) and not edition.domain.bases.additive:
        yield "Totals are rounded each to a base of its own, so that published values need not add up."


def _costs(edition: Edition) -> Iterator[Cost]:
    domain, space, publication = edition.domain, edition.space, edition.publication
    area, indicator = publication.cells // space.national_size, _indicator(edition)
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = publication.base / np.abs(publication.value)
    for i, code in enumerate(space.areas):
        for k, each in enumerate(domain.indicators):
            mine = (area == i) & (indicator == k)
            if not mine.any():
                continue
            sizes = relative[mine & publication.rounded & (publication.value != 0)]
            yield Cost(
                Header(code, domain.labels[domain.areas.dimension].get(code) or code),
                Header(each.code, each.label),
                Loss.of(publication, mine),
                float(np.median(sizes)) if len(sizes) else None,
                float(sizes.max()) if len(sizes) else None,
            )
