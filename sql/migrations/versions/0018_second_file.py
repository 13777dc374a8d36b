"""The state of each file as people see it: a second file of a country waits for an
answer, or was kept out by one.
"""

import re

import sqlalchemy as sa
from alembic import op

from sdc_tasks.warehouse.database.sqlfiles import statements

revision = "0018"
down_revision = "0017"

TOLD = re.compile(r"told\(l\.details, '(\w+)'\)")
JSON = r"CASE WHEN json_valid(l.details) THEN CAST(json_extract(l.details, '$.\1') AS text) END"


def upgrade() -> None:
    """A view: the state is derived, so it cannot become untrue. On SQLite any client may read it:
    it asks for no function of ours.
    """
    dialect = op.get_context().dialect.name
    for statement in statements("migrations/0018", dialect):
        op.execute(sa.text(TOLD.sub(JSON, statement) if dialect == "sqlite" else statement))


def downgrade() -> None:
    op.execute(
        f"DROP VIEW {'operations.' if op.get_context().dialect.name == 'postgresql' else ''}delivery_now"
    )
