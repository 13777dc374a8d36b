"""The related releases that are out: other tables of the statistic, and other periods that hold the period or
are within it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from sdc_tasks.model.results import Related
from sdc_tasks.steps.desk import Desk
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.database.engine import reading
from sdc_tasks.warehouse.dissemination import overlap
from sdc_tasks.warehouse.forms.related import family as family_of
from sdc_tasks.warehouse.forms.related import reached
from sdc_tasks.warehouse.reader import ReleaseInfo


def related(desk: Desk) -> list[ReleaseInfo]:
    """The releases of the statistic that are out and that this one must be attacked with, in the order of
    domain, period and version, also those under embargo or retracted.
    """
    mine = desk.domain.id, desk.period
    if not desk.domain.linked:
        return []
    with reading(desk.engine) as connection:
        out = [(each.domain, settings) for each, settings in overlap.out_of(connection)]
    family = family_of(json.dumps(desk.domain.settings), desk.domain.id, out)
    others = [
        each
        for each in reader.releases(desk.engine)
        if each.domain in family and (each.domain, each.period) != mine
    ]
    near = reached(desk.period, {each.period for each in others})
    found = [each for each in others if each.period in near]
    return sorted(found, key=lambda each: (each.domain, each.period, each.version))


def of_release(desk: Desk, release_id: str) -> list[ReleaseInfo]:
    """The related releases with which a release was opened."""
    known = set(reader.made_beside(desk.engine, release_id))
    return sorted(
        (each for each in reader.releases(desk.engine) if each.release_id in known),
        key=lambda each: (each.domain, each.period, each.version),
    )


def named(releases: Sequence[ReleaseInfo]) -> tuple[Related, ...]:
    """These releases as a certificate names them."""
    return tuple(
        sorted(
            {Related(each.domain, each.period, each.version, each.publication_digest) for each in releases}
        )
    )
