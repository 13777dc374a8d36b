"""What a prompt must never show, and what must never change: canaries in a filled warehouse, and a
comparison of all that it holds.
"""

from __future__ import annotations

import base64
import re
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
from psycopg.pq import ExecStatus

from sdc_tasks.model.results import Release
from sdc_tasks.warehouse.confidential.store import receive
from sdc_tasks.warehouse.database.checks import failures
from sdc_tasks.warehouse.database.schema import metadata
from sdc_tasks.warehouse.dissemination.publisher import printed, publish
from sdc_tasks.warehouse.log import broken, entries
from sdc_tasks.warehouse.operations.cycles import raise_alert
from sdc_tasks.warehouse.operations.decisions import retract
from sdc_tasks.warehouse.operations.journal import save_audit, start_run, submit
from support.grants import MAY, MAY_UPDATE
from support.security.chain import build
from support.security.deployment import ROLES, Deployment
from support.security.grammar import Around
from support.world import SPACE, TERMS, audited, certificate, published

WRITERS = ("sdc_pipeline", "sdc_publisher", "sdc_approver", "sdc_desk")
# Rows of these are never changed, whoever writes.
APPEND_ONLY = {
    *(
        f"operations.{name}"
        for name in ("audit", "terms", "submission", "approval", "withdrawal", "log", "alert")
    ),
    *(f"dissemination.{name}" for name in ("publication", "eu_cell", "release", "retraction")),
}
# New rows of these without an entry of the log are found by a check.
TOLD_IN_THE_LOG = {
    *(f"operations.{name}" for name in ("audit", "submission", "approval", "withdrawal")),
    *(f"dissemination.{name}" for name in ("publication", "release", "retraction")),
}
# Everything by which rights are given: owners, grants, settings, code, triggers, members.
RIGHTS = """
    SELECT 'relation', c.oid::regclass::text, concat_ws(' ', c.relowner, c.relacl, c.relrowsecurity, c.relkind) FROM pg_class c
        WHERE c.relnamespace::regnamespace::text IN ('public', 'confidential', 'operations', 'dissemination')
    UNION ALL SELECT 'column', a.attrelid::regclass || '.' || a.attname, concat_ws(' ', a.atttypid, a.attacl) FROM pg_attribute a
        JOIN pg_class c ON c.oid = a.attrelid
        WHERE c.relnamespace::regnamespace::text IN ('confidential', 'operations', 'dissemination') AND a.attnum > 0
    UNION ALL SELECT 'function', p.oid::regprocedure::text, concat_ws(' ', p.proowner, p.proacl, p.proconfig, p.prosecdef, md5(p.prosrc))
        FROM pg_proc p WHERE p.pronamespace::regnamespace::text <> 'information_schema'
    UNION ALL SELECT 'trigger', t.tgrelid::regclass || '.' || t.tgname, t.tgenabled::text FROM pg_trigger t
    UNION ALL SELECT 'schema', n.nspname, concat_ws(' ', n.nspowner, n.nspacl) FROM pg_namespace n WHERE n.nspname !~ '^pg_(toast_)?temp'
    UNION ALL SELECT 'type', t.oid::regtype::text, t.typowner::text FROM pg_type t WHERE t.typnamespace::regnamespace::text !~ '^pg_'
    UNION ALL SELECT 'role', r.rolname, concat_ws(' ', r.rolsuper, r.rolcreaterole, r.rolcreatedb, r.rolreplication, r.rolbypassrls)
        FROM pg_roles r
    UNION ALL SELECT 'member', m.roleid::regrole || ' ' || m.member::regrole, m.admin_option::text FROM pg_auth_members m
    UNION ALL SELECT 'database', d.datname, concat_ws(' ', d.datdba, d.datacl) FROM pg_database d WHERE d.datname = current_database()
    UNION ALL SELECT 'default', d.oid::text, d.defaclacl::text FROM pg_default_acl d
        WHERE d.defaclrole IN (SELECT c.relowner FROM pg_class c)
    UNION ALL SELECT 'rule', r.ev_class::regclass || '.' || r.rulename, r.ev_enabled::text FROM pg_rewrite r
    UNION ALL SELECT 'large object', l.oid::text, concat_ws(' ', l.lomowner, l.lomacl) FROM pg_largeobject_metadata l
"""  # noqa: E501
Rows = dict[str, dict[tuple[str, ...], dict[str, str]]]


class Violation(AssertionError):
    """A role saw or changed what it may not."""


