"""One valid chain, written again with one thing changed: refused, found, or nothing that
anybody relies upon. On both engines.

The columns come from the schema: a new one is forged without anybody thinking of it, and fails here until
it is bound, or its reason given.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from sqlalchemy import Engine, create_engine

from sdc_tasks.warehouse.database.engine import acting, open_warehouse
from sdc_tasks.warehouse.database.migrations import migrate
from sdc_tasks.warehouse.keyring import Keyring
from support.payload_key import PAYLOAD_KEY
from support.security.chain import Written, build
from support.security.deployment import deployed
from support.security.forgery import Court, Forgery, columns, forgeries
from support.tried import tried

KEYS = Keyring.of([PAYLOAD_KEY])
NOTES = "what the pipeline notes for operators and pages; nothing is released by it"
ORDER = (
    "when a file came and which of a series it is: delivery_superseded_wrongly "
    "compares them, the log tells what became of it"
)
CLOCK = "an instant of the program, within bounds: a SQLite file has no clock that its writer does not have"
MEMORY = (
    "what the steps find of each other's work: what goes out was audited, and is "
    "compared with it digest by digest"
)


def each_of(reason: str, table: str, names: str) -> dict[str, str]:
    return {table: reason} | {f"{table}.{name}": reason for name in names.split()}


# What may be changed with nobody noticing, and why. A table by itself: its rows may be left out.
HARMLESS = {
    **each_of(
        NOTES,
        "operations.rung",
        "position method outcome objective bound gap seconds reason unprotected accepted chosen",
    ),
    **each_of(NOTES, "operations.finding", "position code severity line cell message"),
    **each_of(NOTES, "operations.check_result", "check severity passed checked failed cells"),
    **each_of(
        NOTES,
        "operations.dag_run",
        "dag_id run_id domain period release_id state triggered_by reason started_at finished_at",
    ),
    **each_of(
        NOTES,
        "operations.task_run",
        "dag_id run_id task_id map_index label state tries seconds said finished_at",
    ),
    **each_of(NOTES, "operations.alert", "domain period kind subject said"),
    **each_of(
        "the calendar as pages show it; the embargo of a release is that of its submission",
        "operations.cycle",
        "period terms_digest areas opened_at delivery_due protection_due approval_due embargo",
    ),
    **each_of(MEMORY, "operations.step", "step key seconds note artefact_digest finished_at"),
    **each_of(
        "what lay in the inbox when it was last looked into; the next look writes it anew",
        "operations.inbox",
        "file digest",
    ),
    **each_of("as inbox", "operations.unread", "domain period file why"),
    **dict.fromkeys(("operations.run.started_at", "operations.run.finished_at"), NOTES),
    **dict.fromkeys((f"operations.delivery.{name}" for name in ("received_at", "series", "version")), ORDER),
    "operations.artefact.kind": (
        "what the bytes are, for people: they are found by digest, and open under it alone"
    ),
    "operations.artefact.stored_at": "from when retention counts; the pipeline stores and purges by it",
    "operations.artefact.digest": "swapped between two of one kind and size: their instants change places",
    "operations.log.details /by": (
        "what an approval adds for people: the account of the operating system, which no database knows"
    ),
    "operations.log.actor": (
        "a typed name; the account beside it is the database's, and decisions are compared with their rows"
    ),
}
HARMLESS_ON_SQLITE = {
    f"{table}.{name}": CLOCK
    for table, name in (
        ("operations.alert", "raised_at"),
        ("operations.terms", "registered_at"),
        ("operations.submission", "submitted_at"),
        ("operations.audit", "audited_at"),
        ("operations.approval", "approved_at"),
        ("operations.withdrawal", "agreed_at"),
        ("operations.log", "recorded_at"),
        ("dissemination.release", "released_at"),
        ("dissemination.retraction", "retracted_at"),
    )
} | {"operations.log.account": "whoever may write the file"}


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def forged(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[list[Written], Court, dict[str, str]]]:
    """A valid chain; an empty warehouse in which it is forged; what is harmless there."""
    if request.param == "sqlite":
        folder: Path = tmp_path_factory.mktemp("chains")
        one, two = (
            open_warehouse(f"sqlite:///{folder / name}.db", KEYS, "tester") for name in ("one", "two")
        )
        for engine in (one, two):
            migrate(engine)
        yield (
            build(
                {"sdc_pipeline": one, "sdc_publisher": acting(one, "robot"), "sdc_desk": acting(one, "anna")}
            ),
            Court(two, KEYS),
            {
                **HARMLESS,
                **HARMLESS_ON_SQLITE,
            },
        )
        return
    server = request.getfixturevalue("postgres_url")
    with deployed(server) as made, deployed(server) as empty:
        actors = {"sdc_pipeline": "tester", "sdc_publisher": "robot", "sdc_desk": "anna"}
        engines: dict[str, Engine] = {role: made.engine(role, actor) for role, actor in actors.items()}
        everybody = create_engine(empty.server.set(database=empty.name))
        yield build(engines), Court(everybody, KEYS, empty.name), HARMLESS
        for engine in (*engines.values(), everybody):
            engine.dispose()


def known_as(forgery: Forgery) -> str:
    """Its column; for what one kind of entry of the log says beside the facts, the place in it too."""
    said = f"{forgery.name} {forgery.how.removeprefix('another ').removesuffix(' left out')}"
    return said if said in HARMLESS else forgery.name


def passed(court: Court, chain: Sequence[Written], wanted: Sequence[Forgery]) -> dict[str, list[str]]:
    """What was neither refused nor found, by column."""
    found: dict[str, list[str]] = {}
    for forgery, verdict in court.try_all(chain, wanted):
        tried(f"forged chains, {'SQLite' if court.sqlite else 'PostgreSQL'}")
        if verdict in ("passed", "afterwards passed"):
            found.setdefault(known_as(forgery), []).append(f"{forgery.how}, {verdict}")
    return found


def test_no_forged_chain_passes(forged) -> None:
    """For each column one way to forge it, another for each of its kinds of change: a part of all that there
    are.
    """
    chain, court, harmless = forged
    chosen: dict[tuple[str, str], list[Forgery]] = {}
    for each in forgeries(chain):
        if known_as(each) not in harmless:
            chosen.setdefault((each.name, each.how if each.column != "details" else each.how[:9]), []).append(
                each
            )
    draw = random.Random(1)
    ways = [draw.choice(alike) for _, alike in sorted(chosen.items())]
    draw.shuffle(ways)
    of_each_column = {each.name: each for each in ways}
    wanted = [*of_each_column.values(), *(each for each in ways if each is not of_each_column[each.name])][
        :160
    ]
    assert {each.name for each in wanted if each.column} >= columns() - harmless.keys() - {
        "operations.profile.name"
    }
    assert passed(court, chain, wanted) == {}


@pytest.mark.exhaustive
def test_no_forged_chain_passes_whatever_is_changed(forged) -> None:
    """All of them; and what is called harmless is."""
    chain, court, harmless = forged
    found = passed(court, chain, list(forgeries(chain)))
    assert {name: ways for name, ways in found.items() if name not in harmless} == {}
    assert harmless.keys() - found.keys() <= {"operations.artefact.digest"}, (
        "what is bound needs no reason why not"
    )


def test_a_right_too_many_is_seen(forged) -> None:
    """The court itself: without its triggers, what was refused passes or is found."""
    chain, court, _ = forged
    wanted = [
        each
        for each in forgeries(chain)
        if each.name == "dissemination.eu_cell.value" and each.how == "last bit"
    ]
    assert all("refused" in verdict for _, verdict in court.try_all(chain, wanted))
    table = "" if court.sqlite else " ON dissemination.release"
    with court.connection.begin() as transaction:
        court.connection.exec_driver_sql(f"DROP TRIGGER release_printed{table}")
        for position, each in enumerate(chain):
            court.write(Written(each.account, each.table, wanted[0].rows.get(position) or each.row))
        assert court.findings() == ["release_of_other_cells"]
        transaction.rollback()
