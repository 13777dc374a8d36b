"""Whether what is out could be the same figures as a release, or sums and parts of them.

An audit attacks earlier publications together with the next one: those of the domain and period, and those
of the tables and periods that the domain file links (`linked`). Other figures it does not know. So the
figures of a structure (dataflow, in any version) and period belong to the domain that published them first.
And figures that may be computed from those of another domain, or of another frequency of the same domain,
stay in unless the audit knew exactly what is out of them: the year, minus three public quarters, is the
quarter that somebody hid. A domain file may say why another domain is unrelated. What was retracted stays
known to the world.

The triggers of the database refuse the same.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sqlalchemy import Connection, Engine, select

from sdc_tasks.model.results import Related
from sdc_tasks.warehouse.database.engine import reading
from sdc_tasks.warehouse.database.schema import terms as terms_table
from sdc_tasks.warehouse.database.sqlfiles import clause
from sdc_tasks.warehouse.forms.related import akin, family, links, reached, same_time
from sdc_tasks.warehouse.operations.journal import Terms


@dataclass(frozen=True)
class _Figures:
    """The figures of a period, as the settings of their domain tell them."""

    domain: str
    period: str
    settings: str | None

    @cached_property
    def told(self) -> tuple[str, set[str]]:
        """`figures` of the settings."""
        return figures(self.settings)

    @property
    def structure(self) -> str:
        return self.told[0]

    def shared(self, other: _Figures) -> list[str]:
        """The indicators that both have."""
        return sorted(self.told[1] & other.told[1])

    def are_apart(self, other: _Figures) -> bool:
        """Whether both tell their indicators, and none is the same in any letters."""
        mine, theirs = ({each.upper() for each in of.told[1]} for of in (self, other))
        return bool(mine) and bool(theirs) and not mine & theirs


def refusal(
    connection: Connection, terms: Terms, period: str, known: Collection[Related] | None = None
) -> str:
    """The reason why this domain may not publish the period, with the remedy; empty where
    nothing that is out speaks against it. `known`: the related publications that its audit knew; None before
    there is one.
    """
    out = out_of(connection)
    joined = family(terms.settings, terms.domain, [(each.domain, settings) for each, settings in out])
    if known is not None and (missed := _missed(out, joined, (terms.domain, period), known)):
        return (
            f"{missed.domain} {missed.period} is out with another publication than the audit knew. Remedy: "
            f"run the release again: it is then attacked together with that"
        )
    mine, why = _Figures(terms.domain, period, terms.settings), unrelated(terms.settings)
    for other in _others(connection, terms.domain, period):
        if reason := _published_by(other, mine):
            return reason
        if other.domain in joined:
            continue
        if reason := _computed_from(other, mine, why.get(other.domain, "").strip()):
            return reason
    return ""


def _published_by(other: _Figures, mine: _Figures) -> str:
    """That another domain has published some of these figures; empty where it has not."""
    both, structure, period = mine.shared(other), mine.structure, mine.period
    if other.domain == mine.domain or (other.period, other.structure) != (period, structure) or not both:
        return ""
    return (
        f"{', '.join(both)} of {structure} {period} {'is' if len(both) == 1 else 'are'} published by "
        f"domain {other.domain}, and an audit "
        f"does not attack two domains together. Remedy: release a further version of domain "
        f"{other.domain}, or choose other indicators"
    )


def _computed_from(other: _Figures, mine: _Figures, why_unrelated: str) -> str:
    """That what is out may be the same as these figures, or sums or parts of them; empty where it is not, or
    where the domain file says why it is unrelated.
    """
    domain, of = other.domain, other.period
    if mine.are_apart(other):
        return ""
    if domain == mine.domain:
        return (
            f"{domain} has published {of}, which overlaps {mine.period}: the figures of one are sums or "
            f"parts of the other, and nobody said which. Remedy: say it in the domain file, linked: "
            f"{{periods: sum}} for flows, mean for stocks; both are then attacked together. A retraction "
            f"does not help, for who read it knows it"
        )
    if why_unrelated and links(other.settings, domain, mine.domain):
        return (
            f"domain {domain}, which has published {of}, says that both are linked, and {mine.domain} "
            f"that they are unrelated. Remedy: say linked: {{tables: [{domain}]}} here, too"
        )
    if not why_unrelated and akin(mine.settings, other.settings):
        return (
            f"{', '.join(mine.shared(other)) or 'indicators'} of "
            f"{mine.structure.partition(':')[0] or 'an unknown agency'}: "
            f"domain {domain} has published "
            f"{of}, and figures of {mine.domain} {mine.period} may be the same, or sums or parts of them. "
            f"Remedy: say in the domain file that they are tables of one statistic, linked: {{tables: "
            f"[{domain}]}}: they are then attacked together; or, where nothing of one can be computed "
            f"from the other, say why in the domain "
            f"file: unrelated: {{{domain}: REASON}}. The log and the certificate keep the reason"
        )
    return ""


def _missed(
    out: Sequence[Out], joined: Collection[str], own: tuple[str, str], known: Collection[Related]
) -> Related | None:
    """A version of the `joined` domains that reaches the period, and that the audit did not know. `own`: the
    domain and the period.
    """
    others = [each for each, _ in out if each.domain in joined and (each.domain, each.period) != own]
    near = reached(own[1], {each.period for each in others})
    return next((each for each in sorted(others) if each.period in near and each not in known), None)


Out = tuple[Related, str | None]  # a published version, and the settings of its domain then


def out_of(connection: Connection) -> list[Out]:
    """Every published version."""
    query = clause("queries/related_out", connection.dialect.name)
    return [
        (Related(row.domain, row.period, row.version, row.publication), row.settings)
        for row in connection.execute(query)
    ]


def refused(engine: Engine, terms: Terms, period: str) -> str:
    """`refusal`, in a connection of its own."""
    with reading(engine) as connection:
        return refusal(connection, terms, period)


def unrelated(settings: str) -> dict[str, str]:
    """Domain → why it is unrelated, in the settings of a domain."""
    said: dict[str, str] = json.loads(settings).get("unrelated", {})
    return said


def figures(settings: str | None) -> tuple[str, set[str]]:
    """The structure without its version, and the indicators, in the settings of a
    domain; nothing where there are none.
    """
    told: dict[str, Any] = json.loads(settings or "{}")
    return str(told.get("structure_id", "")).partition("(")[0], {
        each["code"] for each in told.get("indicators", ())
    }


def _others(connection: Connection, domain: str, period: str) -> Iterator[_Figures]:
    """All that was published at an overlapping time, but for this period of this domain."""
    query = clause("queries/others_out", connection.dialect.name)
    out = [
        row
        for row in connection.execute(query, {"period": period, "domain": domain})
        if same_time(row.period, period)
    ]
    wanted = {(row.domain, row.terms_digest) for row in out}
    asked = select(terms_table.c.domain, terms_table.c.digest, terms_table.c.settings)
    known = {
        (of, digest): settings
        for of, digest, settings in connection.execute(
            asked.where(terms_table.c.digest.in_({digest for _, digest in wanted}))
        )
        if (of, digest) in wanted
    }
    for row in out:
        yield _Figures(row.domain, row.period, known.get((row.domain, row.terms_digest)))