@dataclass(frozen=True)
class Secrets:
    """The canaries. Two warehouses that differ in nothing else must look the same to who may not see them."""

    embargoed: float = 7340133.257
    retracted: float = 9182736.514
    name: str = "kestrel"

    def text(self, of: str) -> str:
        return f"{self.name}-of-{of}-4f1c"


def fill(deployment: Deployment, secrets: Secrets) -> psycopg.Connection:
    """A chain of releases, and a canary wherever something may be hidden. Returns the session of the
    superuser, which is one of them.
    """
    actors = {"sdc_pipeline": "tester", "sdc_publisher": "robot", "sdc_desk": "anna"}
    by = {role: deployment.engine(role, actor) for role, actor in actors.items()}
    pipeline, publisher = by["sdc_pipeline"], by["sdc_publisher"]
    build(by)
    for release_id, period, number in (
        ("r2026", "2026", secrets.retracted),
        ("r2027", "2027", secrets.embargoed),
    ):
        decided = published((number, 0), (number, 0), (number, 0))
        report = audited(decided)
        start_run(pipeline, release_id, "sbs", period)
        submit(
            pipeline,
            release_id,
            TERMS,
            embargo=datetime.now(UTC) + timedelta(days=9) if period == "2027" else None,
        )
        save_audit(pipeline, release_id, report, certificate(report, period), printed(decided, SPACE))
        publish(
            publisher,
            Release(release_id, report.problem, decided, report),
            space=SPACE,
            terms=TERMS,
            period=period,
        )
    retract(publisher, "r2026", "wrong")
    receive(pipeline, "sbs", "2028", f"{secrets.text('delivery')}.csv", b"x")
    raise_alert(pipeline, "sbs", "2028", "ready", "r", secrets.text("operations"))
    for engine in by.values():
        engine.dispose()
    server = deployment.superuser()
    payload = secrets.text("payload").encode()
    server.execute("INSERT INTO operations.artefact VALUES ('d', 'problem', %s, now())", [len(payload) - 28])
    server.execute(
        "INSERT INTO confidential.payload SELECT 'd', %s, key_id FROM confidential.secret", [payload]
    )
    server.execute("UPDATE confidential.secret SET content = %s", [secrets.text("secret").encode()])
    server.execute(
        f"SELECT lo_from_bytea(4711, '{secrets.text('object')}') WHERE NOT EXISTS (SELECT 1 FROM "
        f"pg_largeobject_metadata)"
    )
    server.execute("ANALYZE")
    folder = server.execute("SELECT current_setting('data_directory')").fetchone()
    server.execute(f"COPY (SELECT '{secrets.text('file')}') TO '{folder[0] if folder else ''}/canary.txt'")
    server.execute(f"SELECT '{secrets.text('session')}'")
    return server


def forbidden(role: str, secrets: Secrets, passwords: list[str]) -> list[str]:
    """All spellings of what this role may not see."""
    hidden = [secrets.text(name) for name in ("object", "file", "session")]
    if role != "sdc_pipeline":
        hidden += [secrets.text("payload"), secrets.text("secret")]
    if role in ("sdc_public", "sdc_publisher"):
        hidden.append(secrets.text("operations"))
    if role == "sdc_public":
        hidden.append(secrets.text("delivery"))  # the log names the files, and the publisher reads it
    found = [spelt for each in hidden for spelt in _text_spellings(each)] + passwords
    if role == "sdc_public":
        found += [*_number_spellings(secrets.embargoed), *_number_spellings(secrets.retracted)]
    return found


def _text_spellings(text: str) -> set[str]:
    inner = text[4:16].encode()  # base64 in each of its three alignments
    aligned = {base64.b64encode(b"x" * shift + inner).decode()[4:-4] for shift in range(3)}
    return {text, text.upper(), text[::-1], text.encode().hex(), *aligned}


def _number_spellings(number: float) -> set[str]:
    told = repr(number)
    inner = {
        each for shift in range(3) for each in [base64.b64encode(b"x" * shift + told.encode()).decode()[4:-4]]
    }
    return {
        *(
            told,
            str(round(number)),
            f"{number:,.2f}",
            f"{number:.6e}",
            f"{number:g}",
            told[::-1],
            told.encode().hex(),
        ),
        *(struct.pack(">d", number).hex(), struct.pack("<d", number).hex(), *inner),
    }


