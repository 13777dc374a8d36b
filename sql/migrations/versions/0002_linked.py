"""Releases that are attacked together with related ones may go out beside them: the gate asks for a
certificate that names exactly what is out (`0002_linked.postgresql.sql`, `0002_linked.sqlite.sql`).
"""

import sqlalchemy as sa
from alembic import op

from sdc_tasks.warehouse.database.sqlfiles import statements

revision = "r0002"
down_revision = "r0001"


def upgrade() -> None:
    for statement in statements("migrations/0002_linked", op.get_context().dialect.name):
        _execute(statement)


def downgrade() -> None:
    """The gate of the first revision, which refuses every related release."""
    dialect = op.get_context().dialect.name
    first = [
        each
        for each in statements("migrations/0001_gate", dialect)
        if "release_related" in each or "related_gate" in each
    ]
    if dialect == "postgresql":
        _execute(
            next(each for each in first if "FUNCTION" in each and "TRIGGER release" not in each).replace(
                "CREATE FUNCTION", "CREATE OR REPLACE FUNCTION"
            )
        )
        _execute("DROP FUNCTION operations.knew")
        _execute("DROP FUNCTION operations.links")
        return
    _execute("DROP TRIGGER release_related")
    _execute(first[0])


def _execute(statement: str) -> None:
    op.execute(sa.text(statement.replace(":", r"\:")))
