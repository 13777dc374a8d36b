"""Statements drawn from a grammar, by each role of `sql/roles.sql`: no canary is seen, nothing
changes that the role may not change.
"""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from support.security.canaries import Prompt, Secrets, Violation, as_seen, comparable, fill, watched
from support.security.deployment import ROLES, Deployment, deployed
from support.security.grammar import Around, statements
from support.tried import tried

BATCH = 20
SECRETS = Secrets()
TWIN = Secrets(6215871.843, 8364521.129, "harrier")
Filled = tuple[Deployment, psycopg.Connection]


@pytest.fixture(scope="module")
def filled(postgres_url: str) -> Iterator[Filled]:
    with deployed(postgres_url) as made, fill(made, SECRETS) as server:
        yield made, server


@pytest.fixture(scope="module")
def twin(postgres_url: str) -> Iterator[Filled]:
    """The same warehouse with other canaries."""
    with deployed(postgres_url) as made, fill(made, TWIN) as server:
        yield made, server


def fuzz(filled: Filled, role: str, number: int, seed: str = "") -> None:
    with watched(filled[0], role, SECRETS, filled[1]) as (oracle, prompt):
        drawn = statements(f"{role}{seed}", oracle.around(), number)
        for start in range(0, number, BATCH):
            batch = list(drawn[start : start + BATCH])
            for statement in batch:
                oracle.seen(statement, prompt.observe(statement))
                if "LOCK TABLE" in statement or "advisory" in statement:
                    oracle.writer_goes_on(statement)
                prompt.end()
            oracle.compare(batch)
            tried("statements drawn from the grammar", len(batch))


@pytest.mark.parametrize("role", sorted(ROLES, reverse=True))
def test_no_statement_shows_or_changes_what_it_may_not(filled: Filled, role: str) -> None:
    fuzz(filled, role, 80)


@pytest.mark.exhaustive
@pytest.mark.parametrize("role", sorted(ROLES, reverse=True))
def test_nor_does_any_of_twenty_thousand(filled: Filled, role: str) -> None:
    fuzz(filled, role, 3_340, "exhaustive")


def side_by_side(one: Filled, other: Filled, number: int, seed: str) -> int:
    """The world at two warehouses that differ in what it may not see: what it is told is the
    same. Returns how much was compared.
    """
    compared = 0
    with watched(one[0], "sdc_public", SECRETS, one[1]) as (oracle, here):
        around: Around = oracle.around()
        there = Prompt(other[0], "sdc_public")
        for statement in statements(seed, around, number):
            if comparable(statement):
                told = [
                    as_seen(here.observe(statement)),
                    as_seen(there.observe(statement.replace(one[0].name, other[0].name))),
                ]
                if told[0] != told[1]:
                    raise Violation(
                        f"the world can tell two secrets apart: "
                        f"{statement}\n{told[0][:500]}\n---\n{told[1][:500]}"
                    )
                compared += 1
            for prompt in (here, there):
                prompt.end()
        there.connection.close()
    tried("statements of the world, compared between two warehouses", compared)
    return compared


def test_the_world_cannot_tell_two_secrets_apart(filled: Filled, twin: Filled) -> None:
    assert side_by_side(filled, twin, 400, "world") > 40


@pytest.mark.exhaustive
def test_nor_by_thousands(filled: Filled, twin: Filled) -> None:
    assert side_by_side(filled, twin, 6_000, "worlds") > 1_000


# --- the fuzzer sees what it is there to see ----------------------------------------------------------------

PEEK = """
    CREATE FUNCTION dissemination.peek(what text) RETURNS text LANGUAGE plpgsql SECURITY DEFINER AS $$
    BEGIN
        RETURN (SELECT string_agg(convert_from(content, 'UTF8'), ',') FROM confidential.payload WHERE digest = 'd');
    END $$
"""  # noqa: E501
TOO_MANY = {
    "a table": (
        "sdc_ui",
        "GRANT USAGE ON SCHEMA confidential TO {account}; GRANT SELECT ON confidential.payload TO {account}",
        "saw",
    ),
    "the cells": ("sdc_public", "GRANT SELECT ON dissemination.eu_cell TO {account}", "saw"),
    "statistics": ("sdc_public", "GRANT pg_read_all_data TO {account}", "saw"),
    "a function of the owner": (
        "sdc_public",
        f"{PEEK}; GRANT EXECUTE ON FUNCTION dissemination.peek(text) TO {{account}}",
        "saw",
    ),
    "the server's files": (
        "sdc_ui",
        "GRANT pg_read_server_files TO {account}; GRANT EXECUTE ON FUNCTION pg_read_file(text) TO {account}",
        "saw",
    ),
    "a change": ("sdc_ui", "GRANT UPDATE ON ALL TABLES IN SCHEMA operations TO {account}", "changed|held up"),
    "a deletion": (
        "sdc_approver",
        "GRANT DELETE, TRUNCATE ON ALL TABLES IN SCHEMA operations TO {account}",
        "gone",
    ),
    "objects": ("sdc_public", "GRANT CREATE ON SCHEMA public, dissemination TO {account}", "rights changed"),
    "ownership": ("sdc_desk", "GRANT {name}_owner TO {account}", "rights changed|gone|changed|saw"),
    "a lock": (
        "sdc_ui",
        "GRANT TRUNCATE ON ALL TABLES IN SCHEMA operations TO {account}",
        "held up a writer|gone",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("right", TOO_MANY)
def test_a_right_too_many_is_seen(postgres_url: str, right: str) -> None:
    role, grant, what = TOO_MANY[right]
    with deployed(postgres_url) as made, fill(made, SECRETS) as server:
        server.execute(grant.format(account=f"{made.name}_{role}", name=made.name))
        server.execute(f"SELECT '{SECRETS.text('session')}'")
        with pytest.raises(Violation, match=what):
            fuzz((made, server), role, 6_000)


@pytest.mark.slow
def test_a_view_of_the_tables_lets_the_world_tell_two_secrets_apart(postgres_url: str) -> None:
    """As it was once: conditions on values pushed below the barrier, plans that count what they filter."""
    view = """CREATE OR REPLACE VIEW dissemination.public_cell WITH (security_barrier) AS
        SELECT r.domain, r.period, r.version, c.position, c.cell, c.area, c.indicator, c.value, c.obs_status, c.conf_status,
            c.rounding_base, c.visible_share
        FROM dissemination.release r JOIN dissemination.eu_cell c USING (domain, period, publication_digest)
        WHERE r.embargo IS NULL OR r.embargo <= CURRENT_TIMESTAMP"""  # noqa: E501
    with (
        deployed(postgres_url) as one,
        deployed(postgres_url) as other,
        fill(one, SECRETS) as here,
        fill(other, TWIN) as there,
    ):
        for server in (here, there):
            server.execute(view)
        with pytest.raises(Violation, match="tell two secrets apart"):
            side_by_side((one, here), (other, there), 2_000, "world")
