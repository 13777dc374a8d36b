"""The figures of a structure and period go out under one domain."""

import sqlalchemy as sa
from alembic import op

from sdc_tasks.warehouse.database.sqlfiles import statements

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    dialect = op.get_context().dialect.name
    for statement in statements(f"migrations/0013_{dialect}", dialect):
        op.execute(sa.text(statement.replace(":", r"\:")))


def downgrade() -> None:
    if op.get_context().dialect.name == "postgresql":
        op.execute("DROP FUNCTION dissemination.one_domain_gate() CASCADE")
    else:
        op.execute("DROP TRIGGER release_one_domain")
