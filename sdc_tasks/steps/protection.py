"""From accepted deliveries to an audited publication. Each step loads, calls one pure
function of `pipeline.py`, and saves.
"""

from __future__ import annotations

import itertools
import json
import time
from dataclasses import replace

import numpy as np

from sdc_tasks import pipeline
from sdc_tasks.confidential import keeps_to_itself
from sdc_tasks.errors import ReleaseBlocked, SdcError
from sdc_tasks.methods.attack import Requirements
from sdc_tasks.model.claim import Proof, claim_of
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import AuditReport, Publication, ReceiverSuppression, SharedWitnesses
from sdc_tasks.model.table import Ints
from sdc_tasks.steps import reserve, together
from sdc_tasks.steps.bases import adjustment_of, tables_found
from sdc_tasks.steps.desk import Desk
from sdc_tasks.steps.identity import drawn_by, require_own
from sdc_tasks.steps.joint import beside_what_is_out, require_own_merge
from sdc_tasks.steps.linked import named, of_release
from sdc_tasks.steps.memory import load, once
from sdc_tasks.steps.secondaries import (
    collect,
    delivered,
    failed,
    made_of,
    open_release,
    report_weak,
    suppress,
)
from sdc_tasks.steps.versions import known, readable, told_so_far
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.confidential import store
from sdc_tasks.warehouse.database.schema import RunState
from sdc_tasks.warehouse.dissemination import publisher
from sdc_tasks.warehouse.operations import journal

IN_COMMON = "in common"  # the key of what the chunks of an audit share, beside their numbers


@keeps_to_itself
def assemble(desk: Desk, opened: str | None = None) -> str:
    """The deliveries of a release as one protection problem, with the secondaries that the receiver sets
    where the domain asks for it. `opened`: the release that `collect` has opened and whose countries
    `suppress` has examined; without it, the release of the deliveries that are accepted now is opened, and
    its countries are examined. Returns the id of the release.

    Raises Retriable while a delivery is received but not judged, InvalidInput where the domain
    does not allow a release of the deliveries, and Unprotectable where no secondaries that the
    receiver may set protect a primary.
    """
    release_id, notes = opened or _examined(desk), list[str]()

    def build() -> ProtectionProblem:
        if desk.domain.suppression.active:
            problem = load(desk, release_id, "collect", ProtectionProblem)
            hidden = [
                load(desk, release_id, "suppress", ReceiverSuppression, country)
                for country in problem.space.countries
            ]
            problem = pipeline.with_secondaries(problem, hidden)
        else:
            problem = delivered(desk, release_id, notes)
        before = readable(desk, release_id, problem)
        told = told_so_far(desk, problem, before)
        return beside_what_is_out(desk, release_id, replace(problem, earlier=told), before, notes)

    try:
        once(desk, release_id, "assemble", "", build, notes)
    except SdcError as error:
        raise failed(desk, release_id, error) from None
    return release_id


def _examined(desk: Desk) -> str:
    """The release of the deliveries that are accepted now, opened, with the secondaries of
    the receiver set or not to be set.
    """
    if desk.domain.suppression.active:
        release_id, countries = collect(desk)
        for country in countries:
            suppress(desk, release_id, country)
        return release_id
    release_id = open_release(desk)
    store.tell(desk.engine, {each.key: () for each in made_of(desk, release_id)})
    return release_id


@keeps_to_itself
def baseline(desk: Desk, release_id: str) -> str:
    """Computes what the national tables alone protect, and tells the countries whose own
    tables leave primaries unprotected.
    """
    problem = load(desk, release_id, "assemble", ProtectionProblem)

    def attack() -> Requirements:
        requirements, lps = pipeline.baseline(problem, desk.domain, desk.say)
        own, before = requirements.unprotected(problem.earlier.profiles)
        out = (
            f"; by these and what is out already: {_by_country(problem, before)}"
            if problem.earlier.profiles
            else ""
        )
        desk.say(
            f"baseline: {len(requirements.cells)} primaries, {lps} LPs; not protected by their own tables: "
            f"{_by_country(problem, own)}{out}"
        )
        return requirements

    digest = once(desk, release_id, "baseline", "", attack)
    together.propose(desk, release_id)
    reserve.propose(desk, release_id)
    report_weak(desk, release_id, problem, load(desk, release_id, "baseline", Requirements))
    return digest


