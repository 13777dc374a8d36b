"""The warehouse: deliveries, artefacts, runs, audits, publications, releases, and the
gate between audit and release.
"""

import sqlalchemy as sa
from alembic import op

from sdc_tasks.warehouse.database.sqlfiles import statements

revision = "0001"
down_revision = None

SCHEMAS = ("confidential", "operations", "dissemination")
TABLES = (
    ("dissemination", ("release", "eu_cell", "publication")),
    ("confidential", ("payload",)),
    ("operations", ("audit", "rung", "step", "run", "check_result", "finding", "delivery", "artefact")),
)
DELIVERY = ["domain", "period", "digest"]


def upgrade() -> None:
    if on_postgresql():
        for schema in SCHEMAS:
            op.execute(f"CREATE SCHEMA {schema}")
    create_operations()
    create_confidential()
    create_dissemination()
    for statement in statements(
        f"migrations/0001_{op.get_context().dialect.name}", op.get_context().dialect.name
    ):
        op.execute(sa.text(statement.replace(":", r"\:")))


def downgrade() -> None:
    for schema, tables in TABLES:
        for table in tables:
            op.drop_table(table, schema=within(schema))
    if on_postgresql():
        for schema in SCHEMAS:
            op.execute(f"DROP SCHEMA {schema} CASCADE")  # the trigger functions


def create_operations() -> None:
    schema = within("operations")
    op.create_table(
        "artefact",
        sa.Column("digest", sa.Text, primary_key=True),
        required("kind", sa.Text),
        required("size", sa.BigInteger),
        required("stored_at", instant()),
        schema=schema,
        comment="one row per stored payload, kept when the payload itself is purged",
    )
    op.create_table(
        "delivery",
        *(sa.Column(name, sa.Text, primary_key=True) for name in DELIVERY),
        sa.Column("country", sa.Text),
        required("file", sa.Text),
        required("received_at", instant()),
        required("state", sa.Text),
        sa.Column("superseded_by", sa.Text),
        sa.ForeignKeyConstraint(["digest"], columns("operations.artefact", "digest")),
        sa.ForeignKeyConstraint(
            ["domain", "period", "superseded_by"],
            columns("operations.delivery", *DELIVERY),
            name=op.f("fk_delivery_superseded_by"),
        ),
        sa.CheckConstraint("state IN ('received', 'accepted', 'refused', 'superseded')", name="state"),
        sa.CheckConstraint("(state = 'superseded') = (superseded_by IS NOT NULL)", name="superseded"),
        sa.CheckConstraint("state NOT IN ('accepted', 'superseded') OR country IS NOT NULL", name="country"),
        schema=schema,
        comment="files received; the same bytes for the same domain and period are one delivery",
    )
    op.create_index(
        "ux_delivery_accepted",
        "delivery",
        ["domain", "period", "country"],
        unique=True,
        schema=schema,
        postgresql_where=sa.text("state = 'accepted'"),
        sqlite_where=sa.text("state = 'accepted'"),
    )
    op.create_table(
        "finding",
        *(sa.Column(name, sa.Text, primary_key=True) for name in DELIVERY),
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
        required("code", sa.Text),
        required("severity", sa.Text),
        sa.Column("line", sa.Integer),
        sa.Column("cell", sa.Text),
        required("message", sa.Text),
        sa.ForeignKeyConstraint(DELIVERY, columns("operations.delivery", *DELIVERY)),
        schema=schema,
        comment="what intake found in a delivery, in the order of the file",
    )
    op.create_table(
        "check_result",
        *(sa.Column(name, sa.Text, primary_key=True) for name in DELIVERY),
        sa.Column("check", sa.Text, primary_key=True),
        required("severity", sa.Text),
        required("passed", sa.Boolean),
        required("checked", sa.Integer),
        required("failed", sa.Integer),
        required("cells", sa.Text),
        sa.ForeignKeyConstraint(DELIVERY, columns("operations.delivery", *DELIVERY)),
        sa.CheckConstraint("failed BETWEEN 0 AND checked", name="failed"),
        schema=schema,
        comment="content checks of a delivery; cells is a JSON list of cell keys",
    )
    op.create_table(
        "run",
        sa.Column("release_id", sa.Text, primary_key=True),
        required("domain", sa.Text),
        required("period", sa.Text),
        sa.Column("inputs_digest", sa.Text),
        required("state", sa.Text),
        required("started_at", instant()),
        sa.Column("finished_at", instant()),
        sa.UniqueConstraint("release_id", "domain", "period"),
        sa.CheckConstraint("state IN ('running', 'published', 'blocked', 'waiting', 'failed')", name="state"),
        schema=schema,
    )
    op.create_table(
        "step",
        sa.Column("release_id", sa.Text, primary_key=True),
        sa.Column("step", sa.Text, primary_key=True),
        sa.Column("key", sa.Text, primary_key=True),
        required("seconds", sa.Float),
        required("note", sa.Text),
        sa.Column("artefact_digest", sa.Text),
        required("finished_at", instant()),
        sa.ForeignKeyConstraint(["release_id"], columns("operations.run", "release_id")),
        sa.ForeignKeyConstraint(["artefact_digest"], columns("operations.artefact", "digest")),
        schema=schema,
        comment="the last completion of each step; key names the mapped instance (a country, a "
        "chunk), empty for the others",
    )
    op.create_table(
        "rung",
        sa.Column("release_id", sa.Text, primary_key=True),
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
        required("method", sa.Text),
        required("outcome", sa.Text),
        sa.Column("objective", sa.Float),
        sa.Column("bound", sa.Float),
        sa.Column("gap", sa.Float),
        required("seconds", sa.Float),
        required("reason", sa.Text),
        required("unprotected", sa.Integer),
        required("clock", sa.Boolean),
        required("accepted", sa.Boolean),
        required("chosen", sa.Boolean),
        sa.ForeignKeyConstraint(["release_id"], columns("operations.run", "release_id")),
        schema=schema,
    )
    op.create_table(
        "audit",
        sa.Column("release_id", sa.Text, primary_key=True),
        sa.Column("digest", sa.Text, primary_key=True),
        required("problem_digest", sa.Text),
        required("publication_digest", sa.Text),
        required("profiles", sa.Text),
        required("passed", sa.Boolean),
        required("primaries", sa.Integer),
        required("broken", sa.Integer),
        required("lps", sa.Integer),
        required("certificate", sa.Text),
        required("audited_at", instant()),
        sa.ForeignKeyConstraint(["release_id"], columns("operations.run", "release_id")),
        sa.UniqueConstraint("release_id", "digest", "publication_digest", "passed"),
        sa.CheckConstraint("NOT passed OR broken = 0", name="passed"),
        schema=schema,
        comment="append-only; digest is that of the certificate",
    )


