"""The schema of a warehouse: its tables and constraints, then the gate of its engine
(`0001_gate.postgresql.sql`, `0001_gate.sqlite.sql`). Rights: `sql/roles.sql`.

The `r` of a revision tells it from the revisions 0001 to 0023 of the development versions, which made the
same schema step by step (`sdc_tasks/warehouse/database/development.py`).
"""

import sqlalchemy as sa
from alembic import op

from sdc_tasks.warehouse.database.sqlfiles import statements

revision = "r0001"
down_revision = None

SCHEMAS = ("confidential", "operations", "dissemination")
PROFILES = ("external", "internal", "coalition", "vintage", "revision")
DELIVERY = ("domain", "period", "digest")
PUBLICATION = ("domain", "period", "publication_digest")
RUN = ("release_id", "domain", "period")
AUDIT = ("release_id", "digest", "publication_digest", "passed")
AUDITED = ("release_id", "audit_digest", "publication_digest", "audit_passed")
INSTANT = sa.DateTime(timezone=True)
PERSON = "{0} = lower(trim({0})) AND {0} <> ''"
# SQLite keeps an instant as text: of this form, a day that exists, and within the same bounds.
WRONG = (
    "(NEW.{0} IS NOT NULL AND (NEW.{0} NOT GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9] "
    "[0-2][0-9]:[0-5][0-9]:[0-5][0-9]*' "
    "OR julianday(NEW.{0}) IS NULL OR NEW.{0} < '1970' OR NEW.{0} >= '3000'))"
)


def upgrade() -> None:
    for schema in SCHEMAS if on_postgresql() else ():
        op.execute(f"CREATE SCHEMA {schema}")
    create_deliveries()
    create_runs()
    create_terms()
    create_journal()
    create_confidential()
    create_dissemination()
    create_withdrawals()
    dialect = op.get_context().dialect.name
    for statement in statements("migrations/0001_gate", dialect):
        op.execute(sa.text(statement.replace(":", r"\:")))


def downgrade() -> None:
    """Drops everything: before this schema there is none."""
    if on_postgresql():
        for schema in SCHEMAS:
            op.execute(f"DROP SCHEMA {schema} CASCADE")
        return
    for view in ("public_cell", "public_release", "delivery_now"):
        op.execute(f"DROP VIEW {view}")
    found = sa.MetaData()
    found.reflect(op.get_bind())
    for table in reversed(found.sorted_tables):
        if table.name != op.get_context().version_table:
            op.drop_table(table.name)


def create_deliveries() -> None:
    create(
        "operations.artefact",
        *keys("digest"),
        required("kind", sa.Text),
        required("size", sa.BigInteger),
        required("stored_at", INSTANT),
        sa.Column("purged_at", INSTANT),
        comment="one row per stored payload, kept when the payload itself is purged",
    )
    create(
        "operations.delivery",
        *keys(*DELIVERY),
        sa.Column("country", sa.Text),
        required("file", sa.Text),
        required("received_at", INSTANT),
        required("state", sa.Text),
        sa.Column("superseded_by", sa.Text),
        sa.Column("times", sa.Integer, nullable=False, server_default="1"),
        sa.Column("series", sa.Text, nullable=False, server_default=""),
        sa.Column("version", sa.Integer, nullable=False, server_default="0"),
        refers("digest", to="operations.artefact"),
        refers(
            "domain",
            "period",
            "superseded_by",
            to="operations.delivery",
            columns=DELIVERY,
            name="fk_delivery_superseded_by",
        ),
        sa.CheckConstraint("state IN ('received', 'accepted', 'refused', 'superseded')", name="state"),
        sa.CheckConstraint("(state = 'superseded') = (superseded_by IS NOT NULL)", name="superseded"),
        sa.CheckConstraint("state NOT IN ('accepted', 'superseded') OR country IS NOT NULL", name="country"),
        comment="files received, each known by its bytes; those accepted of a country are its delivery; "
        "series and version: model/series.py",
    )
    accepted = sa.text("state = 'accepted'")
    op.create_index(
        "ux_delivery_accepted",
        "delivery",
        ["domain", "period", "country", "series"],
        unique=True,
        schema=within("operations"),
        postgresql_where=accepted,
        sqlite_where=accepted,
    )
    create(
        "operations.finding",
        *keys(*DELIVERY),
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
        required("code", sa.Text),
        required("severity", sa.Text),
        sa.Column("line", sa.Integer),
        sa.Column("cell", sa.Text),
        required("message", sa.Text),
        refers(*DELIVERY, to="operations.delivery"),
        comment="what intake found in a delivery, in the order of the file",
    )
    create(
        "operations.check_result",
        *keys(*DELIVERY, "check"),
        required("severity", sa.Text),
        required("passed", sa.Boolean),
        required("checked", sa.Integer),
        required("failed", sa.Integer),
        required("cells", sa.Text),
        refers(*DELIVERY, to="operations.delivery"),
        sa.CheckConstraint("failed BETWEEN 0 AND checked", name="failed"),
        comment="content checks of a delivery; cells is a JSON list of cell keys",
    )
    create(
        "operations.inbox",
        *keys("domain", "period", "file", "digest"),
        refers(*DELIVERY, to="operations.delivery"),
        comment="the files that lay in the inbox when it was last looked into: one that was not among them "
        "has been sent (again)",
    )
    create(
        "operations.unread",
        *keys("domain", "period", "file"),
        required("why", sa.Text),
        comment="what lay in the inbox when it was last looked into, and is not read; no release is made "
        "while there is any",
    )


