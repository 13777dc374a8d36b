"""On PostgreSQL the publication of a cell is looked up once for a statement: a foreign key per row took
half of the time of publishing.
"""

import sqlalchemy as sa
from alembic import op

from sdc_tasks.warehouse.database.sqlfiles import statements

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    run("0014_postgresql")


def downgrade() -> None:
    run("0014_down_postgresql")


def run(file: str) -> None:
    """SQLite looks up a row in less time than it takes to store it: its foreign key stays."""
    if op.get_context().dialect.name == "postgresql":
        for statement in statements(f"migrations/{file}", "postgresql"):
            op.execute(sa.text(statement.replace(":", r"\:")))
