"""The results that steps store for each other in the confidential store. Steps pass ids and digests only.

A step that has stored its result for a release does nothing when it is run again. So a re-run after a failure
continues where it stopped, and ends with the same bytes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from sqlalchemy import Engine

from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.attack import Requirements
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import (
    Adjustment,
    AuditReport,
    CandidateWitnesses,
    Publication,
    ReceiverSuppression,
    SharedWitnesses,
)
from sdc_tasks.solver.tally import solved_lps
from sdc_tasks.steps.desk import Desk
from sdc_tasks.steps.identity import require_own
from sdc_tasks.telemetry import span
from sdc_tasks.warehouse.confidential import artefacts, store
from sdc_tasks.warehouse.operations import journal

Item = TypeVar(
    "Item",
    ProtectionProblem,
    Requirements,
    Adjustment,
    Publication,
    AuditReport,
    ReceiverSuppression,
    CandidateWitnesses,
    SharedWitnesses,
)


def once(
    desk: Desk,
    release_id: str,
    step: str,
    key: str,
    compute: Callable[[], artefacts.Artefact],
    notes: Sequence[str] = (),
    beside: Iterable[str] = (),
) -> str:
    """The digest of the step's result for this release. Computes the result unless it is stored and intact,
    with its results `beside`. Stores the notes.
    """
    require_own(desk, release_id)
    known = journal.step_output(desk.engine, release_id, step, key)
    if known is not None and all(is_sound(desk, each) for each in (known, *beside)):
        return known
    began, solved = time.monotonic(), solved_lps()
    with span("sdc.step", release=release_id, step=step, key=key):
        digest = store.save_artefact(desk.engine, step, artefacts.to_bytes(compute()))
    if took := solved_lps() - solved:
        journal.record_tally(desk.engine, release_id, f"{journal.LPS} {step} {key}".rstrip(), took)
    note = "; ".join(notes)
    journal.record_step(
        desk.engine,
        release_id,
        step,
        key,
        seconds=time.monotonic() - began,
        note=note,
        artefact_digest=digest,
    )
    return digest


def is_sound(desk: Desk, digest: str) -> bool:
    """Is the result of this digest stored and intact?"""
    try:
        store.load_artefact(desk.engine, digest)
    except store.CorruptedError:
        return False
    return True


def load(desk: Desk, release_id: str, step: str, kind: type[Item], key: str = "") -> Item:
    """The result of a step. Raises InvalidInput where the step has not run yet. A protection problem that
    this process has in hand is checked against what is stored, and not made again of its bytes: nearly every
    step needs it, and what follows from it is computed once.
    """
    if kind is not ProtectionProblem:
        return load_from(desk.engine, release_id, step, kind, key)
    digest = journal.step_output(desk.engine, release_id, step, key)
    known = desk.in_hand.problem
    if digest is not None and known is not None and known[0] == digest:
        store.load_artefact(desk.engine, digest)  # raises where it is missing or was changed
        problem = known[1]
    else:
        problem = load_from(desk.engine, release_id, step, ProtectionProblem, key)
        desk.in_hand.problem = (str(digest), problem)
    assert isinstance(problem, kind)
    return problem


def load_from(engine: Engine, release_id: str, step: str, kind: type[Item], key: str = "") -> Item:
    """As `load`, by somebody who has the warehouse and no domain file."""
    digest = journal.step_output(engine, release_id, step, key)
    if digest is None:
        raise InvalidInput(f"{release_id}: step {step} {key} has no result yet. Remedy: run it first")
    return load_of(engine, digest, kind)


def load_of(engine: Engine, digest: str, kind: type[Item]) -> Item:
    """The result that was stored with this digest."""
    item = artefacts.from_bytes(store.load_artefact(engine, digest))
    if not isinstance(item, kind):
        raise TypeError(f"{digest}: a {type(item).__name__}, and no {kind.__name__}")
    return item