def create_confidential() -> None:
    op.create_table(
        "payload",
        sa.Column("digest", sa.Text, primary_key=True),
        required("content", sa.LargeBinary),
        sa.ForeignKeyConstraint(["digest"], columns("operations.artefact", "digest")),
        schema=within("confidential"),
        comment="every confidential byte of the warehouse",
    )


def create_dissemination() -> None:
    schema = within("dissemination")
    op.create_table(
        "publication",
        *(sa.Column(name, sa.Text, primary_key=True) for name in DELIVERY),
        required("cells", sa.Integer),
        schema=schema,
        comment="append-only",
    )
    op.create_table(
        "eu_cell",
        *(
            sa.Column(name, sa.Text, primary_key=True)
            for name in ("domain", "period", "publication_digest", "cell")
        ),
        required("position", sa.Integer),
        required("area", sa.Text),
        required("indicator", sa.Text),
        sa.Column("value", sa.Float(53)),
        required("obs_status", sa.Text),
        required("conf_status", sa.Text),
        sa.Column("rounding_base", sa.Float(53)),
        sa.ForeignKeyConstraint(
            ["domain", "period", "publication_digest"], columns("dissemination.publication", *DELIVERY)
        ),
        sa.CheckConstraint("rounding_base > 0", name="rounding_base"),
        sa.CheckConstraint("value IS NOT NULL OR rounding_base IS NULL", name="withheld"),
        schema=schema,
        comment="append-only; value is empty where withheld, rounding_base where exact or withheld",
    )
    op.create_table(
        "release",
        sa.Column("release_id", sa.Text, primary_key=True),
        required("domain", sa.Text),
        required("period", sa.Text),
        required("version", sa.Integer),
        required("publication_digest", sa.Text),
        required("audit_digest", sa.Text),
        required("audit_passed", sa.Boolean),
        required("released_at", instant()),
        sa.UniqueConstraint("domain", "period", "version"),
        sa.CheckConstraint("audit_passed", name="audit_passed"),
        sa.CheckConstraint("version >= 1", name="version"),
        sa.ForeignKeyConstraint(
            ["release_id", "domain", "period"], columns("operations.run", "release_id", "domain", "period")
        ),
        sa.ForeignKeyConstraint(
            ["release_id", "audit_digest", "publication_digest", "audit_passed"],
            columns("operations.audit", "release_id", "digest", "publication_digest", "passed"),
        ),
        sa.ForeignKeyConstraint(
            ["domain", "period", "publication_digest"], columns("dissemination.publication", *DELIVERY)
        ),
        schema=schema,
        comment="append-only; exists only with a passed audit of exactly its publication, made for it",
    )


def on_postgresql() -> bool:
    return op.get_context().dialect.name == "postgresql"


def within(schema: str) -> str | None:
    """SQLite has no schemas, and SQLAlchemy would leave out foreign keys between two of them there."""
    return schema if on_postgresql() else None


def columns(table: str, *names: str) -> list[str]:
    """The target of a foreign key."""
    return [f"{table if on_postgresql() else table.split('.')[1]}.{name}" for name in names]


def required(name: str, type_: object) -> sa.Column:
    return sa.Column(name, type_, nullable=False)


def instant() -> sa.DateTime:
    return sa.DateTime(timezone=True)
