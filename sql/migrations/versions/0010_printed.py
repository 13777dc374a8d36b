"""An audit is of everything that is printed, and the gate takes the digest of the stored rows itself;
SQLite refuses what replaces rows.
"""

import sqlalchemy as sa
from alembic import op

from sdc_tasks.warehouse.database.sqlfiles import statements

revision = "0010"
down_revision = "0009"

KEYS = ("release", "publication", "audit", "terms", "submission", "approval", "log", "retraction", "alert")
TRIGGERS = (
    "release_printed",
    "audit_gate",
    "approval_gate",
    "retraction_gate",
    "log_digest",
    *(f"{table}_key" for table in KEYS),
)


def upgrade() -> None:
    """Audits from before do not tell what is printed: they are kept, and nothing more is released on them."""
    op.execute(
        f"ALTER TABLE {'operations.audit' if on_postgresql() else 'audit'} ADD COLUMN printed_digest TEXT"
    )
    for statement in statements(
        f"migrations/0010_{op.get_context().dialect.name}", op.get_context().dialect.name
    ):
        op.execute(sa.text(statement.replace(":", r"\:")))


def downgrade() -> None:
    if on_postgresql():
        op.execute("DROP FUNCTION dissemination.release_printed() CASCADE")
        op.execute("DROP FUNCTION dissemination.printed_digest(text, text, text)")
        op.execute("ALTER TABLE operations.audit DROP COLUMN printed_digest")
        return
    for trigger in TRIGGERS:
        op.execute(f"DROP TRIGGER {trigger}")
    op.execute("ALTER TABLE audit DROP COLUMN printed_digest")
    op.execute("DROP TRIGGER eu_cell_gate")
    op.execute(
        "CREATE TRIGGER eu_cell_gate BEFORE INSERT ON eu_cell WHEN EXISTS (SELECT 1 FROM release WHERE "
        "domain = NEW.domain "
        "AND period = NEW.period AND publication_digest = NEW.publication_digest) "
        "BEGIN SELECT raise(ABORT, 'eu_cell refused: the publication is released'); END"
    )


def on_postgresql() -> bool:
    return op.get_context().dialect.name == "postgresql"
