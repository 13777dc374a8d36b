"""What keys the names of deliveries and releases, encrypted as payloads are; made when the program next
opens the warehouse with its keys.

Deliveries, artefacts and releases that are there already keep the digests that they have: they stand in the
log and in certificates, which nobody changes.
"""

import sqlalchemy as sa
from alembic import op

from sdc_tasks.warehouse.database.sqlfiles import statements

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    on_postgresql = op.get_context().dialect.name == "postgresql"
    op.create_table(
        "secret",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.Column("key_id", sa.Text, nullable=False),
        sa.CheckConstraint("number = 1", name="number"),
        schema="confidential" if on_postgresql else None,
        comment="one row: what keys the names of deliveries and releases, encrypted by the key "
        "that key_id names, which is the one in use",
    )
    run("0009_postgresql" if on_postgresql else "0009_sqlite")


def run(file: str) -> None:
    for statement in statements(f"migrations/{file}", op.get_context().dialect.name):
        op.execute(sa.text(statement.replace(":", r"\:")))


def downgrade() -> None:
    """Names that were made with it stay what they are; another secret makes others."""
    op.drop_table("secret", schema="confidential" if op.get_context().dialect.name == "postgresql" else None)
