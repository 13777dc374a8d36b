"""The state of each file as people see it: a second file of a country waits for an answer, or was kept out by one."""

import sqlalchemy as sa
from alembic import op

from sdc_tasks.warehouse.database.sqlfiles import statements

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    """A view: the state is derived, so it cannot become untrue."""
    for statement in statements("migrations/0018", op.get_context().dialect.name):
        op.execute(sa.text(statement))


def downgrade() -> None:
    op.execute(f"DROP VIEW {'operations.' if op.get_context().dialect.name == 'postgresql' else ''}delivery_now")
