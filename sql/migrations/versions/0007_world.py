"""On PostgreSQL the world reads what is out by functions of the owner: no condition of its own, and
no statistics, reach what is not.
"""

import sqlalchemy as sa
from alembic import op

from sdc_tasks.warehouse.database.sqlfiles import statements

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    run("0007_postgresql")


def downgrade() -> None:
    """The world's rights on the views are given back by the next upgrade."""
    run("0007_down_postgresql")


def run(file: str) -> None:
    """SQLite has no accounts: who reads the file reads all of it, and the views stay as they are."""
    if op.get_context().dialect.name == "postgresql":
        for statement in statements(f"migrations/{file}", "postgresql"):
            op.execute(sa.text(statement.replace(":", r"\:")))