def create_runs() -> None:
    create(
        "operations.run",
        *keys("release_id"),
        required("domain", sa.Text),
        required("period", sa.Text),
        sa.Column("inputs_digest", sa.Text),
        required("state", sa.Text),
        required("started_at", INSTANT),
        sa.Column("finished_at", INSTANT),
        sa.UniqueConstraint(*RUN),
        sa.CheckConstraint("state IN ('running', 'published', 'blocked', 'waiting', 'failed')", name="state"),
    )
    create(
        "operations.step",
        *keys("release_id", "step", "key"),
        required("seconds", sa.Float),
        required("note", sa.Text),
        sa.Column("artefact_digest", sa.Text),
        required("finished_at", INSTANT),
        refers("release_id", to="operations.run"),
        refers("artefact_digest", to="operations.artefact", columns=("digest",)),
        comment="the last completion of each step; key names the mapped instance (a country, a chunk), empty "
        "for the others",
    )
    create(
        "operations.rung",
        *keys("release_id"),
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
        required("method", sa.Text),
        required("outcome", sa.Text),
        sa.Column("objective", sa.Float),
        sa.Column("bound", sa.Float),
        sa.Column("gap", sa.Float),
        required("seconds", sa.Float),
        required("reason", sa.Text),
        required("unprotected", sa.Integer),
        required("accepted", sa.Boolean),
        required("chosen", sa.Boolean),
        refers("release_id", to="operations.run"),
    )
    profile = create(
        "operations.profile",
        *keys("name"),
        comment="the attacker profiles that this warehouse knows; terms and audits name one or more of them, "
        "each once",
    )
    op.bulk_insert(profile, [{"name": name} for name in PROFILES])
    create(
        "operations.audit",
        *keys("release_id", "digest"),
        required("problem_digest", sa.Text),
        required("publication_digest", sa.Text),
        required("profiles", sa.Text),
        required("passed", sa.Boolean),
        required("primaries", sa.Integer),
        required("broken", sa.Integer),
        required("lps", sa.Integer),
        required("certificate", sa.Text),
        required("audited_at", INSTANT),
        sa.Column("printed_digest", sa.Text),
        refers("release_id", to="operations.run"),
        sa.UniqueConstraint("release_id", "digest", "publication_digest", "passed"),
        sa.CheckConstraint("NOT passed OR broken = 0", name="passed"),
        comment="append-only; digest is that of the certificate",
    )


def create_terms() -> None:
    create(
        "operations.terms",
        *keys("domain", "digest"),
        required("profiles", sa.Text),
        required("approvals", sa.Integer),
        sa.Column("retention_days", sa.Integer),
        required("settings", sa.Text),
        required("registered_at", INSTANT),
        sa.CheckConstraint("approvals >= 0", name="approvals"),
        sa.CheckConstraint("retention_days >= 0", name="retention_days"),
        comment="append-only; a domain file as it was: what it asks of a release, and all its settings "
        "as JSON",
    )
    create(
        "operations.submission",
        *keys("release_id"),
        required("domain", sa.Text),
        required("period", sa.Text),
        required("terms_digest", sa.Text),
        required("submitter", sa.Text),
        sa.Column("embargo", INSTANT),
        required("environment", sa.Text),
        required("submitted_at", INSTANT),
        sa.UniqueConstraint("release_id", "submitter"),
        refers(*RUN, to="operations.run"),
        refers("domain", "terms_digest", to="operations.terms", columns=("domain", "digest")),
        sa.CheckConstraint(PERSON.format("submitter"), name="submitter"),
        comment="append-only; who opened a run, under which terms, with which program (JSON), and before "
        "when nobody may see its release",
    )
    create(
        "operations.approval",
        *keys("release_id", "audit_digest", "approver"),
        required("publication_digest", sa.Text),
        required("audit_passed", sa.Boolean),
        required("submitter", sa.Text),
        required("note", sa.Text),
        required("approved_at", INSTANT),
        sa.Column("account", sa.Text),
        sa.Column("without", sa.Text),
        sa.CheckConstraint("audit_passed", name="audit_passed"),
        sa.CheckConstraint("approver <> submitter", name="four_eyes"),
        sa.CheckConstraint(PERSON.format("approver"), name="approver"),
        refers("release_id", "submitter", to="operations.submission"),
        refers(*AUDITED, to="operations.audit", columns=AUDIT),
        comment="append-only; who, other than the submitter, agreed to publish exactly this publication on "
        "exactly this passed audit",
    )


