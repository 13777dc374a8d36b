"""What a release rests on is told twice, and both must agree: by its row, and by the log or the
certificate. JSON columns hold JSON.
"""

import sqlalchemy as sa
from alembic import op

from sdc_tasks.warehouse.database.sqlfiles import statements

revision = "0015"
down_revision = "0014"

SQLITE = (
    "log_told",
    "audit_told",
    "terms_json",
    "submission_json",
    "cycle_json_insert",
    "cycle_json_update",
    "check_result_json_insert",
    "check_result_json_update",
)
POSTGRESQL = (
    "log_told()",
    "audit_told()",
    "json_gate()",
    "told(text, text[])",
    "tells(text, text)",
    "is_list(text)",
)
POSTGRESQL += ("sha256_hex(text)", "instant(timestamptz)")


def upgrade() -> None:
    """Rows that are there already are kept as they are: the gates ask new ones only."""
    for statement in statements(
        f"migrations/0015_{op.get_context().dialect.name}", op.get_context().dialect.name
    ):
        op.execute(sa.text(statement.replace(":", r"\:")))


def downgrade() -> None:
    if op.get_context().dialect.name == "postgresql":
        for function in POSTGRESQL:
            op.execute(sa.text(f"DROP FUNCTION operations.{function} CASCADE"))
        return
    for trigger in SQLITE:
        op.execute(f"DROP TRIGGER {trigger}")
