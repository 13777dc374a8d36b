"""Whoever started a run of a release does not agree to it."""

import sqlalchemy as sa
from alembic import op

from sdc_tasks.warehouse.database.sqlfiles import statements

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    dialect = op.get_context().dialect.name
    for statement in statements(f"migrations/0019_{dialect}", dialect):
        op.execute(sa.text(statement.replace(":", r"\:")))


def downgrade() -> None:
    if op.get_context().dialect.name == "postgresql":
        op.execute("DROP FUNCTION operations.approval_by_others() CASCADE")
    else:
        op.execute("DROP TRIGGER approval_by_others")
