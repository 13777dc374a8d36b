"""Who agreed: an account in its own name, or a person for whom the desk vouches. A typed name alone counts no
more.
"""

import sqlalchemy as sa
from alembic import op

from sdc_tasks.warehouse.database.sqlfiles import statements

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.execute(
        f"ALTER TABLE {'operations.approval' if on_postgresql() else 'approval'} ADD COLUMN account TEXT"
    )
    for statement in statements(
        f"migrations/0012_{op.get_context().dialect.name}", op.get_context().dialect.name
    ):
        op.execute(sa.text(statement.replace(":", r"\:")))


def downgrade() -> None:
    if on_postgresql():
        for function in (
            "dissemination.release_people()",
            "operations.submission_gate()",
            "operations.approval_gate()",
        ):
            op.execute(f"DROP FUNCTION {function} CASCADE")
        op.execute("DROP FUNCTION operations.is_person(text)")
        op.execute("ALTER TABLE operations.approval DROP COLUMN account")
        return
    for trigger in ("approval_person", "submission_person", "release_people"):
        op.execute(f"DROP TRIGGER {trigger}")
    op.execute("ALTER TABLE approval DROP COLUMN account")


def on_postgresql() -> bool:
    return op.get_context().dialect.name == "postgresql"
