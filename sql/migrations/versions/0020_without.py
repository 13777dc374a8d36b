"""Without which newer deliveries somebody agreed to publish stands beside his agreement."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    op.add_column("approval", sa.Column("without", sa.Text), schema=_schema())


def downgrade() -> None:
    op.drop_column("approval", "without", schema=_schema())


def _schema() -> str | None:
    return "operations" if op.get_context().dialect.name == "postgresql" else None
