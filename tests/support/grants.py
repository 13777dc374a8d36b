"""What each role may do, written down by hand, apart from `sql/roles.sql`."""

from __future__ import annotations

from sdc_tasks.warehouse.database.schema import metadata

ROLES = ("sdc_pipeline", "sdc_publisher", "sdc_approver", "sdc_desk", "sdc_ui", "sdc_public")
VIEWS = ("dissemination.public_release", "dissemination.public_cell")
TABLES = sorted(table.fullname for table in metadata.sorted_tables)
OPERATIONS = [name for name in TABLES if name.startswith("operations.")]
DISSEMINATION = [name for name in TABLES if name.startswith("dissemination.")]
# (role, what) → the tables on which it may. UPDATE: of the columns named.
MAY: dict[tuple[str, str], set[str]] = {
    ("sdc_pipeline", "SELECT"): {*TABLES, *VIEWS},
    ("sdc_pipeline", "INSERT"): {"confidential.payload", "confidential.secret", *OPERATIONS}
    - {"operations.approval", "operations.withdrawal", "operations.profile"},
    ("sdc_pipeline", "DELETE"): {
        "confidential.payload",
        *(f"operations.{name}" for name in ("finding", "check_result", "rung", "inbox", "unread")),
    },
    ("sdc_publisher", "SELECT"): {
        *(
            f"operations.{name}"
            for name in ("run", "audit", "terms", "submission", "approval", "withdrawal", "log")
        ),
        *DISSEMINATION,
        *VIEWS,
    },
    ("sdc_publisher", "INSERT"): {*DISSEMINATION, "operations.log"},
    ("sdc_approver", "SELECT"): {*OPERATIONS, *DISSEMINATION, *VIEWS},
    ("sdc_approver", "INSERT"): {"operations.approval", "operations.withdrawal", "operations.log"},
    ("sdc_desk", "SELECT"): {*OPERATIONS, *DISSEMINATION, *VIEWS},
    ("sdc_desk", "INSERT"): {"operations.approval", "operations.withdrawal", "operations.log"},
    ("sdc_ui", "SELECT"): {*OPERATIONS, *DISSEMINATION, *VIEWS},
    ("sdc_public", "SELECT"): set(VIEWS),
}
MAY_UPDATE = {
    "confidential.payload": {"digest", "content", "key_id"},
    "confidential.secret": {"content", "key_id", "fingerprint", "kept"},
    "operations.artefact": {"stored_at", "purged_at"},
    "operations.delivery": {
        "country",
        "file",
        "state",
        "superseded_by",
        "received_at",
        "times",
        "series",
        "version",
    },
    "operations.run": {"inputs_digest", "state", "finished_at"},
    "operations.step": {"seconds", "note", "artefact_digest", "finished_at"},
    "operations.cycle": {
        "terms_digest",
        "areas",
        "opened_at",
        "delivery_due",
        "protection_due",
        "approval_due",
        "embargo",
    },
    "operations.dag_run": {
        "domain",
        "period",
        "release_id",
        "state",
        "triggered_by",
        "reason",
        "started_at",
        "finished_at",
    },
    "operations.task_run": {"label", "state", "tries", "seconds", "said", "finished_at"},
}
