"""What a release needs beside a passed audit: terms, submission, approvals. Embargo, retraction, the
log, encrypted payloads, roles.
"""

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

from sdc_tasks.warehouse.database.sqlfiles import statements
from sdc_tasks.warehouse.forms.canonical import digest_of_entry

revision = "0003"
down_revision = "0002"

PERSON = "{0} = lower(trim({0})) AND {0} <> ''"
DELIVERY = ["domain", "period", "digest"]
TABLES = (
    ("dissemination", "retraction"),
    *(("operations", name) for name in ("log", "approval", "submission", "terms", "inbox")),
)
COLUMNS = (
    ("operations", "artefact", "purged_at"),
    ("operations", "delivery", "times"),
    ("confidential", "payload", "key_id"),
    ("dissemination", "release", "embargo"),
)
COMMENTS = {
    ("confidential", "payload"): (
        "every confidential byte of the warehouse",
        (
            "every confidential byte of the warehouse, encrypted by the key that key_id names; without one, "
            "as "
            "older versions stored it"
        ),
    ),
    ("dissemination", "release"): (
        "append-only; exists only with a passed audit of exactly its publication, made for it",
        (
            "append-only; exists only with a passed audit of exactly its publication, made for it, and all "
            "that "
            "its terms ask for"
        ),
    ),
}


def upgrade() -> None:
    add_columns()
    create_tables()
    for (schema, table), (before, after) in COMMENTS.items() if on_postgresql() else ():
        op.create_table_comment(table, after, existing_comment=before, schema=schema)
    op.execute(
        f"INSERT INTO {name('operations.inbox')} SELECT domain, period, file, digest FROM "
        f"{name('operations.delivery')}"
    )  # what was sent once is not sent again by lying there
    log_what_was_released()
    run(f"0003_{dialect()}")
    if on_postgresql():
        for statement in statements("migrations/0003_roles", "postgresql"):
            op.execute(sa.text(statement.replace(":", r"\:")))


def downgrade() -> None:
    """Encrypted payloads cannot be read by the version before: they go."""
    run(f"0003_down_{dialect()}")
    op.execute(f"DELETE FROM {name('confidential.payload')} WHERE key_id IS NOT NULL")
    for (schema, table), (before, after) in COMMENTS.items() if on_postgresql() else ():
        op.create_table_comment(table, before, existing_comment=after, schema=schema)
    for schema, table in TABLES:
        op.drop_table(table, schema=within(schema))
    for schema, table, column in COLUMNS:
        op.drop_column(table, column, schema=within(schema))


def add_columns() -> None:
    instant = sa.DateTime(timezone=True)
    op.add_column("artefact", sa.Column("purged_at", instant), schema=within("operations"))
    op.add_column(
        "delivery",
        sa.Column("times", sa.Integer, nullable=False, server_default="1"),
        schema=within("operations"),
    )
    op.add_column("payload", sa.Column("key_id", sa.Text), schema=within("confidential"))
    op.add_column("release", sa.Column("embargo", instant), schema=within("dissemination"))


