"""The log: a chain that shows every change made to it afterwards, by whatever means; both
engines write the same digests.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from sqlalchemy import insert
from sqlalchemy.exc import DBAPIError, IntegrityError

from sdc_tasks.warehouse.confidential.store import receive, refuse
from sdc_tasks.warehouse.database.engine import reading, writing
from sdc_tasks.warehouse.database.schema import log
from sdc_tasks.warehouse.forms.canonical import digest_of_entry
from sdc_tasks.warehouse.log import Entry, broken, entries, record
from sdc_tasks.warehouse.operations.decisions import retract
from support.accepting import accept
from support.laws import law
from support.world import SECOND, in_parallel, prepared, publish_it, raw


def test_everything_that_counts_is_in_the_log_once(warehouse):
    one, two, bad = (
        receive(warehouse, "sbs", "2024", name, name.encode()).key for name in ("at.csv", "at_v2.csv", "bad")
    )
    for _ in range(2):
        receive(warehouse, "sbs", "2024", "at.csv", b"at.csv")
        accept(warehouse, two, "AT")
        accept(warehouse, one, "AT")
        refuse(warehouse, bad, "AT")
        publish_it(warehouse, prepared(warehouse))
    for _ in range(2):
        retract(warehouse, "r1", "wrong")
    told = [(each.action, each.actor) for each in entries(warehouse)]
    assert told == [
        (action, "tester")
        for action in (
            "make",
            "receive",
            "receive",
            "receive",
            "accept",
            "supersede",
            "refuse",
            "submit",
            "audit",
            "release",
            "retract",
        )
    ]
    assert broken(entries(warehouse)) == []
    assert json.loads(entries(warehouse, one.digest)[1].details)["by"] == two.digest


def _fail(warehouse) -> None:
    with writing(warehouse) as connection:
        record(connection, "test", "r1")
        raise RuntimeError


def test_a_transaction_that_fails_leaves_no_entry(warehouse):
    with pytest.raises(RuntimeError):
        _fail(warehouse)
    assert [each.action for each in entries(warehouse)] == ["make"], "of the secret"


def _record(engine, number: int) -> None:
    for i in range(5):
        with writing(engine) as connection:
            record(connection, "test", f"{number}-{i}")


def test_many_at_once_write_one_chain(warehouse, warehouse_url):
    in_parallel(warehouse_url, _record, *range(4))
    chain = entries(warehouse)
    assert (len(chain), broken(chain)) == (21, []), "the first tells of the secret"
    assert len({entry.subject for entry in chain}) == 21


def made(number: int, previous: str, subject: str = "r1") -> Entry:
    """An entry whose own digest is right."""
    own = (
        number,
        datetime(2026, 1, number, tzinfo=UTC),
        "anna",
        "account",
        "release",
        subject,
        "{}",
        previous,
    )
    return Entry(*own, digest_of_entry(*own))


def chained(*numbers: int) -> list[Entry]:
    """Entries of these numbers, each with the digest of the one before it."""
    chain: list[Entry] = []
    for number in numbers:
        chain.append(made(number, chain[-1].digest if chain else ""))
    return chain


def test_every_change_to_the_chain_shows():
    """By arithmetic alone: each field of each entry, a missing one, two that changed places, a new end."""
    chain = chained(1, 2, 3, 4, 5)
    assert broken(chain) == broken([]) == broken(chain, chain[2].digest) == []
    for i, entry in enumerate(chain):
        for name, value in vars(entry).items():
            other = (
                value + 1
                if isinstance(value, int)
                else datetime(2020, 1, 1, tzinfo=UTC)
                if isinstance(value, datetime)
                else f"{value}x"
            )
            assert broken([*chain[:i], replace(entry, **{name: other}), *chain[i + 1 :]]), (i, name)
    for i in range(4):
        assert broken([*chain[:i], *chain[i + 1 :]])
        assert broken([*chain[:i], chain[i + 1], chain[i], *chain[i + 2 :]])
    assert broken(chain[:4]) == [], "an end that was cut off shows only to who noted it"
    assert broken(chain[:4], chain[4].digest)


def test_a_chain_made_anew_shows_by_its_numbers_alone():
    """Who takes an entry away and computes every digest after it anew leaves a gap in the numbers."""
    assert broken(chained(1, 2, 4, 5)) == ["entry 3 is missing: entry 4 follows"]
    assert broken(chained(2, 3)) == ["entry 1 is missing: entry 2 follows"]


def test_an_entry_put_in_shows_by_what_it_follows_alone():
    """Its number and its own digest are right; it stands on another entry than the one before it."""
    first = made(1, "")
    assert broken([first, made(2, made(1, "", "r2").digest)]) == ["entry 2 does not follow the one before it"]


def test_the_database_takes_no_other_entry_than_the_next(warehouse, subtests):
    publish_it(warehouse, prepared(warehouse))
    last = entries(warehouse)[-1]
    sqlite = warehouse.dialect.name == "sqlite"
    own = {
        "number": last.number + 1,
        "recorded_at": datetime.now(UTC),
        "actor": "a",
        "account": last.account,
        "action": "x",
        "subject": "s",
    }
    own |= {"details": "{}", "previous": last.digest}
    changes = [{"number": last.number}, {"number": last.number + 2}, {"previous": "0" * 64}]
    changes += (
        [] if sqlite else [{"account": "somebody"}, {"digest": "0" * 64}, {}]
    )  # PostgreSQL takes not even the right ones
    for change in changes:
        row = (
            {"digest": digest_of_entry(**{**own, **change}), **own, **change}
            if "digest" not in change
            else {**own, **change}
        )
        with subtests.test(str(change)), pytest.raises(IntegrityError), writing(warehouse) as connection:
            connection.execute(insert(log).values(**row))
    if sqlite:
        with pytest.raises(IntegrityError, match="log"):
            raw(warehouse, "INSERT OR REPLACE INTO log SELECT * FROM log WHERE number = 1")
    else:
        with pytest.raises(DBAPIError, match="append-only"):
            raw(warehouse, "TRUNCATE operations.log")
    assert broken(entries(warehouse)) == []


@law(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=20))
def test_both_engines_know_the_same_digest_of_any_text(warehouse, text):
    """PostgreSQL computes it anew, and refuses another."""
    with writing(warehouse) as connection:
        record(connection, "test", text, note=text)
    assert entries(warehouse)[-1].subject == text
    assert broken(entries(warehouse)) == []


def test_who_changes_an_entry_with_the_triggers_off_is_found(warehouse):
    publish_it(warehouse, prepared(warehouse))
    publish_it(warehouse, prepared(warehouse, "r2", SECOND))
    if warehouse.dialect.name == "sqlite":
        raw(warehouse, "DROP TRIGGER log_update")
    else:
        raw(warehouse, "ALTER TABLE operations.log DISABLE TRIGGER ALL")
    raw(warehouse, "UPDATE operations.log SET actor = 'nobody' WHERE number = 2")
    assert broken(entries(warehouse)) == ["entry 2 was changed: its digest is another"]
    with reading(warehouse) as connection:
        assert connection.execute(log.select().where(log.c.number == 2)).mappings().one()["actor"] == "nobody"