def create_journal() -> None:
    create(
        "operations.log",
        sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
        required("recorded_at", INSTANT),
        *(
            required(name, sa.Text)
            for name in ("actor", "account", "action", "subject", "details", "previous", "digest")
        ),
        comment="append-only; who did what: each entry holds the digest of the one before (sdc verify-log)",
    )
    create(
        "operations.cycle",
        *keys("domain", "period"),
        required("terms_digest", sa.Text),
        required("areas", sa.Text),
        *(
            sa.Column(name, INSTANT)
            for name in ("opened_at", "delivery_due", "protection_due", "approval_due", "embargo")
        ),
        refers("domain", "terms_digest", to="operations.terms", columns=("domain", "digest")),
        comment="a reference period of a domain: the countries awaited (JSON), and the instants of the "
        "release calendar as they stand",
    )
    create(
        "operations.dag_run",
        *keys("dag_id", "run_id"),
        required("domain", sa.Text),
        required("period", sa.Text),
        sa.Column("release_id", sa.Text),
        required("state", sa.Text),
        required("triggered_by", sa.Text),
        sa.Column("started_at", INSTANT),
        sa.Column("finished_at", INSTANT),
        sa.Column("reason", sa.Text),
        refers("release_id", to="operations.run"),
        comment="runs of the DAGs as Airflow tells of them; the state is Airflow's, whether something was "
        "published stands in release",
    )
    op.create_index("ix_dag_run_domain_period", "dag_run", ["domain", "period"], schema=within("operations"))
    create(
        "operations.task_run",
        *keys("dag_id", "run_id", "task_id"),
        sa.Column("map_index", sa.Integer, primary_key=True, autoincrement=False),
        required("label", sa.Text),
        required("state", sa.Text),
        required("tries", sa.Integer),
        sa.Column("seconds", sa.Float),
        required("said", sa.Text),
        sa.Column("finished_at", INSTANT),
        comment="task instances, with the last that each said: names, counts, reasons, never a value",
    )
    create(
        "operations.alert",
        *keys("domain", "period", "kind", "subject"),
        required("raised_at", INSTANT),
        required("said", sa.Text),
        comment="append-only; what somebody was told of once: a delivery missing, a solver over its budget, "
        "an approval pending, a release ready",
    )
    if on_postgresql():
        create(
            "operations.turn",
            *keys("name"),
            comment="what only one transaction at a time may do: its row is locked by operations.take_turn",
        )


