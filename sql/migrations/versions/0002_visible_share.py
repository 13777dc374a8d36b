"""The sum of the visible countries in place of a total that is withheld: at least this share of it."""

from alembic import op

revision = "0002"
down_revision = "0001"

CHECK = (
    "visible_share IS NULL OR (visible_share > 0 AND visible_share <= 1 AND value IS "
    "NOT NULL AND rounding_base IS NULL)"
)
BEFORE = "append-only; value is empty where withheld, rounding_base where exact or withheld"
AFTER = (
    "append-only; value is empty where withheld, rounding_base where not rounded; with a visible_share, "
    "value is no total but "
    "the sum of the visible countries, at least that share of it"
)


def upgrade() -> None:
    """In SQL: Alembic would copy the table on SQLite, and lose its triggers."""
    op.execute(
        f"ALTER TABLE {table()} ADD COLUMN visible_share FLOAT(53) CONSTRAINT ck_eu_cell_visible_share CHECK "
        f"({CHECK})"
    )
    if on_postgresql():
        op.create_table_comment("eu_cell", AFTER, existing_comment=BEFORE, schema="dissemination")


def downgrade() -> None:
    op.execute(f"ALTER TABLE {table()} DROP COLUMN visible_share")
    if on_postgresql():
        op.create_table_comment("eu_cell", BEFORE, existing_comment=AFTER, schema="dissemination")


def table() -> str:
    return "dissemination.eu_cell" if on_postgresql() else "eu_cell"


def on_postgresql() -> bool:
    return op.get_context().dialect.name == "postgresql"
