"""A certificate names the versions beside which it was audited, and the gate asks that these are all that are
out.
"""

import sqlalchemy as sa
from alembic import op

from sdc_tasks.warehouse.database.sqlfiles import statements

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    """Certificates from before name none: a second version of a period is released on a new audit."""
    for statement in statements(
        f"migrations/0017_{op.get_context().dialect.name}", op.get_context().dialect.name
    ):
        op.execute(sa.text(statement.replace(":", r"\:")))


def downgrade() -> None:
    if op.get_context().dialect.name == "postgresql":
        op.execute("DROP FUNCTION dissemination.beside_gate() CASCADE")
    else:
        op.execute("DROP TRIGGER release_beside")