class Prompt:
    """A connection of one account, which remembers all that the server says to it."""

    def __init__(self, deployment: Deployment, role: str) -> None:
        self.deployment, self.role = deployment, role
        self._open()

    def _open(self) -> None:
        self.said: list[str] = []
        self.connection = self.deployment.connect(self.role)
        self.connection.add_notice_handler(lambda notice: self.said.append(_told(notice)))
        self.connection.add_notify_handler(lambda notify: self.said.append(str(notify)))
        self.connection.execute(
            "SELECT set_config('statement_timeout', '2s', false), set_config('lock_timeout', '1s', false)"
        )

    def observe(self, statement: str) -> str:
        """Everything that comes back: rows, notices, errors with all their fields."""
        self.said.clear()
        try:
            self._run(statement)
        except psycopg.Error as error:
            self.said.append(f"{error} {_told(error.diag)}")
            if self.connection.closed or self.connection.broken:
                self._open()
        return "\n".join(self.said)

    def _run(self, statement: str) -> None:
        if statement.startswith("COPY") and "STDOUT" in statement:
            with self.connection.cursor() as cursor, cursor.copy(statement.encode()) as copied:
                self.said += [bytes(part).decode("utf-8", "backslashreplace") for part in copied]
            return
        cursor = self.connection.execute(statement.encode())
        while True:
            self.said.append(str(cursor.statusmessage))
            if cursor.pgresult is not None and cursor.pgresult.status == ExecStatus.TUPLES_OK:
                result = cursor.pgresult
                fields = (
                    result.get_value(row, field)
                    for row in range(result.ntuples)
                    for field in range(result.nfields)
                )
                self.said += [(value or b"").decode("utf-8", "backslashreplace") for value in fields]
            if not cursor.nextset():
                return

    def end(self) -> None:
        """Ends whatever transaction is open, and becomes again who it was."""
        self.observe(
            "ROLLBACK; RESET ROLE; RESET SESSION AUTHORIZATION; SELECT set_config('statement_timeout', '2s', "
            "false)"
        )


def _told(diagnosis: Any) -> str:
    names = (
        "severity",
        "sqlstate",
        "message_primary",
        "message_detail",
        "message_hint",
        "context",
        "internal_query",
        "statement_position",
    )
    return " ".join(str(getattr(diagnosis, name, None)) for name in names)


