"""Who agreed to take a release back: where its terms ask for approvals, nobody retracts it alone."""

import sqlalchemy as sa
from alembic import op

from sdc_tasks.warehouse.database.sqlfiles import statements

revision = "0021"
down_revision = "0020"

FUNCTIONS = ("operations.withdrawal_gate()", "operations.log_agreed()", "dissemination.retraction_people()")


def upgrade() -> None:
    """Retractions that are there already are kept as they are: the gate asks new ones only."""
    op.add_column("dag_run", sa.Column("reason", sa.Text), schema=_schema("operations"))
    op.create_table(
        "withdrawal",
        sa.Column("release_id", sa.Text, primary_key=True),
        sa.Column("reason", sa.Text, primary_key=True),
        sa.Column("agreed_by", sa.Text, primary_key=True),
        sa.Column("agreed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("account", sa.Text, nullable=False),
        sa.ForeignKeyConstraint(
            ["release_id"], [f"{'dissemination.' if _schema('') is not None else ''}release.release_id"]
        ),
        sa.CheckConstraint("length(trim(reason)) > 0 AND length(reason) <= 400", name="reason"),
        sa.CheckConstraint("agreed_by = lower(trim(agreed_by)) AND agreed_by <> ''", name="agreed_by"),
        schema=_schema("operations"),
        comment="append-only; who agreed to take exactly this release back for exactly this reason",
    )
    dialect = op.get_context().dialect.name
    for statement in statements(f"migrations/0021_{dialect}", dialect):
        op.execute(sa.text(statement.replace(":", r"\:")))


def downgrade() -> None:
    if op.get_context().dialect.name == "postgresql":
        for function in FUNCTIONS:
            op.execute(f"DROP FUNCTION {function} CASCADE")
    else:
        for trigger in ("retraction_people", "log_agreed"):
            op.execute(f"DROP TRIGGER {trigger}")
    op.drop_table("withdrawal", schema=_schema("operations"))
    op.drop_column("dag_run", "reason", schema=_schema("operations"))


def _schema(name: str) -> str | None:
    return name if op.get_context().dialect.name == "postgresql" else None