def _by_country(problem: ProtectionProblem, cells: Ints) -> str:
    """The number of these cells by country, as text."""
    names = [problem.space.codes(cell)[0] for cell in cells.tolist()]
    found = zip(*np.unique(names, return_counts=True), strict=True)
    order = {name: i for i, name in enumerate(problem.space.countries)}
    counted = sorted(found, key=lambda each: order.get(str(each[0]), len(order)))
    return ", ".join(f"{country} {number}" for country, number in counted) or "none"


@keeps_to_itself
def audit_chunk(desk: Desk, release_id: str, chunk: int) -> str:
    """Attacks the publication for one chunk of the primaries. The first chunk stores what all have in common;
    where several begin at once, each finds the same.
    """
    problem = load(desk, release_id, "assemble", ProtectionProblem)
    requirements = load(desk, release_id, "baseline", Requirements)
    publication = load(desk, release_id, "bases", Publication)
    tried = pipeline.to_try(problem, adjustment_of(desk, release_id), tables_found(desk, release_id, problem))

    def attack() -> AuditReport:
        once(
            desk, release_id, "audit", IN_COMMON,
            lambda: pipeline.audit_jointly(problem, publication, requirements, desk.domain, tried, desk.say),
        )  # fmt: skip
        joint = load(desk, release_id, "audit", SharedWitnesses, IN_COMMON)
        report = pipeline.audit(
            problem, publication, requirements, desk.domain, chunk, tried, joint, desk.say
        )
        desk.say(f"audit, part {chunk + 1} of {desk.domain.audit.chunks}: {len(report.primaries)} primaries")
        return report

    common = journal.step_output(
        desk.engine, release_id, "audit", IN_COMMON
    )  # damaged, it is made again with the chunks
    return once(desk, release_id, "audit", str(chunk), attack, beside=[common] if common else [])


@keeps_to_itself
def verdict(desk: Desk, release_id: str) -> tuple[str, bool]:
    """Joins the chunks and stores the certificate. Returns its digest and whether the audit passed.

    Raises ReleaseBlocked where a version was published meanwhile that the audit did not know, and where the
    second program merges the cells of related releases otherwise.
    """
    began = time.monotonic()
    require_own(desk, release_id)
    problem, publication, merged = decided(desk, release_id)
    try:
        require_own_merge(desk, release_id, problem)
        out = known(desk, release_id)
    except ReleaseBlocked:
        journal.finish_run(desk.engine, release_id, RunState.BLOCKED)
        raise
    beside = [
        each.publication_digest
        for each in itertools.takewhile(lambda each: each.release_id != release_id, out)
    ]
    certificate = pipeline.certificate(
        problem, publication, merged, desk.domain, desk.period, beside, drawn_by(desk),
        named(of_release(desk, release_id)),
    )  # fmt: skip
    digest = journal.save_audit(
        desk.engine, release_id, merged, certificate, publisher.printed(publication, problem.space)
    )
    journal.record_step(desk.engine, release_id, "verdict", seconds=time.monotonic() - began)
    journal.record_tally(desk.engine, release_id, journal.WITNESSES, Proof.of(merged, 0).witnesses or 0)
    claim = claim_of(json.loads(certificate))
    proof = reader.proof(desk.engine, release_id, reader.audits(desk.engine, release_id)[-1])
    desk.say(f"audit {claim.verdict}: {claim.sentence}; {proof.said}")
    return digest, merged.passed


def decided(desk: Desk, release_id: str) -> tuple[ProtectionProblem, Publication, AuditReport]:
    """The problem, the decision and its whole audit. Raises InvalidInput while a step is missing."""
    chunks = [load(desk, release_id, "audit", AuditReport, str(c)) for c in range(desk.domain.audit.chunks)]
    problem = load(desk, release_id, "assemble", ProtectionProblem)
    return problem, load(desk, release_id, "bases", Publication), pipeline.merge(chunks)
