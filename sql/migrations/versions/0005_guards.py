"""Guards against those who know SQL: functions of the owner that nobody hijacks, turns that only
writers take, instants within bounds.
"""

import sqlalchemy as sa
from alembic import op

from sdc_tasks.warehouse.database.sqlfiles import statements

revision = "0005"
down_revision = "0004"

INSTANTS = {
    "operations.artefact": ("stored_at", "purged_at"),
    "operations.delivery": ("received_at",),
    "operations.run": ("started_at", "finished_at"),
    "operations.step": ("finished_at",),
    "operations.audit": ("audited_at",),
    "operations.terms": ("registered_at",),
    "operations.submission": ("embargo", "submitted_at"),
    "operations.approval": ("approved_at",),
    "operations.log": ("recorded_at",),
    "operations.cycle": ("opened_at", "delivery_due", "protection_due", "approval_due", "embargo"),
    "operations.dag_run": ("started_at", "finished_at"),
    "operations.task_run": ("finished_at",),
    "operations.alert": ("raised_at",),
    "dissemination.release": ("released_at", "embargo"),
    "dissemination.retraction": ("retracted_at",),
}
# SQLite keeps text: this form, a day that exists, and the same bounds.
WRONG = (
    "(NEW.{0} IS NOT NULL AND (NEW.{0} NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] "
    "[0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' "
    "OR julianday(NEW.{0}) IS NULL OR NEW.{0} < '1970' OR NEW.{0} >= '3000'))"
)


def upgrade() -> None:
    if not on_postgresql():
        for table, columns in INSTANTS.items():
            bounds_of_sqlite(table.split(".")[1], columns)
        return
    op.create_table(
        "turn",
        sa.Column("name", sa.Text, primary_key=True),
        schema="operations",
        comment="what only one transaction at a time may do: its row is locked by operations.take_turn",
    )
    for table, columns in INSTANTS.items():
        for column in columns:  # what is there already is not asked: an upgrade refuses no row
            op.execute(
                f"ALTER TABLE {table} ADD CONSTRAINT {constraint(table, column)} "
                f"CHECK ({column} >= '1970-01-01 00:00+00' AND {column} < '3000-01-01 00:00+00') NOT VALID"
            )
    run("0005_postgresql")


def downgrade() -> None:
    if not on_postgresql():
        for table in INSTANTS:
            for event in ("insert", "update"):
                op.execute(f"DROP TRIGGER {table.split('.')[1]}_instants_{event}")
        return
    run("0005_down_postgresql")
    for table, columns in INSTANTS.items():
        for column in columns:
            op.execute(f"ALTER TABLE {table} DROP CONSTRAINT {constraint(table, column)}")
    op.drop_table("turn", schema="operations")


def bounds_of_sqlite(table: str, columns: tuple[str, ...]) -> None:
    wrong = " OR ".join(WRONG.format(column) for column in columns)
    for event in ("INSERT", "UPDATE"):
        op.execute(
            sa.text(
                f"CREATE TRIGGER {table}_instants_{event.lower()} BEFORE {event} ON {table} WHEN {wrong} "
                f"BEGIN SELECT raise(ABORT, '{table} refused: an instant out of bounds'); END".replace(
                    ":", r"\:"
                )
            )
        )


def constraint(table: str, column: str) -> str:
    return f"ck_{table.split('.')[1]}_{column}_bounds"


def run(file: str) -> None:
    for statement in statements(f"migrations/{file}", "postgresql"):
        op.execute(sa.text(statement.replace(":", r"\:")))


def on_postgresql() -> bool:
    return op.get_context().dialect.name == "postgresql"
