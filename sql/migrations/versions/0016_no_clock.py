"""No clock ends a rung any more. Of rungs that one ended, by an earlier version of the program, the reason
says so.
"""

from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    """In SQL: Alembic would copy the table on SQLite."""
    op.execute(f"UPDATE {table()} SET reason = reason || ', at its time limit' WHERE clock")
    op.execute(f"ALTER TABLE {table()} DROP COLUMN clock")


def downgrade() -> None:
    op.execute(f"ALTER TABLE {table()} ADD COLUMN clock BOOLEAN NOT NULL DEFAULT FALSE")


def table() -> str:
    return "operations.rung" if op.get_context().dialect.name == "postgresql" else "rung"
