"""The tables, in three schemas with different readers.

confidential   delivered files and the arrays of the steps, as bytes, and the secret of
               the warehouse. No person reads it.
operations     what happened, without a value: deliveries, findings, checks, runs, steps,
               rungs, audits, approvals, the log.
               Operators read it.
dissemination  the released tables. The public reads its two views, `public_release` and
               `public_cell`, which respect embargo
               and retraction.

Table names are unique across the schemas, because SQLite has no schemas (`engine.py` removes them). The
migrations in `sql/migrations` create the tables; a test compares them with this file. A name that ends in
`_digest` holds a SHA-256, which is keyed where the content is confidential (`secret.py`).
"""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    Dialect,
    Float,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
    false,
    text,
)

CONFIDENTIAL, OPERATIONS, DISSEMINATION = SCHEMAS = ("confidential", "operations", "dissemination")

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(referred_table_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)


class DeliveryState(StrEnum):
    """received: stored, but not judged yet. At most one file of a series, country, domain and
    period is accepted at any time.
    """

    RECEIVED = "received"
    ACCEPTED = "accepted"
    REFUSED = "refused"
    SUPERSEDED = "superseded"


class RunState(StrEnum):
    """The state of a release cycle."""

    RUNNING = "running"
    PUBLISHED = "published"
    BLOCKED = "blocked"
    WAITING = "waiting"
    FAILED = "failed"


