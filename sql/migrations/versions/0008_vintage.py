"""A version of a period goes out only with an audit by somebody who kept the versions before; and a
profile for who knows revisions.
"""

import sqlalchemy as sa
from alembic import op

from sdc_tasks.warehouse.database.sqlfiles import statements

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.execute(f"INSERT INTO {profile()} VALUES ('revision')")
    for statement in statements(f"migrations/0008_{dialect()}", dialect()):
        op.execute(sa.text(statement))


def downgrade() -> None:
    if dialect() == "postgresql":
        op.execute("DROP TRIGGER release_vintage ON dissemination.release")
        op.execute("DROP FUNCTION dissemination.vintage_gate()")
    else:
        op.execute("DROP TRIGGER release_vintage")
    op.execute(f"DELETE FROM {profile()} WHERE name = 'revision'")


def profile() -> str:
    return "operations.profile" if dialect() == "postgresql" else "profile"


def dialect() -> str:
    return op.get_context().dialect.name
