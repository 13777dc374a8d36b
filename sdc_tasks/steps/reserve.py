"""Room for a longer period: the last release within it may choose its bases so that the totals of the year
come out exact (methods/linked/reserve.py). It only proposes: the release has its own audit and gate.
"""

from __future__ import annotations

from sdc_tasks import pipeline
from sdc_tasks.errors import InvalidInput, Unprotectable
from sdc_tasks.methods.attack import Requirements
from sdc_tasks.methods.bases.ladder import HIDING_TERMS
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Lost, Publication
from sdc_tasks.steps import together
from sdc_tasks.steps.desk import Desk
from sdc_tasks.steps.joint import common_rules, out_of
from sdc_tasks.steps.linked import of_release, room_for
from sdc_tasks.steps.memory import load, once
from sdc_tasks.steps.versions import readable
from sdc_tasks.warehouse.operations import journal

STEP = "reserve"  # what was chosen with room for a longer period


def propose(desk: Desk, release_id: str) -> None:
    """Stores bases that leave room for the longer period that the domain file names, with what they cost now
    and save then. Does nothing, and says so, where they save nothing, where the period is out already, and
    before the releases within it cover it.
    """
    longer = room_for(desk)
    if longer is None or taken(desk, release_id) is not None:
        return
    out = out_of(desk, release_id)
    if together.taken(desk, release_id) is not None:
        desk.say(f"no room for {longer}: decided together with other tables")
        return
    if any(each.period == longer for each in out):
        desk.say(f"no room for {longer}: it is out")
        return
    problem = load(desk, release_id, "assemble", ProtectionProblem)
    rules = common_rules(desk, of_release(desk, release_id))
    before = readable(desk, release_id, problem.own)
    try:
        room = pipeline.leave_room(problem, desk.period, longer, out, desk.domain, rules, desk.say, before)
    except (InvalidInput, Unprotectable) as error:  # what the domain file asks of single cells, for instance
        desk.say(f"no room for {longer}: {error}")
        return
    if room is None:
        desk.say(f"no room for {longer}: what is out does not cover it yet")
        return
    requirements = load(desk, release_id, "baseline", Requirements)
    if not room.saves:
        desk.say(f"no room for {longer}: nothing would be saved then")
    elif not pipeline.withstands(problem, room.publication, requirements, desk.domain):
        desk.say(f"no room for {longer}: the bases do not withstand an attack on this table")
    else:
        note = f"room for {longer}: {_told(room.now)} now, {_told(room.then)} in {longer}"
        desk.say(note)
        once(desk, release_id, STEP, "", lambda: room.publication, [note])


def _told(lost: tuple[Lost, Lost]) -> str:
    """What is lost with the room and without it, as a log may tell it: of a few cells, or where only a few
    make the difference, the loss would tell their values (`Ladder.loss_for_log`).
    """
    cells = [each.cells for each in lost]
    said = f"{cells[0]} cells instead of {cells[1]} not exact"
    few = any(0 < number < HIDING_TERMS for number in (*cells, abs(cells[0] - cells[1])))
    if few or cells[0] == cells[1]:
        return said
    return f"{said} (loss {lost[0].information:.3g} instead of {lost[1].information:.3g})"


def taken(desk: Desk, release_id: str) -> Publication | None:
    """What was chosen with room for a longer period."""
    if journal.step_output(desk.engine, release_id, STEP) is None:
        return None
    return load(desk, release_id, STEP, Publication)
