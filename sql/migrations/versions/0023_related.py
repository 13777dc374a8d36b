"""What may be computed from other figures stays in; what keys names has one itself, that everybody may
know, and is kept elsewhere too.

Both close what an audit of one domain and one warehouse cannot see. The program makes and names the secret
when it has migrated (`sdc_tasks/warehouse/database/migrations.py`): here is no key to encrypt it by.
"""

import sqlalchemy as sa
from alembic import op

from sdc_tasks.warehouse.database.sqlfiles import statements

revision = "0023"
down_revision = "0022"

GATES = (
    "dissemination.related_gate()",
    "dissemination.secret_named()",
    "dissemination.asked_before()",
    "confidential.secret_gate()",
)
FUNCTIONS = ("akin(text, text)", "areas(text)", "agency(text)", "same_time(text, text)", "days(text)")


def upgrade() -> None:
    """Publications that lie beside each other already stay as they are: the check
    `release_beside_related` lists them.
    """
    op.add_column("secret", sa.Column("fingerprint", sa.Text), schema=_schema())
    op.add_column(
        "secret", sa.Column("kept", sa.Boolean, nullable=False, server_default=sa.false()), schema=_schema()
    )
    dialect = op.get_context().dialect.name
    for statement in statements(f"migrations/0023_{dialect}", dialect):
        op.execute(sa.text(statement.replace(":", r"\:")))


def downgrade() -> None:
    if op.get_context().dialect.name == "postgresql":
        for gate in GATES:
            op.execute(f"DROP FUNCTION {gate} CASCADE")
        for function in FUNCTIONS:
            op.execute(f"DROP FUNCTION operations.{function}")
    else:
        for trigger in (
            "release_related",
            "release_secret",
            "release_asked_before",
            "secret_gate",
            "secret_named",
        ):
            op.execute(f"DROP TRIGGER {trigger}")
    for column in ("kept", "fingerprint"):
        op.drop_column("secret", column, schema=_schema())


def _schema() -> str | None:
    return "confidential" if op.get_context().dialect.name == "postgresql" else None
