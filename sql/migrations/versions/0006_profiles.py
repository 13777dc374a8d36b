"""The attacker profiles that the warehouse knows: terms and audits name one or more of them, each once."""

import sqlalchemy as sa
from alembic import op

from sdc_tasks.warehouse.database.sqlfiles import statements

revision = "0006"
down_revision = "0005"

PROFILES = ("external", "internal", "coalition", "vintage")


def upgrade() -> None:
    table = op.create_table(
        "profile",
        sa.Column("name", sa.Text, primary_key=True),
        schema="operations" if on_postgresql() else None,
        comment="the attacker profiles that this warehouse knows; terms and audits name one or "
        "more of them, each once",
    )
    op.bulk_insert(table, [{"name": name} for name in PROFILES])
    run(f"migrations/0006_{dialect()}")


def downgrade() -> None:
    for schema, name in (("dissemination", "release"), ("operations", "audit"), ("operations", "terms")):
        on = f" ON {schema}.{name}" if on_postgresql() else ""
        op.execute(f"DROP TRIGGER {name}_profiles{on}")
    if on_postgresql():
        for function in (
            "dissemination.release_profiles()",
            "operations.profiles_gate()",
            "operations.known_profiles(text)",
        ):
            op.execute(f"DROP FUNCTION {function}")
    op.drop_table("profile", schema="operations" if on_postgresql() else None)


def run(file: str) -> None:
    for statement in statements(file, dialect()):
        op.execute(sa.text(statement.replace(":", r"\:")))


def dialect() -> str:
    return op.get_context().dialect.name


def on_postgresql() -> bool:
    return dialect() == "postgresql"
