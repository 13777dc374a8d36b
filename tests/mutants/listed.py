"""Mutants that each take one guarantee of the warehouse away, by hand: all of them must be noticed (`make
mutants`).

What holds on both engines stands here for each of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from mutants.change import Mutant, read
from mutants.modules import ENGINE
from mutants.statements import whole

ALONE, GATE, CELLS = (
    "tests/security/test_each_guard.py",
    "tests/integration/test_warehouse_gate.py",
    "tests/security/test_printed_is_audited.py",
)
EYES, PROMPT, LOG = (
    "tests/security/test_four_eyes.py",
    "tests/security/test_sqlite_prompt.py",
    "tests/integration/test_warehouse_log.py",
)
POISON, OWNER = "tests/security/test_log_poison.py", "tests/security/test_functions_of_the_owner.py"
WORLD, KEYS = "tests/security/test_world_sees_what_is_out.py", "tests/integration/test_warehouse_keys.py"
RELATED, ONE_SECRET = "tests/integration/test_related.py", "tests/integration/test_one_secret.py"
RING, WAREHOUSE = "tests/unit/test_warehouse_keyring.py", "tests/integration/test_warehouse.py"
TOLD = "tests/security/test_told_twice.py"
PROFILES, ROLES, DAMAGE = (
    "tests/integration/test_profiles.py",
    "tests/integration/test_warehouse_roles.py",
    "tests/security/test_damage.py",
)


# Single tests, where a file has many that tell of something else.
ROWS = f"{ALONE}::test_a_row_is_not_changed_nor_deleted_nor_replaced"
GUARDS = f"{ALONE}::test_what_a_guard_of_the_gate_refuses_alone"


@dataclass(frozen=True)
class Listed:
    """`old`, which stands once in the file, or in the function or trigger `of` of its engine, gives way to
    `new`; `what` is the guarantee that goes with it; `tests` must notice.
    """

    file: str
    old: str
    new: str
    what: str
    tests: tuple[str, ...]
    of: str = ""

    @property
    def only(self) -> str:
        """Statements of one engine are tested on that."""
        return next(
            (
                words
                for engine, words in ENGINE.items()
                if f"_{engine}" in self.file or f".{engine}." in self.file
            ),
            "",
        )

    def mutant(self) -> Mutant:
        """Raises ValueError where the file has changed: the list follows the code."""
        text = read(self.file)
        begin, end = statement(self.file, self.of) if self.of else (0, len(text))
        if (times := text.count(self.old, begin, end)) != 1:
            raise ValueError(f"{self.file}: {times} times, not once: {self.old}")
        start = text.index(self.old, begin, end)
        return Mutant(self.file, start, start + len(self.old), self.new, self.what)


SQLITE, POSTGRESQL = (f"sql/migrations/0001_gate.{engine}.sql" for engine in ("sqlite", "postgresql"))
SCHEMA = "sql/migrations/versions/0001_schema.py"


def statement(file: str, name: str) -> tuple[int, int]:
    """Where the function of this name, or the trigger of SQLite, is made."""
    made = rf"^CREATE {rf'FUNCTION [a-z]+[.]{name}[(]' if file == POSTGRESQL else f'TRIGGER {name} '}"
    [place] = [
        (start, end) for _, start, end in whole(file) if re.search(made, read(file)[start:end], re.MULTILINE)
    ]
    return place


def both(
    what: str,
    tests: tuple[str, ...],
    *,
    sqlite: tuple[str, str],
    postgresql: tuple[str, str],
    of: str = "",
) -> list[Listed]:
    """The same guarantee on each engine."""
    return [
        Listed(SQLITE, *sqlite, what, tests, of),
        Listed(POSTGRESQL, *postgresql, what, tests, of),
    ]


def raising(message: str) -> str:
    """The statement of PostgreSQL, as it is broken into lines."""
    said = f"            USING MESSAGE = '{message}';"
    if len(said) > 110:
        said = f"            USING MESSAGE =\n                '{message}';"
    return f"RAISE integrity_constraint_violation\n{said}"


def refuses(message: str, what: str, tests: tuple[str, ...], of: str = "") -> list[Listed]:
    """The refusal with this message goes, on each engine."""
    return both(
        what,
        tests,
        sqlite=(f"SELECT raise(ABORT, '{message}')", "SELECT 1"),
        postgresql=(raising(message), "NULL;"),
        of=of,
    )


RELEASED = (GUARDS, GATE)
STORED = {
    "told #>> '{digests,problem}'": "NEW.problem_digest",
    "told #>> '{digests,publication}'": "NEW.publication_digest",
    "told #>> '{counts,primaries}'": "NEW.primaries::text",
}  # what stands in the row, instead of what the certificate says
PUBLISHER = "sdc_tasks/warehouse/dissemination/publisher.py"
JOURNAL, DECIDED = (f"sdc_tasks/warehouse/operations/{name}.py" for name in ("journal", "decisions"))
PEOPLE, CANONICAL = (f"sdc_tasks/warehouse/forms/{name}.py" for name in ("people", "canonical"))
SECRET, KEPT = (f"sdc_tasks/warehouse/confidential/{name}.py" for name in ("secret", "maintenance"))
KEYRING, ENTRIES = (f"sdc_tasks/warehouse/{name}.py" for name in ("keyring", "log"))

LISTED = [
    # --- the gate -------------------------------------------------------------------------------------------
    *refuses("release refused: no passed audit of this publication", "nothing unaudited goes out", RELEASED),
    *both(
        "a failed audit lets nothing out",
        RELEASED,
        sqlite=(
            "AND publication_digest = NEW.publication_digest AND passed",
            "AND publication_digest = NEW.publication_digest",
        ),
        postgresql=(
            "AND a.publication_digest = NEW.publication_digest AND a.passed\n",
            "AND a.publication_digest = NEW.publication_digest\n",
        ),
        of="release_gate",
    ),
    *both(
        "the audit is of this publication",
        RELEASED,
        sqlite=(" AND publication_digest = NEW.publication_digest AND passed", " AND passed"),
        postgresql=(" AND a.publication_digest = NEW.publication_digest AND a.passed", " AND a.passed"),
        of="release_gate",
    ),
    *both(
        "the audit is of this run",
        RELEASED,
        sqlite=(
            "WHERE release_id = NEW.release_id AND digest = NEW.audit_digest",
            "WHERE digest = NEW.audit_digest",
        ),
        postgresql=(
            "a.release_id = NEW.release_id AND a.digest = NEW.audit_digest\n            AND a.publication",
            "a.digest = NEW.audit_digest\n            AND a.publication",
        ),
        of="release_gate",
    ),
    *refuses(
        "release refused: the publication is not complete",
        "as many cells as the publication says",
        RELEASED,
    ),
    *refuses("release refused: not the next version", "versions follow one another", RELEASED),
    *refuses(
        "release refused: this publication is the current version already",
        "one table is not two versions",
        RELEASED,
    ),
    *refuses(
        "release refused: the run was not submitted under any terms",
        "no release without terms",
        RELEASED,
    ),
    *refuses(
        "release refused: a profile that the terms ask for was not audited",
        "every profile of the terms was attacked",
        RELEASED,
    ),
    *refuses("release refused: approvals are missing", "as many agree as the terms ask for", RELEASED),
    *both(
        "an approval is of this audit",
        RELEASED,
        sqlite=(" AND a.audit_digest = NEW.audit_digest", ""),
        postgresql=(" AND a.audit_digest = NEW.audit_digest", ""),
        of="release_gate",
    ),
    *refuses(
        "release refused: not the embargo under which it was submitted",
        "the embargo is that of the submission",
        RELEASED,
    ),
    *refuses(
        "release refused: not audited beside the version that is out",
        "nothing out is forgotten",
        RELEASED,
    ),
    Listed(
        POSTGRESQL,
        "    PERFORM operations.take_turn('release ' || NEW.domain || ' ' || NEW.period);\n",
        "",
        "who waits for another version is asked after it",
        (ALONE,),
    ),
    *refuses(
        "release refused: other versions are out than its audit knew",
        "each version is attacked beside all others",
        RELEASED,
    ),
    *refuses(
        "release refused: not shown to withstand somebody who has the program",
        "rule_aware is shown, or not out",
        (ALONE,),
    ),
    Listed(
        PUBLISHER,
        'if _rule_aware(json.loads(terms.settings)) and told.get("program", {}).get("verdict") != "passed":',
        "if False:",
        "the publisher says that rule_aware is not shown",
        (GATE,),
    ),
    Listed(
        PUBLISHER,
        'if told.get("beside", []) != list(beside):',
        "if False:",
        "the publisher says which audit is too old",
        (GATE,),
    ),
    # --- what is told twice ---------------------------------------------------------------------------------
    *refuses(
        "log refused: details are no JSON that tells what such an entry must tell",
        "the log tells what checks compare",
        (TOLD,),
        of="log_told",
    ),
    *(
        change
        for what, sqlite, postgresql in (
            (
                "the problem",
                "told(NEW.certificate, 'digests', 'problem') IS NOT NEW.problem_digest",
                "told #>> '{digests,problem}'",
            ),
            (
                "the publication",
                "told(NEW.certificate, 'digests', 'publication') IS NOT NEW.publication_digest",
                "told #>> '{digests,publication}'",
            ),
            (
                "its counts",
                "told(NEW.certificate, 'counts', 'primaries') IS NOT CAST(NEW.primaries AS TEXT)",
                "told #>> '{counts,primaries}'",
            ),
        )
        for change in both(
            f"an audit is stored with {what} of its certificate",
            (TOLD,),
            sqlite=(sqlite, "FALSE"),
            postgresql=(postgresql, STORED[postgresql]),
        )
    ),
    *both(
        "the certificate is of the run's domain",
        (TOLD,),
        sqlite=("told(NEW.certificate, 'domain') = r.domain\n            AND ", ""),
        postgresql=(
            "told ->> 'domain', told",
            "(SELECT r.domain FROM operations.run r WHERE r.release_id = NEW.release_id), told",
        ),
    ),
    *both(
        "terms ask for what their settings say",
        (TOLD,),
        sqlite=("SELECT raise(ABORT, 'terms refused: its JSON is none, or says otherwise')", "SELECT 1"),
        postgresql=(
            "    IF good IS NOT TRUE THEN\n",
            "    IF good IS NOT TRUE AND TG_TABLE_NAME <> 'terms' THEN\n",
        ),
    ),
    *both(
        "the program of a submission is JSON",
        (TOLD,),
        sqlite=("SELECT raise(ABORT, 'submission refused: its JSON is none, or says otherwise')", "SELECT 1"),
        postgresql=(
            "WHEN 'submission' THEN good := operations.tells(NEW.environment, '');",
            "WHEN 'submission' THEN good := TRUE;",
        ),
    ),
    *refuses(
        "release refused: another domain has published these figures of the period",
        "no two domains tell the same",
        (GATE,),
    ),
    *refuses(
        "release refused: beside figures that may be the same, or sums of them",
        "nothing goes out beside what it may be computed from",
        (RELATED,),
    ),
    *refuses(
        "release refused: its certificate does not name why other domains are unrelated",
        "whoever agrees reads the reason",
        (RELATED,),
    ),
    *both(
        "a domain is never unrelated to itself",
        (RELATED,),
        sqlite=("        WHEN b.domain = NEW.domain THEN 1\n", ""),
        postgresql=("            WHEN b.domain = NEW.domain THEN TRUE\n", ""),
    ),
    *refuses(
        "secret refused: the log tells of another secret of this warehouse",
        "a warehouse has one secret for ever",
        (ONE_SECRET,),
    ),
    *refuses(
        "secret refused: it is named already, and the same for ever",
        "the name of a secret does not change",
        (ONE_SECRET,),
    ),
    *refuses(
        "release refused: its certificate names another secret than this warehouse has",
        "what was drawn elsewhere stays in",
        (ONE_SECRET,),
    ),
    *refuses(
        "release refused: it is drawn by a secret that is not named, or kept nowhere else",
        "what is drawn can be drawn again",
        (ONE_SECRET,),
    ),
    *refuses(
        "release refused: its cells are not those that were audited",
        "what goes out is what was audited",
        (ALONE, CELLS),
    ),
    *refuses("release refused: it holds a cell of a country", "no national cell goes out", (ALONE, CELLS)),
    Listed(
        SQLITE,
        "SELECT raise(ABORT, 'release refused: submitted for another domain or period')",
        "SELECT 1",
        "a release is of the period that was submitted",
        (f"{ALONE}::test_a_release_is_of_the_period_that_was_submitted",),
    ),
    Listed(
        POSTGRESQL,
        "'release refused: the transaction must be READ COMMITTED'",
        "''",
        "the gate sees what others committed meanwhile",
        (ALONE, CELLS),
    ),
    *both(
        "an approval of nobody known counts no more",
        (ALONE, EYES),
        sqlite=("\n            AND a.account IS NOT NULL", ""),
        postgresql=("\n            AND a.account IS NOT NULL", ""),
    ),
    *both(
        "terms of unknown profiles release nothing",
        (ALONE, PROFILES),
        sqlite=(
            "CREATE TRIGGER release_profiles BEFORE INSERT ON release BEGIN",
            "CREATE TRIGGER release_profiles BEFORE INSERT ON release WHEN 0 BEGIN",
        ),
        postgresql=(
            "CREATE TRIGGER release_profiles BEFORE INSERT ON dissemination.release",
            "CREATE TRIGGER release_profiles BEFORE DELETE ON dissemination.release",
        ),
    ),
    *both(
        "terms name known profiles only",
        (ALONE, PROFILES),
        sqlite=(
            "CREATE TRIGGER terms_profiles BEFORE INSERT ON terms\nWHEN (",
            "CREATE TRIGGER terms_profiles BEFORE INSERT ON terms\nWHEN 0 AND (",
        ),
        postgresql=(
            "CREATE TRIGGER terms_profiles BEFORE INSERT ON",
            "CREATE TRIGGER terms_profiles BEFORE DELETE ON",
        ),
    ),
    *both(
        "audits name known profiles only",
        (ALONE, PROFILES),
        sqlite=(
            "CREATE TRIGGER audit_profiles BEFORE INSERT ON audit\nWHEN (",
            "CREATE TRIGGER audit_profiles BEFORE INSERT ON audit\nWHEN 0 AND (",
        ),
        postgresql=(
            "CREATE TRIGGER audit_profiles BEFORE INSERT ON",
            "CREATE TRIGGER audit_profiles BEFORE DELETE ON",
        ),
    ),
    # --- what is stored stays -------------------------------------------------------------------------------
    Listed(
        SQLITE,
        "SELECT raise(ABORT, 'eu_cell refused: it is append-only, and the publication may be released')",
        "SELECT 1",
        "no cell slips into what is released",
        (ALONE, WAREHOUSE),
    ),
    Listed(
        POSTGRESQL,
        raising("eu_cell refused: the publication is released"),
        "NULL;",
        "no cell slips into what is released",
        (ALONE, WAREHOUSE),
    ),
    Listed(
        POSTGRESQL,
        raising("eu_cell refused: the transaction must be READ COMMITTED"),
        "NULL;",
        "an older view adds no cell",
        (CELLS,),
    ),
    Listed(
        POSTGRESQL,
        raising("eu_cell refused: there is no such publication"),
        "NULL;",
        "a cell is of a publication that is there",
        (ALONE,),
    ),
    Listed(POSTGRESQL, " FOR KEY SHARE;", ";", "a release waits for who adds a cell", (ALONE,)),
    Listed(
        POSTGRESQL,
        "AND p.digest = NEW.publication_digest FOR UPDATE;",
        "AND p.digest = NEW.publication_digest;",
        "who adds a cell waits for a release",
        (ALONE,),
    ),
    Listed(
        SQLITE,
        "WHEN EXISTS (SELECT 1 FROM eu_cell WHERE rowid = NEW.rowid) OR EXISTS (",
        "WHEN EXISTS (",
        "no released cell is replaced by its rowid",
        (PROMPT,),
    ),
    *(
        Listed(
            SQLITE,
            f"BEFORE UPDATE ON {table}\nBEGIN SELECT raise(ABORT, '{table} is append-only')",
            f"BEFORE UPDATE ON {table}\nBEGIN SELECT 1",
            f"a row of {table} is not changed",
            (ROWS, PROMPT),
        )
        for table in (
            "release",
            "eu_cell",
            "audit",
            "terms",
            "submission",
            "approval",
            "log",
            "retraction",
        )
    ),
    *(
        Listed(
            POSTGRESQL,
            f"BEFORE UPDATE OR DELETE OR TRUNCATE ON {table}",
            f"BEFORE DELETE OR TRUNCATE ON {table}",
            f"a row of {table} is not changed",
            (ROWS,),
        )
        for table in (
            "dissemination.release",
            "dissemination.publication",
            "dissemination.eu_cell",
            "operations.audit",
            "operations.terms",
            "operations.submission",
            "operations.approval",
            "operations.log",
            "dissemination.retraction",
        )
    ),
    *(
        Listed(
            SQLITE,
            f"SELECT raise(ABORT, '{table} is append-only: the key is there')",
            "SELECT 1",
            f"no row of {table} is replaced under its key",
            (ROWS, PROMPT),
        )
        for table in (
            "release",
            "publication",
            "audit",
            "terms",
            "submission",
            "approval",
            "log",
            "retraction",
            "alert",
        )
    ),
    *refuses(
        "payload refused: it is not marked as purged",
        "nothing confidential goes unseen",
        (ALONE, WAREHOUSE),
    ),
    *both(
        "the secret of a warehouse stays",
        (WAREHOUSE,),
        sqlite=("SELECT raise(ABORT, 'secret is append-only')", "SELECT 1"),
        postgresql=("BEFORE DELETE OR TRUNCATE", "BEFORE TRUNCATE"),
    ),
    # --- audits, approvals, people --------------------------------------------------------------------------
    Listed(
        SQLITE,
        "SELECT raise(ABORT, 'audit refused: the digest is not that of its certificate')",
        "SELECT 1",
        "an audit is known by its certificate",
        (ALONE,),
    ),
    Listed(
        POSTGRESQL,
        raising("audit refused: the digest is not that of its certificate"),
        "NULL;",
        "an audit is known by its certificate",
        (ALONE, GATE),
    ),
    Listed(
        SQLITE,
        "SELECT raise(ABORT, 'audit refused: passed, and something broken')",
        "SELECT 1",
        "nothing broken passes, CHECKs or not",
        (ALONE,),
    ),
    Listed(
        SCHEMA,
        '"NOT passed OR broken = 0"',
        '"NOT passed OR broken >= 0"',
        "nothing broken passes",
        (ALONE, WAREHOUSE),
    ),
    Listed(
        SQLITE,
        "WHERE NEW.approver = NEW.submitter\n        OR NOT EXISTS",
        "WHERE NOT EXISTS",
        "nobody agrees to what he submitted",
        (ALONE,),
    ),
    Listed(
        SQLITE,
        " AND s.submitter = NEW.submitter",
        "",
        "the submitter is who submitted",
        (ALONE,),
    ),
    Listed(
        SQLITE,
        "SELECT raise(ABORT, 'approval refused: no passed audit of this publication')",
        "SELECT 1",
        "an approval is of a passed audit",
        (ALONE,),
    ),
    Listed(
        SCHEMA,
        '"approver <> submitter"',
        "\"approver <> ''\"",
        "nobody agrees to what he submitted",
        (ALONE, GATE),
    ),
    Listed(
        SCHEMA,
        'refers("release_id", "submitter", to="operations.submission")',
        'refers("release_id", to="operations.run")',
        "the submitter is who submitted",
        (GATE,),
    ),
    Listed(
        POSTGRESQL,
        "NEW.account := session_user;",
        "NEW.account := NEW.approver;",
        "the account of an approval is the account",
        (EYES,),
        of="approval_gate",
    ),
    Listed(
        POSTGRESQL,
        raising("approval refused: an account agrees in its own name only"),
        "NULL;",
        "one account is one approval",
        (EYES,),
    ),
    *refuses(
        "approval refused: the name could pass for that of somebody else",
        "a name of an approver has one spelling",
        (EYES,),
    ),
    *refuses(
        "submission refused: the name could pass for that of somebody else",
        "a name of a submitter has one spelling",
        (ALONE,),
    ),
    Listed(
        SQLITE,
        "SELECT raise(ABORT, 'retraction refused: no such release')",
        "SELECT 1",
        "only what is out is taken back",
        (ALONE,),
    ),
    *refuses(
        "withdrawal refused: who asked to take the release back does not agree to it",
        "nobody agrees to what he asked",
        (ALONE,),
    ),
    *refuses(
        "withdrawal refused: the name could pass for that of somebody else",
        "a name of who agrees has one spelling",
        (ALONE,),
    ),
    *refuses(
        "retraction refused: nobody else agreed to it for this reason",
        "nobody takes a release back alone",
        (ALONE,),
    ),
    *refuses(
        "retraction refused: the name could pass for that of somebody else",
        "a name of who asks has one spelling",
        (ALONE,),
    ),
    *(
        mutant
        for old, new, what in (
            ("AND w.reason = NEW.reason AND w.agreed_by", "AND w.agreed_by", "an agreement is to one reason"),
            ("AND w.agreed_by <> NEW.retracted_by", "", "who takes back and who agreed are two"),
            (
                "WHERE w.release_id = NEW.release_id AND w.reason",
                "WHERE w.reason",
                "an agreement is to one release",
            ),
        )
        for mutant in both(what, (ALONE,), sqlite=(old, new), postgresql=(old, new))
    ),
    *both(
        "an agreement stays as it is",
        (ROWS,),
        sqlite=(
            "BEFORE UPDATE ON withdrawal\nBEGIN SELECT raise(ABORT, 'withdrawal is append-only')",
            "BEFORE UPDATE ON withdrawal\nBEGIN SELECT 1",
        ),
        postgresql=(
            "BEFORE UPDATE OR DELETE OR TRUNCATE ON operations.withdrawal",
            "BEFORE DELETE OR TRUNCATE ON operations.withdrawal",
        ),
    ),
    Listed(
        SQLITE,
        "SELECT raise(ABORT, 'withdrawal is append-only: the key is there')",
        "SELECT 1",
        "no agreement is replaced under its key",
        (ROWS, PROMPT),
    ),
    Listed(
        POSTGRESQL,
        raising("withdrawal refused: an account agrees in its own name only"),
        "NULL;",
        "an account agrees in its own name",
        (EYES,),
    ),
    Listed(
        POSTGRESQL,
        "NEW.account := session_user;",
        "NEW.account := NEW.agreed_by;",
        "the account of an agreement is the account",
        (ALONE,),
        of="withdrawal_gate",
    ),
    Listed(
        POSTGRESQL,
        "NEW.agreed_at := clock_timestamp();",
        "",
        "the server dates an agreement",
        (ALONE,),
    ),
    # --- the log --------------------------------------------------------------------------------------------
    Listed(
        SQLITE,
        "SELECT raise(ABORT, 'log refused: not the next entry')",
        "SELECT 1",
        "the log is one chain",
        (LOG,),
    ),
    Listed(
        SQLITE,
        "SELECT raise(ABORT, 'log refused: not the digest of this entry')",
        "SELECT 1",
        "an entry has its own digest",
        (f"{ALONE}::test_an_entry_has_its_own_digest",),
    ),
    Listed(
        POSTGRESQL,
        raising("log refused: number, instant, account and digests are set by the database"),
        "NULL;",
        "a writer of the log sets no digest",
        (LOG, POISON),
    ),
    Listed(
        POSTGRESQL,
        "NEW.recorded_at := clock_timestamp();",
        "NEW.recorded_at := '2001-01-01';",
        "the server dates the log",
        (ALONE,),
    ),
    Listed(
        POSTGRESQL,
        "NEW.account := session_user;",
        "NEW.account := current_user;",
        "the log tells the account",
        (ALONE,),
        of="log_gate",
    ),
    Listed(
        POSTGRESQL,
        "PERFORM operations.take_turn('log');",
        "",
        "one entry follows another",
        (LOG,),
    ),
    Listed(
        POSTGRESQL,
        "NEW.previous := coalesce(last.digest, '');",
        "NEW.previous := '';",
        "an entry holds the digest before",
        (LOG,),
    ),
    *(
        Listed(
            POSTGRESQL,
            f"CREATE TRIGGER {table}_dated BEFORE INSERT ON",
            f"CREATE TRIGGER {table}_dated BEFORE DELETE ON",
            f"the server dates {table}",
            (
                f"{ALONE}::test_the_server_tells_who_and_when",
                f"{ALONE}::test_the_server_dates_what_goes_out_and_what_is_taken_back",
            ),
        )
        for table in ("terms", "submission", "audit", "approval", "release", "retraction", "alert")
    ),
    Listed(
        SCHEMA,
        " AND {each} < '3000-01-01 00:00+00'",
        "",
        "no instant is infinite",
        (POISON,),
    ),
    Listed(
        SCHEMA,
        "OR NEW.{0} >= '3000'",
        "",
        "no instant is beyond bounds",
        (POISON,),
    ),
    # --- who runs what --------------------------------------------------------------------------------------
    *(
        Listed(
            POSTGRESQL,
            "SECURITY DEFINER SET search_path = pg_catalog, pg_temp",
            "SECURITY DEFINER SET search_path = pg_catalog",
            "nobody becomes the owner",
            (OWNER,),
            function,
        )
        for function in (
            "release_gate",
            "log_gate",
            "approval_gate",
        )
    ),
    Listed(
        "sql/roles.sql",
        "REVOKE ALL ON ALL FUNCTIONS IN SCHEMA confidential, operations, dissemination FROM PUBLIC;",
        "SELECT 1;",
        "no function of the owner is everybody's",
        (OWNER, ROLES),
    ),
    Listed(
        "sql/roles.sql",
        "EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());",
        "NULL;",
        "no account makes temporary objects",
        (OWNER,),
    ),
    Listed(
        "sql/roles.sql",
        "REVOKE ALL ON operations.turn FROM",
        "REVOKE DELETE ON operations.turn FROM",
        "turns are taken by the function alone",
        (ALONE,),
    ),
    Listed(
        "sql/roles.sql",
        "TO sdc_publisher;\n\n-- Whoever writes takes turns.",
        "TO sdc_publisher;\n\nGRANT USAGE ON SCHEMA confidential TO sdc_publisher;\n\n"
        "GRANT SELECT ON ALL TABLES IN SCHEMA confidential TO sdc_publisher;\n\n-- Whoever writes takes "
        "turns.",
        "the publisher reads nothing confidential",
        (ALONE,),
    ),
    # --- what the world sees --------------------------------------------------------------------------------
    Listed(
        POSTGRESQL,
        "        WHERE r.embargo IS NULL OR r.embargo <= CURRENT_TIMESTAMP;",
        "        WHERE true;",
        "nothing is seen before its embargo",
        (GATE,),
    ),
    Listed(
        SQLITE,
        "WHERE r.embargo IS NULL OR r.embargo <= CURRENT_TIMESTAMP;",
        "WHERE 1;",
        "nothing is seen before its embargo",
        (GATE,),
    ),
    Listed(
        POSTGRESQL,
        " AND v.retracted IS NULL;",
        ";",
        "what is taken back is seen no more",
        (GATE,),
    ),
    Listed(
        SQLITE,
        "WHERE r.retracted IS NULL;",
        "WHERE 1;",
        "what is taken back is seen no more",
        (GATE,),
    ),
    *(
        Listed("sql/queries/audit_of_release.sql", f"    AND {old}\n", "", what, (GATE, WAREHOUSE))
        for old, what in (
            ("a.problem_digest = :problem", "the stored audit is of this problem"),
            ("a.publication_digest = :publication", "the stored audit is of this publication"),
            ("a.profiles = :profiles", "the stored audit is against these profiles"),
            ("a.passed", "the stored audit passed"),
            ("r.domain = :domain", "the stored audit is of this domain"),
            ("r.period = :period", "the stored audit is of this period"),
        )
    ),
    # --- the publisher --------------------------------------------------------------------------------------
    *(
        Listed(PUBLISHER, old, new, what, (GATE, WAREHOUSE, CELLS))
        for old, new, what in (
            (
                "    _require_passed_audit(release, space, terms.profiles)\n",
                "",
                "the publisher asks for a passed audit",
            ),
            ("if report.publication != decided.digest:", "if False:", "the audit is of this publication"),
            ("if report.problem != release.problem:", "if False:", "the audit is of this problem"),
            (
                "[profile for profile in profiles if profile not in report.profiles]",
                "[]",
                "every profile of the terms was attacked",
            ),
            ("    if not report.passed:", "    if False:", "a failed audit is named"),
            ("if not np.array_equal(decided.cells, aggregates):", "if False:", "every cell is decided"),
            ('        serialise(connection, "release", domain, period)\n', "", "publishers take turns"),
            ("if mine and mine.publication_digest != digest:", "if False:", "one release has one content"),
            (
                "    if mine and mine.reason:",
                "    if False:",
                "what was retracted does not come back",
            ),
            (
                "if [row.release_id for row in versions] != list(after):",
                "if False:",
                "a version knows all that is out",
            ),
            (
                "if versions and VINTAGE not in release.report.profiles:",
                "if False:",
                "a version was attacked beside the others",
            ),
            (
                (
                    "if submitted is None or (submitted.domain, submitted.terms_digest) != (terms.domain, "
                    "terms.digest):"
                ),
                "if submitted is None:",
                "terms are those of the submission",
            ),
            ("    require_terms(connection, terms)\n", "", "terms are those of the warehouse"),
            ("    if number < approvals:", "    if number < 0:", "approvals are asked for by name"),
            (
                "        _require_what_was_asked(release, versions)\n",
                "",
                "a later version withstands whom an earlier one had to withstand",
            ),
            ("    if other is not None:", "    if False:", "staged cells are compared as a whole"),
            (
                '        record(connection, "release", release.id, **about)\n',
                "",
                "a release is in the log",
            ),
        )
    ),
    Listed(
        CANONICAL,
        "        if changes == connection.total_changes:",
        "        if known:",
        "what was changed after its insertion is read again",
        (CELLS,),
    ),
    *(
        Listed(JOURNAL, old, new, what, (GATE, WAREHOUSE, LOG))
        for old, new, what in (
            (
                "if known is None or any(known[name] != value for name, value in asked.row.items()):",
                "if known is None:",
                "terms cannot be softened",
            ),
            (
                "        if tuple(found) != (domain, period):",
                "        if False:",
                "a run is of one domain and period",
            ),
            (
                (
                    '            record(connection, "audit", release_id, **about, printed=printed, '
                    "lps=int(report.lps))\n"
                ),
                "",
                "an audit is in the log",
            ),
            (
                '"submitter": person(actor_of(connection)),',
                '"submitter": "somebody",',
                "who submits is noted",
            ),
        )
    ),
    # --- the log, as the program writes and reads it --------------------------------------------------------
    *(
        Listed(ENTRIES, old, new, what, (LOG,))
        for old, new, what in (
            ("        if entry.number != number:", "        if False:", "a missing entry shows"),
            (
                "        if entry.previous != previous:",
                "        if False:",
                "entries that changed places show",
            ),
            (
                "        if entry.digest != digest_of_entry(**own):",
                "        if False:",
                "a changed entry shows",
            ),
            (
                "    if head is not None and head not in {entry.digest for entry in chain}:",
                "    if False:",
                "an end that was cut off shows",
            ),
        )
    ),
    *(
        Listed(DECIDED, old, new, what, (EYES, GATE, LOG))
        for old, new, what in (
            ("{typed, who} & {submitter, ", "{typed, who} & {", "nobody agrees to what he submitted"),
            (
                "{submitter, *connection.execute(started).scalars()}",
                "{submitter}",
                "nobody agrees to a release of which he started a run",
            ),
            (
                "    if len(publication) < SHORTEST:",
                "    if False:",
                "a publication is named by enough digits",
            ),
            ("    if gone is not None:", "    if False:", "nobody agrees to what was retracted"),
            (
                "            audit.c.passed,\n            audit.c.publication_digest.startswith",
                "            audit.c.publication_digest.startswith",
                "an approval is of a passed audit",
            ),
            (
                '            record(connection, "approve", release_id, **about)\n',
                "",
                "an approval is in the log",
            ),
            (
                '            record(connection, "retract", release_id, reason=reason)\n',
                "",
                "a retraction is in the log",
            ),
            (
                "        who = who if desk else str(account)",
                "        pass",
                "an account agrees in its own name",
            ),
            (
                "            _require_another(connection, release_id, reason, by)\n",
                "",
                "who takes back alone is told what is missing",
            ),
            (
                "{typed, who} & set(connection",
                "set() & set(connection",
                "who asked is told that he cannot agree",
            ),
            (
                '            record(connection, "agree", release_id, reason=reason)\n',
                "",
                "an agreement to a retraction is in the log",
            ),
        )
    ),
    Listed(
        PEOPLE,
        "return normal(name) == name and NAME.fullmatch(name) is not None",
        "return normal(name) == name",
        "letters of two scripts are refused",
        (EYES,),
    ),
    # --- keys -----------------------------------------------------------------------------------------------
    *(
        Listed(file, old, new, what, (RING, KEYS, ALONE))
        for file, old, new, what in (
            (
                KEYRING,
                "AESGCM(self.keys[name]).encrypt(nonce, content, digest.encode())",
                'AESGCM(self.keys[name]).encrypt(nonce, content, b"")',
                "a payload is bound to its digest",
            ),
            (
                KEYRING,
                "nonce = secrets.token_bytes(NONCE_BYTES)",
                "nonce = bytes(NONCE_BYTES)",
                "no nonce is used twice",
            ),
            (
                KEYRING,
                "    if path.stat().st_mode & 0o077:",
                "    if False:",
                "a key file that others read is refused",
            ),
            (
                KEYRING,
                "os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600",
                "os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644",
                "a key file is its owner's",
            ),
            (
                KEYRING,
                "            os.link(part, path)",
                "            part.replace(path)",
                "of several new key files the first counts",
            ),
            (
                KEYRING,
                '    if not re.fullmatch(r"[A-Za-z0-9_-]{43}=", text):',
                "    if False:",
                "what is no key is refused",
            ),
            (
                KEYRING,
                "    keys: dict[str, bytes] = field(repr=False)",
                "    keys: dict[str, bytes] = field()",
                "a keyring does not show its keys",
            ),
            (
                SECRET,
                "select(secret.c.key_id).with_for_update(read=True)",
                "select(secret.c.key_id)",
                "keys are not replaced while somebody saves",
            ),
            (
                SECRET,
                "    if name not in keys_of(connection).keys:",
                "    if False:",
                "nobody saves by a key that was replaced",
            ),
            (
                SECRET,
                "        connection.execute(update(secret).values(content=content, key_id=key_id))",
                "        pass",
                "the key in use is the newest",
            ),
            (
                SECRET,
                "    if given is not None and given != found:",
                "    if False:",
                "a warehouse keeps its secret",
            ),
        )
    ),
]
