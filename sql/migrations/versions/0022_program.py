"""What is drawn by a key goes out with what its certificate shows against somebody who has the program."""

import sqlalchemy as sa
from alembic import op

from sdc_tasks.warehouse.database.sqlfiles import statements

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    """Certificates from before show nothing of it: such a release goes out on a new audit."""
    dialect = op.get_context().dialect.name
    for statement in statements(f"migrations/0022_{dialect}", dialect):
        op.execute(sa.text(statement.replace(":", r"\:")))


def downgrade() -> None:
    if op.get_context().dialect.name == "postgresql":
        op.execute("DROP FUNCTION dissemination.program_gate() CASCADE")
    else:
        op.execute("DROP TRIGGER release_program")
