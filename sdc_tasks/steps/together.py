"""Tables of one statistic that come out together: whichever is released first decides for all of them
(methods/linked/together.py). Each table still has its own audit, and its own gate.
"""

from __future__ import annotations

from sdc_tasks import pipeline
from sdc_tasks.errors import InvalidInput, NotTogether
from sdc_tasks.methods.attack import Requirements
from sdc_tasks.model.problem import CELL_ARRAYS, ProtectionProblem
from sdc_tasks.model.progress import Say
from sdc_tasks.model.results import Publication
from sdc_tasks.steps.comparison import read_files
from sdc_tasks.steps.desk import Desk
from sdc_tasks.steps.joint import agreed_rules
from sdc_tasks.steps.linked import not_there, of_release, partner
from sdc_tasks.steps.memory import load, load_from, once
from sdc_tasks.steps.secondaries import by_country, failed
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.confidential import store
from sdc_tasks.warehouse.confidential.secret import salt_of
from sdc_tasks.warehouse.operations import journal

STEP = "together"  # what was taken for this table, and, by table, what is proposed for the others


def propose(desk: Desk, release_id: str) -> None:
    """Stores what was decided for this table together with others, here or with one that is out, if it
    withstands the attack on this table with all that is out. Does nothing where nothing was, or it does not.
    """
    if not desk.domain.linked.together or taken(desk, release_id) is not None:
        return
    problem = load(desk, release_id, "assemble", ProtectionProblem)
    notes = list[str]()

    def note(message: str) -> None:
        notes.append(message)
        desk.say(message)

    found = _decided_before(desk, release_id, problem) or _decide(desk, release_id, problem, note)
    for missing in not_there(desk, release_id):
        note(missing)
    if found is None:
        return
    publication, names = found
    requirements = load(desk, release_id, "baseline", Requirements)
    if pipeline.withstands(problem, publication, requirements, desk.domain):
        note(f"decided together with {names}")
        once(desk, release_id, STEP, "", lambda: publication, notes)
    else:
        desk.say(
            f"what was decided together with {names} does not withstand an attack on this table: it is "
            "decided with what is out"
        )


def taken(desk: Desk, release_id: str) -> Publication | None:
    """What was decided for this table together with others, and withstands the attack on it."""
    if journal.step_output(desk.engine, release_id, STEP) is None:
        return None
    return load(desk, release_id, STEP, Publication)


def _decided_before(
    desk: Desk, release_id: str, problem: ProtectionProblem
) -> tuple[Publication, str] | None:
    """What the release of another table of the period, which is out, has proposed for this one."""
    key = _name_of(desk, problem)
    for each in of_release(desk, release_id):
        if each.period != desk.period or key not in journal.step_outputs(desk.engine, each.release_id, STEP):
            continue
        try:
            return load_from(desk.engine, each.release_id, STEP, Publication, key), each.domain
        except store.CorruptedError:  # purged: this table is decided with what is out
            continue
    return None


def _decide(
    desk: Desk, release_id: str, problem: ProtectionProblem, note: Say
) -> tuple[Publication, str] | None:
    """Decides for this table and those with which the release was opened, and proposes to them."""
    partners = _partners(desk, release_id)
    if not partners:
        return None
    others = list(partners.values())
    domains = [desk.domain, *(at.domain for at, _ in others)]
    problems = [problem, *(each for _, each in others)]
    try:
        agreed_rules(desk, [(each.id, desk.period, each.settings) for each in domains[1:]])
        decided = pipeline.choose_together(problems, domains, desk.say, note)
    except NotTogether as error:
        note(f"not decided together: {error}")
        return None
    except InvalidInput as error:  # the tables contradict each other: the second one would be refused
        raise failed(desk, release_id, error) from None
    for (at, each), publication in zip(others, decided[1:], strict=True):
        _keep(desk, release_id, _name_of(at, each), publication)
    return decided[0], ", ".join(partners)


def _partners(desk: Desk, release_id: str) -> dict[str, tuple[Desk, ProtectionProblem]]:
    """The tables with which the release was opened: domain → its desk and problem."""
    digests = dict[str, set[str]]()
    for name, digest in reader.made_with(desk.engine, release_id):
        digests.setdefault(name, set()).add(digest)
    return {name: _of_partner(desk, name, theirs) for name, theirs in digests.items()}


def _keep(desk: Desk, release_id: str, key: str, publication: Publication) -> None:
    once(desk, release_id, STEP, key, lambda: publication)


def _of_partner(desk: Desk, name: str, noted: set[str]) -> tuple[Desk, ProtectionProblem]:
    """The desk of another table, and its problem, from the deliveries with which this release was opened.
    Raises InvalidInput where its domain file has changed since.
    """
    at = partner(desk, name)
    if at.domain.digest not in noted:
        raise InvalidInput(
            f"{name}: its domain file was changed since this release was opened, together with which it is "
            "decided. Remedy: run the release again; it gets a new id"
        )
    sent = [each for each in store.deliveries(at.engine, name, at.period) if each.key.digest in noted]
    read = [read_files(at, files) for files in by_country(sent).values()]
    tables = [each.table for each in read if each.table is not None]
    return at, pipeline.build_problem(tables, at.domain, salt_of(at.engine, name, at.period))


def _name_of(desk: Desk, problem: ProtectionProblem) -> str:
    """The key of what is proposed for a table: its domain, and a keyed digest of all that is known of its
    cells.
    """
    own = problem.own
    told = (getattr(own, name).tobytes() for name in CELL_ARRAYS)
    digest = own.salt.derive("decided together").digest(desk.domain.digest.encode(), *told)
    return f"{desk.domain.id} {digest[:16]}"
