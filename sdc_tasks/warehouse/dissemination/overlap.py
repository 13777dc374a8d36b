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
from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Connection, Engine, select

from sdc_tasks.model.results import Related
from sdc_tasks.warehouse.database.engine import reading
from sdc_tasks.warehouse.database.schema import terms as terms_table
from sdc_tasks.warehouse.database.sqlfiles import clause
from sdc_tasks.warehouse.forms.related import akin, family, links, reached, same_time
from sdc_tasks.warehouse.operations.journal import Terms


def refusal(
    connection: Connection, terms: Terms, period: str, known: Collection[Related] | None = None
) -> str:
    """The reason why this domain may not publish the period, with the remedy; empty where
    nothing that is out speaks against it. `known`: the related publications that its audit knew; None before
    there is one.
    """
    (structure, mine), said = figures(terms.settings), unrelated(terms.settings)
    out = out_of(connection)
    joined = family(terms.settings, terms.domain, [(each.domain, settings) for each, settings in out])
    if known is not None and (missed := _missed(out, joined, (terms.domain, period), known)):
        return (
            f"{missed.domain} {missed.period} is out with another publication than the audit knew. Remedy: "
            f"run the release again: it is then attacked together with that"
        )
    for domain, of, settings in _others(connection, terms.domain, period):
        other, theirs = figures(settings)
        both = sorted(mine & theirs)
        if domain != terms.domain and of == period and other == structure and both:
            return (
                f"{', '.join(both)} of {structure} {period} {'is' if len(both) == 1 else 'are'} published by "
                f"domain {domain}, and an audit "
                f"does not attack two domains together. Remedy: release a further version of domain "
                f"{domain}, or choose other indicators"
            )
        if domain in joined:
            continue
        if not same_time(of, period) or (
            mine and theirs and not {each.upper() for each in mine} & {each.upper() for each in theirs}
        ):
            continue
        if domain == terms.domain:
            return (
                f"{domain} has published {of}, which overlaps {period}: the figures of one are sums or parts "
                f"of the other, and nobody said which. Remedy: say it in the domain file, linked: {{periods: "
                f"sum}} for flows, mean for stocks; both are then attacked together. A retraction does not "
                f"help, for who read it knows it"
            )
        if said.get(domain, "").strip() and links(settings, domain, terms.domain):
            return (
                f"domain {domain}, which has published {of}, says that both are linked, and {terms.domain} "
                f"that they are unrelated. Remedy: say linked: {{tables: [{domain}]}} here, too"
            )
        if not said.get(domain, "").strip() and akin(terms.settings, settings):
            return (
                f"{', '.join(both) or 'indicators'} of {structure.partition(':')[0] or 'an unknown agency'}: "
                f"domain {domain} has published "
                f"{of}, and figures of {terms.domain} {period} may be the same, or sums or parts of them. "
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


def _others(connection: Connection, domain: str, period: str) -> list[tuple[str, str, str | None]]:
    """(domain, period, settings) of all that was published at an overlapping time, but
    for this period of this domain.
    """
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
    return [(row.domain, row.period, known.get((row.domain, row.terms_digest))) for row in out]