def create_confidential() -> None:
    create(
        "confidential.payload",
        *keys("digest"),
        required("content", sa.LargeBinary),
        sa.Column("key_id", sa.Text),
        refers("digest", to="operations.artefact"),
        comment="every confidential byte of the warehouse, encrypted by the key that key_id names; without "
        "one, as older versions stored it",
    )
    create(
        "confidential.secret",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        required("content", sa.LargeBinary),
        required("key_id", sa.Text),
        sa.Column("fingerprint", sa.Text),
        sa.Column("kept", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.CheckConstraint("number = 1", name="number"),
        comment="one row: what keys the names of deliveries and releases, encrypted by the key that key_id "
        "names, which is the one in use",
    )


def create_dissemination() -> None:
    create(
        "dissemination.publication",
        *keys(*DELIVERY),
        required("cells", sa.Integer),
        comment="append-only",
    )
    of_publication = refers(*PUBLICATION, to="dissemination.publication", columns=DELIVERY)
    create(
        "dissemination.eu_cell",
        *keys(*PUBLICATION, "cell"),
        required("position", sa.Integer),
        required("area", sa.Text),
        required("indicator", sa.Text),
        sa.Column("value", sa.Float(53)),
        required("obs_status", sa.Text),
        required("conf_status", sa.Text),
        sa.Column("rounding_base", sa.Float(53)),
        sa.Column("visible_share", sa.Float(53)),
        # On PostgreSQL a look-up for each row took half of the time of publishing: eu_cell_gate looks once
        # for a statement. SQLite looks up a row in less time than it takes to store it.
        *(() if on_postgresql() else (of_publication,)),
        sa.CheckConstraint("rounding_base > 0", name="rounding_base"),
        sa.CheckConstraint("value IS NOT NULL OR rounding_base IS NULL", name="withheld"),
        sa.CheckConstraint(
            "visible_share IS NULL OR (visible_share > 0 AND visible_share <= 1 AND value IS NOT NULL "
            "AND rounding_base IS NULL)",
            name="visible_share",
        ),
        comment="append-only; value is empty where withheld, rounding_base where not rounded; with a "
        "visible_share, value is no total but the sum of the visible countries, at least that share of it",
    )
    create(
        "dissemination.release",
        *keys("release_id"),
        required("domain", sa.Text),
        required("period", sa.Text),
        required("version", sa.Integer),
        required("publication_digest", sa.Text),
        required("audit_digest", sa.Text),
        required("audit_passed", sa.Boolean),
        required("released_at", INSTANT),
        sa.Column("embargo", INSTANT),
        sa.UniqueConstraint("domain", "period", "version"),
        sa.CheckConstraint("audit_passed", name="audit_passed"),
        sa.CheckConstraint("version >= 1", name="version"),
        refers(*RUN, to="operations.run"),
        refers(*AUDITED, to="operations.audit", columns=AUDIT),
        refers(*PUBLICATION, to="dissemination.publication", columns=DELIVERY),
        comment="append-only; exists only with a passed audit of exactly its publication, made for it, and "
        "all that its terms ask for",
    )
    create(
        "dissemination.retraction",
        *keys("release_id"),
        required("reason", sa.Text),
        required("retracted_by", sa.Text),
        required("retracted_at", INSTANT),
        refers("release_id", to="dissemination.release"),
        sa.CheckConstraint(PERSON.format("retracted_by"), name="retracted_by"),
        sa.CheckConstraint("length(trim(reason)) > 0", name="reason"),
        comment="append-only; releases that the world is no longer shown, and why",
    )


def create_withdrawals() -> None:
    """After the releases that are withdrawn. On SQLite the bounds of its instant are in the gate."""
    op.create_table(
        "withdrawal",
        *keys("release_id", "reason", "agreed_by"),
        required("agreed_at", INSTANT),
        required("account", sa.Text),
        refers("release_id", to="dissemination.release"),
        sa.CheckConstraint("length(trim(reason)) > 0 AND length(reason) <= 400", name="reason"),
        sa.CheckConstraint(PERSON.format("agreed_by"), name="agreed_by"),
        *bounds("agreed_at"),
        schema=within("operations"),
        comment="append-only; who agreed to take exactly this release back for exactly this reason",
    )


def create(table: str, *parts: sa.schema.SchemaItem, comment: str | None = None) -> sa.Table:
    """Makes a table, and sees to it that its instants are within the range that all readers can read."""
    schema, name = table.split(".")
    instants = [each.name for each in parts if isinstance(each, sa.Column) and each.type is INSTANT]
    made = op.create_table(name, *parts, *bounds(*instants), schema=within(schema), comment=comment)
    wrong = " OR ".join(WRONG.format(each) for each in instants)
    for event in ("INSERT", "UPDATE") if instants and not on_postgresql() else ():
        trigger = (
            f"CREATE TRIGGER {name}_instants_{event.lower()} BEFORE {event} ON {name} WHEN {wrong} "
            f"BEGIN SELECT raise(ABORT, '{name} refused: an instant out of bounds'); END"
        )
        op.execute(sa.text(trigger.replace(":", r"\:")))
    return made


def bounds(*instants: str) -> list[sa.CheckConstraint]:
    """The CHECKs of PostgreSQL."""
    return [
        sa.CheckConstraint(
            f"{each} >= '1970-01-01 00:00+00' AND {each} < '3000-01-01 00:00+00'", name=f"{each}_bounds"
        )
        for each in instants
        if on_postgresql()
    ]


def keys(*names: str) -> list[sa.Column]:
    return [sa.Column(name, sa.Text, primary_key=True) for name in names]


def required(name: str, type_: object) -> sa.Column:
    return sa.Column(name, type_, nullable=False)


def refers(
    *names: str, to: str, columns: tuple[str, ...] = (), name: str | None = None
) -> sa.ForeignKeyConstraint:
    """A foreign key to these columns of another table, or to those with the same names."""
    schema, table = to.split(".")
    target = f"{schema}.{table}" if on_postgresql() else table
    return sa.ForeignKeyConstraint(names, [f"{target}.{each}" for each in columns or names], name=name)


def within(schema: str) -> str | None:
    """SQLite has no schemas, and SQLAlchemy would leave out foreign keys between two of them there."""
    return schema if on_postgresql() else None


def on_postgresql() -> bool:
    return op.get_context().dialect.name == "postgresql"