class Oracle:
    """Watches one account at work in a filled warehouse."""

    def __init__(
        self, deployment: Deployment, role: str, secrets: Secrets, server: psycopg.Connection
    ) -> None:
        self.deployment, self.role, self.server = deployment, role, server
        self.secrets = secrets
        self.watcher, self.pipeline = deployment.superuser(), deployment.engine("sdc_pipeline")
        told = self.watcher.execute(
            "SELECT rolpassword FROM pg_authid WHERE rolpassword IS NOT NULL"
        ).fetchall()
        self.forbidden = forbidden(role, secrets, [password.split("$")[-1] for (password,) in told])
        self.before, self.rights = self.rows(), self.watcher.execute(RIGHTS).fetchall()
        self.account = f"{deployment.name}_{role}"

    def around(self) -> Around:
        """What the grammar knows of this account."""
        readable = [name for (name,) in self.watcher.execute(READABLE, {"account": self.account})]
        functions = self.watcher.execute(CALLABLE).fetchall()
        numbers = (self.secrets.embargoed + 10, self.secrets.retracted + 10, 42.0)
        others = tuple(f"{self.deployment.name}_{each}" for each in (*ROLES, "owner")) + ROLES
        return Around(self.account, others, tuple(sorted(readable)), tuple(functions), numbers)

    def seen(self, statement: str, told: str) -> None:
        for spelt in self.forbidden:
            if spelt in told:
                raise Violation(f"{self.role} saw {spelt}: {statement}")

    def rows(self) -> Rows:
        """table → key → column → value as text."""
        found: Rows = {}
        for name, table in metadata.tables.items():
            columns = [column.name for column in table.columns]
            wanted = ", ".join(f'"{column}"::text' for column in columns)
            cursor = self.watcher.execute(f"SELECT {wanted} FROM {name}")
            keys = [columns.index(column.name) for column in table.primary_key.columns]
            found[name] = {
                tuple(row[i] for i in keys): dict(zip(columns, row, strict=True)) for row in cursor
            }
        return found

    def compare(self, statements: list[str]) -> None:
        """What changed since the last comparison is what this role may change, and what matters of it is
        found.
        """
        about = f"{self.role}, one of: " + ";\n".join(statements)
        rights = self.watcher.execute(RIGHTS).fetchall()
        if changed := set(rights) ^ set(self.rights):
            raise Violation(f"rights changed: {sorted(changed)[:4]}; {about}")
        now, told = self.rows(), False
        changed = {name for name in now if now[name] != self.before[name]}
        for name in sorted(changed):
            self._allowed(name, self.before[name], now[name], about)
            told |= name in TOLD_IN_THE_LOG
        new_in_log = "operations.log" in changed
        self.before = now
        if changed:
            self._checked(told and not new_in_log, about)

    def _allowed(self, name: str, before: Mapping[Any, Any], now: Mapping[Any, Any], about: str) -> None:
        added, gone = now.keys() - before.keys(), before.keys() - now.keys()
        updated = {
            column
            for key in now.keys() & before.keys()
            for column in now[key]
            if now[key][column] != before[key][column]
        }
        moved = set(MAY_UPDATE.get(name, ())) & {
            column.name for column in metadata.tables[name].primary_key.columns
        }
        may = {what: name in MAY.get((self.role, what), set()) for what in ("INSERT", "DELETE")}
        columns = MAY_UPDATE.get(name, set()) if self.role == "sdc_pipeline" else set()
        if (added and not may["INSERT"]) or (gone and not may["DELETE"] and not moved) or updated - columns:
            raise Violation(
                f"{name}: {len(added)} rows added, {len(gone)} gone, {sorted(updated)} changed; {about}"
            )
        if name in APPEND_ONLY and (gone or updated):
            raise Violation(f"{name} is append-only: {len(gone)} gone, {sorted(updated)} changed; {about}")

    def _checked(self, found: bool, about: str) -> None:
        """The checks can still be asked, and the log is one chain; `found`: one of them tells
        of what was done beside the log.
        """
        try:
            wrong, chain = failures(self.pipeline), entries(self.pipeline)
        except Exception as error:
            raise Violation(
                f"the checks cannot be asked any more ({type(error).__name__}); {about}"
            ) from error
        if broken(chain):
            raise Violation(f"the log is broken: {broken(chain)}; {about}")
        if found and not wrong:
            raise Violation(f"nothing tells of it; {about}")

    def writer_goes_on(self, statement: str) -> None:
        """Nobody but a writer holds up a writer."""
        if self.role in WRITERS:
            return
        with self.deployment.connect("sdc_pipeline") as writer:
            writer.execute("SET lock_timeout = '1s'")
            try:
                writer.execute(
                    "BEGIN; SELECT operations.take_turn('log'); INSERT INTO operations.log (actor, action, "
                    "subject, details) "
                    "VALUES ('tester', 'test', 's', '{}'); ROLLBACK"
                )
            except psycopg.Error as error:
                raise Violation(f"{self.role} held up a writer ({error}): {statement}") from error


READABLE = """
    SELECT c.oid::regclass::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname IN ('confidential', 'operations', 'dissemination') AND c.relkind IN ('r', 'v') AND c.relname <> 'turn'
        AND has_schema_privilege(%(account)s, n.oid, 'USAGE') AND has_table_privilege(%(account)s, c.oid, 'SELECT')
"""  # noqa: E501
CALLABLE = """
    SELECT n.nspname || '.' || p.proname, p.pronargs::integer FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
    WHERE n.nspname IN ('confidential', 'operations', 'dissemination') ORDER BY 1, 2
"""  # noqa: E501
NOISE = tuple(
    map(re.compile, (r"Buffers: .*|Memory.*|Planning.*|.*Time.*", r"actual (time=\S+ )?", r"d[0-9a-f]{12}"))
)


def as_seen(told: str) -> str:
    """Without what differs between any two warehouses."""
    for each in NOISE:
        told = each.sub("", told)
    return told


ELSEWHERE = re.compile(
    r"pg_|information_schema|xmin|ctid|txid|regclass|oid|SETTINGS|to_xml|now\(\)|public_release|visible_releases"
)


def comparable(statement: str) -> bool:
    """Whether what it shows is of the cells of this warehouse alone: releases have instants,
    and digests of what was out once.
    """
    return "dissemination." in statement and not ELSEWHERE.search(statement)


@contextmanager
def watched(
    deployment: Deployment, role: str, secrets: Secrets, server: psycopg.Connection
) -> Iterator[tuple[Oracle, Prompt]]:
    oracle, prompt = Oracle(deployment, role, secrets, server), Prompt(deployment, role)
    try:
        yield oracle, prompt
    finally:
        prompt.connection.close()
        oracle.watcher.close()
        oracle.pipeline.dispose()