def create_tables() -> None:
    operations = within("operations")
    op.create_table(
        "inbox",
        *(sa.Column(column, sa.Text, primary_key=True) for column in ("domain", "period", "file", "digest")),
        sa.ForeignKeyConstraint(DELIVERY, columns("operations.delivery", *DELIVERY)),
        schema=operations,
        comment="the files that lay in the inbox when it was last looked into: one that was not "
        "among them has been sent (again)",
    )
    op.create_table(
        "terms",
        sa.Column("domain", sa.Text, primary_key=True),
        sa.Column("digest", sa.Text, primary_key=True),
        required("profiles", sa.Text),
        required("approvals", sa.Integer),
        sa.Column("retention_days", sa.Integer),
        required("settings", sa.Text),
        required("registered_at", sa.DateTime(timezone=True)),
        sa.CheckConstraint("approvals >= 0", name="approvals"),
        sa.CheckConstraint("retention_days >= 0", name="retention_days"),
        schema=operations,
        comment="append-only; a domain file as it was: what it asks of a release, and all its "
        "settings as JSON",
    )
    op.create_table(
        "submission",
        sa.Column("release_id", sa.Text, primary_key=True),
        required("domain", sa.Text),
        required("period", sa.Text),
        required("terms_digest", sa.Text),
        required("submitter", sa.Text),
        sa.Column("embargo", sa.DateTime(timezone=True)),
        required("environment", sa.Text),
        required("submitted_at", sa.DateTime(timezone=True)),
        sa.UniqueConstraint("release_id", "submitter"),
        sa.ForeignKeyConstraint(
            ["release_id", "domain", "period"], columns("operations.run", "release_id", "domain", "period")
        ),
        sa.ForeignKeyConstraint(["domain", "terms_digest"], columns("operations.terms", "domain", "digest")),
        sa.CheckConstraint(PERSON.format("submitter"), name="submitter"),
        schema=operations,
        comment="append-only; who opened a run, under which terms, with which program (JSON), "
        "and before when nobody may see its release",
    )
    op.create_table(
        "approval",
        *(
            sa.Column(column, sa.Text, primary_key=True)
            for column in ("release_id", "audit_digest", "approver")
        ),
        required("publication_digest", sa.Text),
        required("audit_passed", sa.Boolean),
        required("submitter", sa.Text),
        required("note", sa.Text),
        required("approved_at", sa.DateTime(timezone=True)),
        sa.CheckConstraint("audit_passed", name="audit_passed"),
        sa.CheckConstraint("approver <> submitter", name="four_eyes"),
        sa.CheckConstraint(PERSON.format("approver"), name="approver"),
        sa.ForeignKeyConstraint(
            ["release_id", "submitter"], columns("operations.submission", "release_id", "submitter")
        ),
        sa.ForeignKeyConstraint(
            ["release_id", "audit_digest", "publication_digest", "audit_passed"],
            columns("operations.audit", "release_id", "digest", "publication_digest", "passed"),
        ),
        schema=operations,
        comment="append-only; who, other than the submitter, agreed to publish exactly this "
        "publication on exactly this passed audit",
    )
    op.create_table(
        "log",
        sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
        required("recorded_at", sa.DateTime(timezone=True)),
        *(
            required(column, sa.Text)
            for column in ("actor", "account", "action", "subject", "details", "previous", "digest")
        ),
        schema=operations,
        comment="append-only; who did what: each entry holds the digest of the one before (sdc verify-log)",
    )
    op.create_table(
        "retraction",
        sa.Column("release_id", sa.Text, primary_key=True),
        required("reason", sa.Text),
        required("retracted_by", sa.Text),
        required("retracted_at", sa.DateTime(timezone=True)),
        sa.ForeignKeyConstraint(["release_id"], columns("dissemination.release", "release_id")),
        sa.CheckConstraint(PERSON.format("retracted_by"), name="retracted_by"),
        sa.CheckConstraint("length(trim(reason)) > 0", name="reason"),
        schema=within("dissemination"),
        comment="append-only; releases that the world is no longer shown, and why",
    )


def log_what_was_released() -> None:
    """The log begins with the releases that are there already."""
    connection = op.get_bind()
    account = connection.execute(sa.text("SELECT session_user")).scalar_one() if on_postgresql() else "file"
    found = connection.execute(
        sa.text(
            f"SELECT release_id, version, publication_digest FROM {name('dissemination.release')} ORDER BY "
            f"released_at, release_id"
        )
    ).all()
    log = sa.table(
        "log",
        sa.column("recorded_at", sa.DateTime(timezone=True)),
        *map(sa.column, ("number", "actor", "account", "action", "subject", "details", "previous", "digest")),
        schema=within("operations"),
    )
    previous = ""
    for number, (release_id, version, publication) in enumerate(found, start=1):
        entry = {
            "number": number,
            "recorded_at": datetime.now(UTC),
            "actor": "migration 0003",
            "account": account,
            "action": "release",
            "subject": release_id,
            "details": f'{{"publication": "{publication}", "version": {version}}}',
            "previous": previous,
        }
        previous = digest_of_entry(**entry)
        connection.execute(sa.insert(log).values(**entry, digest=previous))


def run(file: str) -> None:
    for statement in statements(f"migrations/{file}", dialect()):
        op.execute(sa.text(statement.replace(":", r"\:")))


def dialect() -> str:
    return op.get_context().dialect.name


def on_postgresql() -> bool:
    return dialect() == "postgresql"


def within(schema: str) -> str | None:
    """SQLite has no schemas, and SQLAlchemy would leave out foreign keys between two of them there."""
    return schema if on_postgresql() else None


def name(table: str) -> str:
    return table if on_postgresql() else table.split(".")[1]


def columns(table: str, *names: str) -> list[str]:
    """The target of a foreign key."""
    return [f"{name(table)}.{each}" for each in names]


def required(column: str, type_: object) -> sa.Column:
    return sa.Column(column, type_, nullable=False)
