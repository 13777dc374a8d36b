"""What the operator's desk shows: cycles with their instants, runs and tasks of the DAGs,
alerts. The roles as they were then.
"""

import sqlalchemy as sa
from alembic import op

from sdc_tasks.warehouse.database.sqlfiles import statements

revision = "0004"
down_revision = "0003"

INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    schema = within("operations")
    op.create_table(
        "cycle",
        *keys("domain", "period"),
        *(required(column, sa.Text) for column in ("terms_digest", "areas")),
        *(
            sa.Column(column, INSTANT)
            for column in ("opened_at", "delivery_due", "protection_due", "approval_due", "embargo")
        ),
        sa.ForeignKeyConstraint(["domain", "terms_digest"], columns("operations.terms", "domain", "digest")),
        schema=schema,
        comment="a reference period of a domain: the countries awaited (JSON), and the instants "
        "of the release calendar as they stand",
    )
    op.create_table(
        "dag_run",
        *keys("dag_id", "run_id"),
        *(required(column, sa.Text) for column in ("domain", "period")),
        sa.Column("release_id", sa.Text),
        *(required(column, sa.Text) for column in ("state", "triggered_by")),
        *(sa.Column(column, INSTANT) for column in ("started_at", "finished_at")),
        sa.ForeignKeyConstraint(["release_id"], columns("operations.run", "release_id")),
        schema=schema,
        comment="runs of the DAGs as Airflow tells of them; the state is Airflow's, whether "
        "something was published stands in release",
    )
    op.create_index("ix_dag_run_domain_period", "dag_run", ["domain", "period"], schema=schema)
    op.create_table(
        "task_run",
        *keys("dag_id", "run_id", "task_id"),
        sa.Column("map_index", sa.Integer, primary_key=True, autoincrement=False),
        *(required(column, sa.Text) for column in ("label", "state")),
        required("tries", sa.Integer),
        sa.Column("seconds", sa.Float),
        required("said", sa.Text),
        sa.Column("finished_at", INSTANT),
        schema=schema,
        comment="task instances, with the last that each said: names, counts, reasons, never a value",
    )
    op.create_table(
        "alert",
        *keys("domain", "period", "kind", "subject"),
        required("raised_at", INSTANT),
        required("said", sa.Text),
        schema=schema,
        comment="append-only; what somebody was told of once: a delivery missing, a solver over "
        "its budget, an approval pending, "
        "a release ready",
    )
    run(f"0004_{dialect()}")
    if on_postgresql():
        for statement in statements("migrations/0004_roles", "postgresql"):
            op.execute(sa.text(statement.replace(":", r"\:")))


def downgrade() -> None:
    """What is known of cycles and runs of DAGs goes; deliveries and releases stay."""
    for table in ("alert", "task_run", "dag_run", "cycle"):
        op.drop_table(table, schema=within("operations"))


def keys(*names: str) -> list[sa.Column]:
    return [sa.Column(name, sa.Text, primary_key=True) for name in names]


def run(file: str) -> None:
    for statement in statements(f"migrations/{file}", dialect()):
        op.execute(sa.text(statement))


def dialect() -> str:
    return op.get_context().dialect.name


def on_postgresql() -> bool:
    return dialect() == "postgresql"


def within(schema: str) -> str | None:
    """SQLite has no schemas, and SQLAlchemy would leave out foreign keys between two of them there."""
    return schema if on_postgresql() else None


def columns(table: str, *names: str) -> list[str]:
    """The target of a foreign key."""
    return [f"{table if on_postgresql() else table.split('.')[1]}.{each}" for each in names]


def required(column: str, type_: object) -> sa.Column:
    return sa.Column(column, type_, nullable=False)
