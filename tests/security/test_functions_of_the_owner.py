"""What runs with the rights of the owner of the tables does only what it says, whoever sets it off."""

from __future__ import annotations

import psycopg
import pytest
from sqlalchemy import text

from sdc_tasks.warehouse.database.checks import run_checks
from sdc_tasks.warehouse.database.engine import writing
from sdc_tasks.warehouse.log import broken, entries, record
from support.security.deployment import Deployment

# A type of pg_catalog, shadowed by a domain of the caller: its CHECK is code of the caller.
TRAP = """
    CREATE TABLE pg_temp.caught (who text);
    GRANT ALL ON pg_temp.caught TO PUBLIC;
    CREATE FUNCTION pg_temp.evil(x pg_catalog.{type}) RETURNS boolean LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO pg_temp.caught VALUES (current_user);
        RETURN true;
    END $$;
    CREATE DOMAIN pg_temp.{type} AS pg_catalog.{type} CHECK (pg_temp.evil(VALUE))
"""
TYPES = ("text", "record", "timestamptz", "int4", "bytea", "bool", "float8")


@pytest.mark.parametrize("role", ["sdc_publisher", "sdc_approver", "sdc_desk", "sdc_pipeline"])
def test_who_writes_the_log_does_not_become_the_owner(deployment: Deployment, role: str) -> None:
    """A domain pg_temp.text, then one entry of the log. TEMP is granted here on purpose:
    the functions hold by themselves.
    """
    with deployment.superuser() as server:
        server.execute(f"GRANT TEMPORARY ON DATABASE {deployment.name} TO PUBLIC")
    engine = deployment.engine(role)
    with writing(engine) as connection:
        for kind in TYPES:
            if kind != "record":
                connection.execute(
                    text(TRAP.format(type=kind).replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS"))
                )
        record(connection, "test", "subject")
        caught = set(connection.execute(text("SELECT who FROM pg_temp.caught")).scalars())
    assert f"{deployment.name}_owner" not in caught
    assert broken(entries(engine)) == []
    engine.dispose()


@pytest.mark.parametrize("role", ["sdc_publisher", "sdc_approver", "sdc_pipeline", "sdc_ui", "sdc_public"])
def test_no_account_makes_temporary_objects_nor_any_other(
    deployment: Deployment, role: str, subtests
) -> None:
    with deployment.connect(role) as prompt:
        for statement in (
            "CREATE TEMPORARY TABLE mine (x integer)",
            "CREATE DOMAIN pg_temp.text AS pg_catalog.text",
            "CREATE FUNCTION pg_temp.f() RETURNS integer LANGUAGE sql AS 'SELECT 1'",
            "CREATE TABLE public.mine (x integer)",
            "CREATE SCHEMA mine",
            "CREATE EVENT TRIGGER mine ON ddl_command_start EXECUTE FUNCTION operations.log_gate()",
            (
                "CREATE TRIGGER mine BEFORE INSERT ON operations.log FOR EACH ROW EXECUTE FUNCTION "
                "operations.log_gate()"
            ),
        ):
            with subtests.test(statement), pytest.raises(psycopg.errors.InsufficientPrivilege):
                prompt.execute(statement)


def test_every_function_is_guarded(deployment: Deployment) -> None:
    """The whole of pg_proc, so that no later function forgets it: pg_temp last, nothing
    executable by everybody, one owner.
    """
    with deployment.superuser() as server:
        found = server.execute(
            """SELECT n.nspname || '.' || p.proname, p.prosecdef, p.proconfig, r.rolname, has_function_privilege('public', p.oid, 'EXECUTE')
               FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace JOIN pg_roles r ON r.oid = p.proowner
               WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'"""  # noqa: E501
        ).fetchall()
    assert len(found) >= 6
    for name, definer, config, owner, public in found:
        assert "search_path=pg_catalog, pg_temp" in (config or []), name
        assert owner == f"{deployment.name}_owner", name
        assert not public, name
        assert name.split(".")[0] in ("confidential", "operations", "dissemination"), (name, definer)


@pytest.mark.parametrize(
    ("check", "damage"),
    [
        ("function_unguarded", "ALTER FUNCTION operations.log_gate() SET search_path = pg_catalog"),
        ("function_unguarded", "ALTER FUNCTION operations.audit_gate() RESET search_path"),
        ("function_unguarded", "GRANT EXECUTE ON FUNCTION operations.take_turn(text) TO PUBLIC"),
        ("account_too_mighty", "GRANT TEMPORARY ON DATABASE {name} TO PUBLIC"),
        ("account_too_mighty", "GRANT CREATE ON DATABASE {name} TO {name}_sdc_ui"),
        ("account_too_mighty", "GRANT CREATE ON SCHEMA public TO {name}_sdc_publisher"),
        ("account_too_mighty", "GRANT CREATE ON SCHEMA operations TO sdc_pipeline"),
        ("account_too_mighty", "GRANT sdc_publisher TO {name}_sdc_pipeline"),
    ],
)
def test_a_check_tells_of_rights_that_a_deployment_must_not_give(
    deployment: Deployment, check: str, damage: str
) -> None:
    pipeline = deployment.engine("sdc_pipeline")
    assert not any(run_checks(pipeline).values())
    with deployment.superuser() as server:
        server.execute(damage.format(name=deployment.name))
    found = run_checks(pipeline)
    with deployment.superuser() as server:
        server.execute("REVOKE CREATE ON SCHEMA operations FROM sdc_pipeline")
    assert [name for name, rows in found.items() if rows] == [check]
    pipeline.dispose()