class UtcTime(TypeDecorator[datetime]):
    """An instant with a time zone. SQLite keeps no time zone, so it stores UTC."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise TypeError("an instant needs a time zone")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)


def one_of(column: str, values: type[StrEnum]) -> str:
    """The CHECK that restricts a text column to these words."""
    return f"{column} IN ({', '.join(repr(str(value)) for value in values)})"


# A name in the form in which names are compared: trimmed, lower case, not empty.
PERSON = "{0} = lower(trim({0})) AND {0} <> ''"


LONGEST_REASON = 400  # characters of the reason for which a release is taken back: an alert has room for it


def required(name: str, type_: Any) -> Column[Any]:
    return Column(name, type_, nullable=False)


# --- operations ---------------------------------------------------------------------------------------------

artefact = Table(
    "artefact",
    metadata,
    Column("digest", Text, primary_key=True),
    required("kind", Text),
    required("size", BigInteger),
    required("stored_at", UtcTime),
    Column("purged_at", UtcTime),
    schema=OPERATIONS,
    comment="one row per stored payload, kept when the payload itself is purged",
)

delivery = Table(
    "delivery",
    metadata,
    Column("domain", Text, primary_key=True),
    Column("period", Text, primary_key=True),
    Column("digest", Text, primary_key=True),
    Column("country", Text),
    required("file", Text),
    required("received_at", UtcTime),
    required("state", Text),
    Column("superseded_by", Text),
    Column("times", Integer, nullable=False, server_default="1"),
    Column("series", Text, nullable=False, server_default=""),
    Column("version", Integer, nullable=False, server_default="0"),
    ForeignKeyConstraint(["digest"], ["operations.artefact.digest"]),
    ForeignKeyConstraint(
        ["domain", "period", "superseded_by"],
        ["operations.delivery.domain", "operations.delivery.period", "operations.delivery.digest"],
        name="fk_delivery_superseded_by",
    ),
    CheckConstraint(one_of("state", DeliveryState), name="state"),
    CheckConstraint("(state = 'superseded') = (superseded_by IS NOT NULL)", name="superseded"),
    CheckConstraint("state NOT IN ('accepted', 'superseded') OR country IS NOT NULL", name="country"),
    schema=OPERATIONS,
    comment="files received, each known by its bytes; those accepted of a country are its "
    "delivery; series and version: model/series.py",
)
Index(
    "ux_delivery_accepted",
    delivery.c.domain,
    delivery.c.period,
    delivery.c.country,
    delivery.c.series,
    unique=True,
    # On PostgreSQL too (sql/migrations): said here, it would load the dialect of PostgreSQL everywhere.
    sqlite_where=text("state = 'accepted'"),
)

finding = Table(
    "finding",
    metadata,
    Column("domain", Text, primary_key=True),
    Column("period", Text, primary_key=True),
    Column("digest", Text, primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    required("code", Text),
    required("severity", Text),
    Column("line", Integer),
    Column("cell", Text),
    required("message", Text),
    ForeignKeyConstraint(
        ["domain", "period", "digest"],
        ["operations.delivery.domain", "operations.delivery.period", "operations.delivery.digest"],
    ),
    schema=OPERATIONS,
    comment="what intake found in a delivery, in the order of the file",
)

check_result = Table(
    "check_result",
    metadata,
    Column("domain", Text, primary_key=True),
    Column("period", Text, primary_key=True),
    Column("digest", Text, primary_key=True),
    Column("check", Text, primary_key=True),
    required("severity", Text),
    required("passed", Boolean),
    required("checked", Integer),
    required("failed", Integer),
    required("cells", Text),
    ForeignKeyConstraint(
        ["domain", "period", "digest"],
        ["operations.delivery.domain", "operations.delivery.period", "operations.delivery.digest"],
    ),
    CheckConstraint("failed BETWEEN 0 AND checked", name="failed"),
    schema=OPERATIONS,
    comment="content checks of a delivery; cells is a JSON list of cell keys",
)

run = Table(
    "run",
    metadata,
    Column("release_id", Text, primary_key=True),
    required("domain", Text),
    required("period", Text),
    Column("inputs_digest", Text),
    required("state", Text),
    required("started_at", UtcTime),
    Column("finished_at", UtcTime),
    UniqueConstraint("release_id", "domain", "period"),
    CheckConstraint(one_of("state", RunState), name="state"),
    schema=OPERATIONS,
)

step = Table(
    "step",
    metadata,
    Column("release_id", Text, primary_key=True),
    Column("step", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    required("seconds", Float),
    required("note", Text),
    Column("artefact_digest", Text),
    required("finished_at", UtcTime),
    ForeignKeyConstraint(["release_id"], ["operations.run.release_id"]),
    ForeignKeyConstraint(["artefact_digest"], ["operations.artefact.digest"]),
    schema=OPERATIONS,
    comment="the last completion of each step; key names the mapped instance (a country, a "
    "chunk), empty for the others",
)

rung = Table(
    "rung",
    metadata,
    Column("release_id", Text, primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    required("method", Text),
    required("outcome", Text),
    Column("objective", Float),
    Column("bound", Float),
    Column("gap", Float),
    required("seconds", Float),
    required("reason", Text),
    required("unprotected", Integer),
    required("accepted", Boolean),
    required("chosen", Boolean),
    ForeignKeyConstraint(["release_id"], ["operations.run.release_id"]),
    schema=OPERATIONS,
)

profile = Table(
    "profile",
    metadata,
    Column("name", Text, primary_key=True),
    schema=OPERATIONS,
    comment="the attacker profiles that this warehouse knows; terms and audits name one or "
    "more of them, each once",
)

audit = Table(
    "audit",
    metadata,
    Column("release_id", Text, primary_key=True),
    Column("digest", Text, primary_key=True),
    required("problem_digest", Text),
    required("publication_digest", Text),
    required("profiles", Text),
    required("passed", Boolean),
    required("primaries", Integer),
    required("broken", Integer),
    required("lps", Integer),
    required("certificate", Text),
    required("audited_at", UtcTime),
    Column("printed_digest", Text),
    ForeignKeyConstraint(["release_id"], ["operations.run.release_id"]),
    UniqueConstraint("release_id", "digest", "publication_digest", "passed"),  # what a release refers to
    CheckConstraint("NOT passed OR broken = 0", name="passed"),
    schema=OPERATIONS,
    comment="append-only; digest is that of the certificate",
)

inbox = Table(
    "inbox",
    metadata,
    Column("domain", Text, primary_key=True),
    Column("period", Text, primary_key=True),
    Column("file", Text, primary_key=True),
    Column("digest", Text, primary_key=True),
    ForeignKeyConstraint(
        ["domain", "period", "digest"],
        ["operations.delivery.domain", "operations.delivery.period", "operations.delivery.digest"],
    ),
    schema=OPERATIONS,
    comment="the files that lay in the inbox when it was last looked into: one that was not "
    "among them has been sent (again)",
)

unread = Table(
    "unread",
    metadata,
    Column("domain", Text, primary_key=True),
    Column("period", Text, primary_key=True),
    Column("file", Text, primary_key=True),
    required("why", Text),
    schema=OPERATIONS,
    comment="what lay in the inbox when it was last looked into, and is not read; no release "
    "is made while there is any",
)

terms = Table(
    "terms",
    metadata,
    Column("domain", Text, primary_key=True),
    Column("digest", Text, primary_key=True),
    required("profiles", Text),
    required("approvals", Integer),
    Column("retention_days", Integer),
    required("settings", Text),
    required("registered_at", UtcTime),
    CheckConstraint("approvals >= 0", name="approvals"),
    CheckConstraint("retention_days >= 0", name="retention_days"),
    schema=OPERATIONS,
    comment="append-only; a domain file as it was: what it asks of a release, and all its settings as JSON",
)

submission = Table(
    "submission",
    metadata,
    Column("release_id", Text, primary_key=True),
    required("domain", Text),
    required("period", Text),
    required("terms_digest", Text),
    required("submitter", Text),
    Column("embargo", UtcTime),
    required("environment", Text),
    required("submitted_at", UtcTime),
    UniqueConstraint("release_id", "submitter"),  # what an approval refers to
    ForeignKeyConstraint(
        ["release_id", "domain", "period"],
        ["operations.run.release_id", "operations.run.domain", "operations.run.period"],
    ),
    ForeignKeyConstraint(["domain", "terms_digest"], ["operations.terms.domain", "operations.terms.digest"]),
    CheckConstraint(PERSON.format("submitter"), name="submitter"),
    schema=OPERATIONS,
    comment="append-only; who opened a run, under which terms, with which program (JSON), "
    "and before when nobody may see its release",
)

approval = Table(
    "approval",
    metadata,
    Column("release_id", Text, primary_key=True),
    Column("audit_digest", Text, primary_key=True),
    Column("approver", Text, primary_key=True),
    required("publication_digest", Text),
    required("audit_passed", Boolean),
    required("submitter", Text),
    required("note", Text),
    required("approved_at", UtcTime),
    Column("account", Text),
    Column(
        "without", Text
    ),  # digests of newer deliveries without which it goes out, as a list in JSON; nothing: none came
    CheckConstraint("audit_passed", name="audit_passed"),
    CheckConstraint("approver <> submitter", name="four_eyes"),
    CheckConstraint(PERSON.format("approver"), name="approver"),
    ForeignKeyConstraint(
        ["release_id", "submitter"], ["operations.submission.release_id", "operations.submission.submitter"]
    ),
    ForeignKeyConstraint(
        ["release_id", "audit_digest", "publication_digest", "audit_passed"],
        [
            "operations.audit.release_id",
            "operations.audit.digest",
            "operations.audit.publication_digest",
            "operations.audit.passed",
        ],
    ),
    schema=OPERATIONS,
    comment="append-only; who, other than the submitter, agreed to publish exactly this "
    "publication on exactly this passed audit",
)

withdrawal = Table(
    "withdrawal",
    metadata,
    Column("release_id", Text, primary_key=True),
    Column("reason", Text, primary_key=True),
    Column("agreed_by", Text, primary_key=True),
    required("agreed_at", UtcTime),
    required("account", Text),
    ForeignKeyConstraint(["release_id"], ["dissemination.release.release_id"]),
    CheckConstraint(f"length(trim(reason)) > 0 AND length(reason) <= {LONGEST_REASON}", name="reason"),
    CheckConstraint(PERSON.format("agreed_by"), name="agreed_by"),
    schema=OPERATIONS,
    comment="append-only; who agreed to take exactly this release back for exactly this reason",
)

log = Table(
    "log",
    metadata,
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    required("recorded_at", UtcTime),
    required("actor", Text),
    required("account", Text),
    required("action", Text),
    required("subject", Text),
    required("details", Text),
    required("previous", Text),
    required("digest", Text),
    schema=OPERATIONS,
    comment="append-only; who did what: each entry holds the digest of the one before (sdc verify-log)",
)

cycle = Table(
    "cycle",
    metadata,
    Column("domain", Text, primary_key=True),
    Column("period", Text, primary_key=True),
    required("terms_digest", Text),
    required("areas", Text),
    Column("opened_at", UtcTime),
    Column("delivery_due", UtcTime),
    Column("protection_due", UtcTime),
    Column("approval_due", UtcTime),
    Column("embargo", UtcTime),
    ForeignKeyConstraint(["domain", "terms_digest"], ["operations.terms.domain", "operations.terms.digest"]),
    schema=OPERATIONS,
    comment="a reference period of a domain: the countries awaited (JSON), and the instants "
    "of the release calendar as they stand",
)

dag_run = Table(
    "dag_run",
    metadata,
    Column("dag_id", Text, primary_key=True),
    Column("run_id", Text, primary_key=True),
    required("domain", Text),
    required("period", Text),
    Column("release_id", Text),
    required("state", Text),
    required("triggered_by", Text),
    Column("started_at", UtcTime),
    Column("finished_at", UtcTime),
    Column("reason", Text),  # with which it asks to take a release back
    ForeignKeyConstraint(["release_id"], ["operations.run.release_id"]),
    Index(None, "domain", "period"),
    schema=OPERATIONS,
    comment="runs of the DAGs as Airflow tells of them; the state is Airflow's, whether "
    "something was published stands in release",
)

task_run = Table(
    "task_run",
    metadata,
    Column("dag_id", Text, primary_key=True),
    Column("run_id", Text, primary_key=True),
    Column("task_id", Text, primary_key=True),
    Column("map_index", Integer, primary_key=True, autoincrement=False),
    required("label", Text),
    required("state", Text),
    required("tries", Integer),
    Column("seconds", Float),
    required("said", Text),
    Column("finished_at", UtcTime),
    schema=OPERATIONS,
    comment="task instances, with the last that each said: names, counts, reasons, never a value",
)

alert = Table(
    "alert",
    metadata,
    Column("domain", Text, primary_key=True),
    Column("period", Text, primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("subject", Text, primary_key=True),
    required("raised_at", UtcTime),
    required("said", Text),
    schema=OPERATIONS,
    comment="append-only; what somebody was told of once: a delivery missing, a solver over "
    "its budget, an approval pending, "
    "a release ready",
)

# --- confidential -------------------------------------------------------------------------------------------

payload = Table(
    "payload",
    metadata,
    Column("digest", Text, primary_key=True),
    required("content", LargeBinary),
    Column("key_id", Text),
    ForeignKeyConstraint(["digest"], ["operations.artefact.digest"]),
    schema=CONFIDENTIAL,
    comment="every confidential byte of the warehouse, encrypted by the key that key_id "
    "names; without one, as older versions stored it",
)

secret = Table(
    "secret",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    required("content", LargeBinary),
    required("key_id", Text),
    Column(
        "fingerprint", Text
    ),  # its public name; nothing until a program that knows fingerprints has opened it
    Column("kept", Boolean, nullable=False, server_default=false()),  # the office has it elsewhere too
    CheckConstraint("number = 1", name="number"),
    schema=CONFIDENTIAL,
    comment="one row: what keys the names of deliveries and releases, encrypted by the key "
    "that key_id names, which is the one in use",
)

# --- dissemination ------------------------------------------------------------------------------------------

publication = Table(
    "publication",
    metadata,
    Column("domain", Text, primary_key=True),
    Column("period", Text, primary_key=True),
    Column("digest", Text, primary_key=True),
    required("cells", Integer),
    schema=DISSEMINATION,
    comment="append-only",
)

eu_cell = Table(
    "eu_cell",
    metadata,
    Column("domain", Text, primary_key=True),
    Column("period", Text, primary_key=True),
    Column("publication_digest", Text, primary_key=True),
    Column("cell", Text, primary_key=True),
    required("position", Integer),
    required("area", Text),
    required("indicator", Text),
    Column("value", Float(53)),
    required("obs_status", Text),
    required("conf_status", Text),
    Column("rounding_base", Float(53)),
    Column("visible_share", Float(53)),
    ForeignKeyConstraint(
        ["domain", "period", "publication_digest"],
        [
            "dissemination.publication.domain",
            "dissemination.publication.period",
            "dissemination.publication.digest",
        ],
    ),  # of SQLite; on PostgreSQL the trigger eu_cell_gate looks once for a statement
    CheckConstraint("rounding_base > 0", name="rounding_base"),
    CheckConstraint("value IS NOT NULL OR rounding_base IS NULL", name="withheld"),
    CheckConstraint(
        "visible_share IS NULL OR (visible_share > 0 AND visible_share <= 1 AND value IS NOT NULL AND "
        "rounding_base IS NULL)",
        name="visible_share",
    ),
    schema=DISSEMINATION,
    comment="append-only; value is empty where withheld, rounding_base where not rounded; "
    "with a visible_share, value is no total but "
    "the sum of the visible countries, at least that share of it",
)

release = Table(
    "release",
    metadata,
    Column("release_id", Text, primary_key=True),
    required("domain", Text),
    required("period", Text),
    required("version", Integer),
    required("publication_digest", Text),
    required("audit_digest", Text),
    required("audit_passed", Boolean),
    required("released_at", UtcTime),
    Column("embargo", UtcTime),
    UniqueConstraint("domain", "period", "version"),
    CheckConstraint("audit_passed", name="audit_passed"),
    CheckConstraint("version >= 1", name="version"),
    ForeignKeyConstraint(
        ["release_id", "domain", "period"],
        ["operations.run.release_id", "operations.run.domain", "operations.run.period"],
    ),
    ForeignKeyConstraint(
        ["release_id", "audit_digest", "publication_digest", "audit_passed"],
        [
            "operations.audit.release_id",
            "operations.audit.digest",
            "operations.audit.publication_digest",
            "operations.audit.passed",
        ],
    ),
    ForeignKeyConstraint(
        ["domain", "period", "publication_digest"],
        [
            "dissemination.publication.domain",
            "dissemination.publication.period",
            "dissemination.publication.digest",
        ],
    ),
    schema=DISSEMINATION,
    comment="append-only; exists only with a passed audit of exactly its publication, made "
    "for it, and all that its terms ask for",
)

retraction = Table(
    "retraction",
    metadata,
    Column("release_id", Text, primary_key=True),
    required("reason", Text),
    required("retracted_by", Text),
    required("retracted_at", UtcTime),
    ForeignKeyConstraint(["release_id"], ["dissemination.release.release_id"]),
    CheckConstraint(PERSON.format("retracted_by"), name="retracted_by"),
    CheckConstraint("length(trim(reason)) > 0", name="reason"),
    schema=DISSEMINATION,
    comment="append-only; releases that the world is no longer shown, and why",
)

# Every instant is within the range that all readers can read.
for _table in metadata.tables.values():
    for _column in [each for each in _table.columns if isinstance(each.type, UtcTime)]:
        _bounds = f"{_column.name} >= '1970-01-01 00:00+00' AND {_column.name} < '3000-01-01 00:00+00'"
        _table.append_constraint(CheckConstraint(_bounds, name=f"{_column.name}_bounds"))
