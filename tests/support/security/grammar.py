"""Statements that somebody at a prompt might try on this warehouse: a grammar of SQL
over its tables, drawn from a seed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import Table

from sdc_tasks.warehouse.database.schema import metadata

VIEWS = {
    "dissemination.public_release": (
        "release_id",
        "domain",
        "period",
        "version",
        "publication_digest",
        "embargo",
        "retracted",
    ),
    "operations.delivery_now": (
        "domain",
        "period",
        "digest",
        "country",
        "file",
        "received_at",
        "superseded_by",
        "times",
        "state",
        "lying",
    ),
    "dissemination.public_cell": (
        "domain",
        "period",
        "version",
        "position",
        "cell",
        "area",
        "indicator",
        "value",
        "rounding_base",
    ),
}
CATALOGS = {
    "pg_stats": ("tablename", "attname", "most_common_vals", "histogram_bounds"),
    "pg_statistic": ("starelid", "stavalues1", "stavalues2"),
    "pg_stats_ext": ("statistics_name", "most_common_vals"),
    "pg_authid": ("rolname", "rolpassword"),
    "pg_shadow": ("usename", "passwd"),
    "pg_roles": ("rolname", "rolpassword"),
    "pg_user": ("usename", "passwd"),
    "pg_stat_activity": ("usename", "query", "state"),
    "pg_stat_user_tables": ("relname", "n_live_tup"),
    "pg_class": ("relname", "reltuples", "relacl"),
    "pg_proc": ("proname", "prosrc", "proacl"),
    "pg_largeobject": ("loid", "data"),
    "pg_largeobject_metadata": ("oid", "lomowner"),
    "pg_settings": ("name", "setting", "sourcefile"),
    "pg_file_settings": ("name", "setting"),
    "pg_hba_file_rules": ("line_number", "auth_method"),
    "pg_prepared_statements": ("name", "statement"),
    "pg_cursors": ("name", "statement"),
    "pg_locks": ("locktype", "mode", "pid"),
    "pg_trigger": ("tgname", "tgenabled"),
    "pg_user_mappings": ("srvname", "umoptions"),
    "information_schema.tables": ("table_name", "table_type"),
    "information_schema.column_privileges": ("grantee", "column_name"),
}
SETTINGS = (
    *(
        "client_min_messages = debug1",
        "debug_print_plan = on",
        "debug_print_parse = on",
        "enable_seqscan = off",
        "enable_nestloop = off",
    ),
    *(
        "row_security = off",
        "search_path = confidential, operations, pg_temp",
        "session_replication_role = replica",
        "work_mem = '64kB'",
    ),
    *(
        "default_transaction_isolation = 'serializable'",
        "log_statement = 'all'",
        "check_function_bodies = off",
        "xmloption = content",
    ),
    *(
        "local_preload_libraries = 'x'",
        "bytea_output = 'escape'",
        "extra_float_digits = -5",
        "DateStyle = 'German'",
        "TimeZone = 'Asia/Tokyo'",
    ),
    *(
        "plan_cache_mode = force_generic_plan",
        "lc_messages = 'C'",
        "zero_damaged_pages = on",
        "ignore_system_indexes = on",
    ),
)
CASTS = (
    "text",
    "integer",
    "bytea",
    "xml",
    "json",
    "regclass",
    "money",
    "inet",
    "date",
    "bit(8)",
    "float4",
    "information_schema.cardinal_number",
)


@dataclass(frozen=True)
class Around:
    """What a role finds around it: its own account, those of the others, and the instants and
    values that it would like to know.
    """

    account: str
    others: tuple[str, ...]
    readable: tuple[str, ...]
    functions: tuple[tuple[str, int], ...]
    numbers: tuple[float, ...]


class Grammar:
    """Equal seeds give equal statements."""

    def __init__(self, seed: str, around: Around) -> None:
        self.draw, self.around = random.Random(seed), around
        self.columns: dict[str, tuple[str, ...]] = {
            name: _names(table) for name, table in metadata.tables.items()
        }
        self.columns |= {**VIEWS, **CATALOGS}
        self.ours = tuple(metadata.tables)
        self.kinds: dict[Callable[[], str], int] = {
            self.select: 22,
            self.explain: 8,
            self.copy: 5,
            self.prepared: 4,
            self.call: 14,
            self.block: 6,
            self.insert: 9,
            self.update: 6,
            self.delete: 3,
            self.merge: 3,
            self.define: 9,
            self.change: 6,
            self.setting: 5,
            self.become: 4,
            self.cursor: 3,
            self.notify: 2,
            self.lock: 4,
            self.large_object: 3,
            self.grant: 4,
        }

    def statement(self) -> str:
        return self.draw.choices(list(self.kinds), list(self.kinds.values()))[0]()

    # --- parts ----------------------------------------------------------------------------------------------

    def one(self, *parts: str) -> str:
        return self.draw.choice(parts)

    def table(self) -> str:
        """Often one that it may read, so that what follows is reached."""
        if self.around.readable and self.draw.random() < 0.5:
            return self.draw.choice(self.around.readable)
        return (
            self.draw.choice(list(CATALOGS))
            if self.draw.random() < 0.2
            else self.draw.choice([*self.ours, *VIEWS])
        )

    def column(self, table: str) -> str:
        return f'"{self.draw.choice(self.columns[table])}"'

    def number(self) -> str:
        return repr(self.draw.choice(self.around.numbers) + self.draw.choice((-1.0, -0.25, 0.0, 0.25, 1.0)))

    def literal(self) -> str:
        return self.one(
            self.number(),
            "'2024'",
            "'2025'",
            "'sbs'",
            "'r2024'",
            "'r2025'",
            "1",
            "0",
            "NULL",
            "true",
            "'{}'",
            "now()",
        )

    def value(self, column: str) -> str:
        """An expression over a column, sensible or not."""
        return self.one(
            column,
            column,
            f"{column}::text",
            f"{column}::{self.draw.choice(CASTS)}",
            f"CAST({column} AS text)::{self.draw.choice(CASTS)}",
            f"encode(convert_to({column}::text, 'UTF8'), '{self.one('hex', 'base64', 'escape')}')",
            f"reverse({column}::text)",
            f"1 / ({column}::text::numeric - {self.number()})",
            f"pg_column_size({column})",
            f"upper({column}::text)",
            f"to_json({column})",
            f"concat_ws('|', {column}, {self.literal()})",
            f"coalesce({column}::text, {self.literal()})",
            f"max({column})",
            f"string_agg({column}::text, ',')",
            f"count(*) FILTER (WHERE {column}::text > '{self.number()}')",
            f"array_agg({column})",
        )

    def condition(self, table: str) -> str:
        column = self.column(table)
        return self.one(
            f"{column}::text >= '{self.number()}'",
            f"{column} >= {self.literal()}",
            f"{column} = {self.literal()}",
            f"{column} IS NOT NULL",
            f"{column}::text ~ '{self.one('.', '^7', 'x', '(a+)+b')}'",
            f"{column} IN (SELECT {self.column(table)} FROM {table})",
            "true",
            f"EXISTS (SELECT 1 FROM {(other := self.table())} WHERE {self.column(other)}::text = "
            f"{column}::text)",
        )

    def query(self) -> str:
        table, other = self.table(), self.table()
        column, its = self.column(table), self.column(other)
        return self.one(
            f"SELECT {self.value(column)} FROM {table} WHERE {self.condition(table)}",
            f"SELECT * FROM {table} WHERE {self.condition(table)} LIMIT 50",
            f"TABLE {table}",
            f"SELECT t FROM {table} t",
            f"SELECT row_to_json(t) FROM {table} t",
            f"SELECT {column}, count(*) FROM {table} GROUP BY ROLLUP ({column}) HAVING count(*) > 0 ORDER BY "
            f"1",
            f"SELECT {self.value(f'a.{column}')} FROM {table} a JOIN {other} b ON a.{column}::text = "
            f"b.{its}::text",
            f"SELECT a.*, b.* FROM {table} a, LATERAL (SELECT * FROM {self.table()} LIMIT 3) b LIMIT 9",
            f"WITH w AS MATERIALIZED (SELECT * FROM {table}) SELECT {self.value(column)} FROM w",
            f"SELECT {column} FROM {table} UNION ALL SELECT {column} FROM {table} ORDER BY 1",
            f"SELECT {column}, row_number() OVER (ORDER BY {column}) FROM {table}",
            f"SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY {column}) FROM {table}",
            f"SELECT * FROM {table} TABLESAMPLE SYSTEM (100)",
            f"SELECT ctid, xmin, tableoid::regclass FROM {table}",
        )

    # --- statements -----------------------------------------------------------------------------------------

    def select(self) -> str:
        return (
            self.query() + self.one("", "", "", " FOR UPDATE", " FOR KEY SHARE")
            if self.draw.random() < 0.2
            else self.query()
        )

    def explain(self) -> str:
        how = self.one(
            "",
            "ANALYZE, TIMING OFF, SUMMARY OFF",
            "VERBOSE",
            "ANALYZE, VERBOSE, BUFFERS",
            "FORMAT JSON",
            "GENERIC_PLAN",
            "SETTINGS",
        )
        inner = self.one(self.query(), self.query(), self.update(), self.delete(), self.insert())
        return f"EXPLAIN {f'({how})' if how else ''} {inner}"

    def copy(self) -> str:
        table = self.table()
        return self.one(
            f"COPY {table} TO STDOUT",
            f"COPY ({self.query()}) TO STDOUT WITH (FORMAT csv, HEADER)",
            f"COPY {table} TO STDOUT (FORMAT binary)",
            f"COPY {table} TO PROGRAM 'cat'",
            f"COPY {table} FROM '/etc/passwd'",
            f"COPY {table} TO '/tmp/stolen'",
        )

    def prepared(self) -> str:
        table = self.table()
        return (
            f"DEALLOCATE ALL; PREPARE p AS SELECT {self.value(self.column(table))} FROM {table} "
            f"WHERE {self.column(table)}::text >= $1::text; "
            f"EXECUTE p({self.literal()}); "
            f"{self.one('EXPLAIN EXECUTE p(1)', 'EXPLAIN ANALYZE EXECUTE p(2)', 'EXECUTE p(NULL)')}"
        )

    def call(self) -> str:
        """A function of the warehouse, or one of the server that reaches far."""
        if self.around.functions and self.draw.random() < 0.5:
            name, number = self.draw.choice(self.around.functions)
            given = ", ".join(
                self.one("'sbs'", "'2024'", "'2025'", "1", "2", "NULL", "'{}'") for _ in range(number)
            )
            return self.one(
                f"SELECT {name}({given})",
                f"SELECT * FROM {name}({given}) f",
                f"SELECT f::text FROM {name}({given}) f",
            )
        table, query = self.table(), self.query().replace("'", "''")
        return "SELECT " + self.one(
            f"query_to_xml('{query}', true, false, '')",
            f"table_to_xml('{table}', true, false, '')",
            "database_to_xml(true, false, '')",
            "schema_to_xml('confidential', true, false, '')",
            f"cursor_to_xml('c', 5, true, false, '') FROM {table}",
            f"pg_get_viewdef('{table}'::regclass)",
            f"pg_relation_size('{table}')",
            f"pg_stat_get_live_tuples('{table}'::regclass)",
            f"pg_relation_filepath('{table}')",
            "pg_read_file('postgresql.conf')",
            "pg_read_file('canary.txt')",
            "pg_ls_dir('.')",
            "pg_read_binary_file('canary.txt')",
            "pg_ls_waldir()",
            "lo_import('canary.txt')",
            "pg_current_logfile()",
            f"has_table_privilege('{self.draw.choice(self.around.others)}', '{table}', 'SELECT')",
            "pg_export_snapshot()",
            "pg_stat_get_backend_activity(s) FROM generate_series(1, 40) s",
            "pg_get_functiondef(p.oid) FROM pg_proc p WHERE prosecdef",
            "set_config('session_replication_role', 'replica', false)",
            "set_config('role', 'none', false)",
            "pg_reload_conf()",
            "pg_advisory_lock(1)",
            "pg_advisory_xact_lock(hashtextextended('log', 0))",
            "pg_try_advisory_lock(2, 3)",
            "pg_switch_wal()",
            f"ts_stat('{query}')",
            f"ts_rewrite('a'::tsquery, '{query}')",
            "pg_logical_emit_message(false, 'x', 'y')",
            "pg_stat_reset()",
            "pg_rotate_logfile()",
            "currval('x')",
            f"pg_identify_object('pg_class'::regclass, '{table}'::regclass, 0)",
            "txid_current()",
            f"json_populate_record(NULL::{table}, '{{}}')",
            f"pg_input_error_info('x', '{self.draw.choice(CASTS)}')",
            "pg_get_multixact_members('1')",
        )

    def block(self) -> str:
        table = self.table()
        body = self.one(
            f"FOR r IN EXECUTE {_quoted(self.query())} LOOP RAISE NOTICE '%', r; END LOOP",
            f"SELECT * INTO r FROM {table} LIMIT 1; RAISE WARNING '%', r",
            f"EXECUTE {_quoted(self.one(self.update(), self.insert(), self.delete(), self.define(), self.grant()))}",  # noqa: E501
            f"SELECT 1 / (count(*) - count(*)) INTO r FROM {table}",
            f"PERFORM set_config('role', '{self.draw.choice(self.around.others)}', false); EXECUTE "
            f"{_quoted(self.query())} INTO r",
        )
        caught = self.one("", " EXCEPTION WHEN OTHERS THEN RAISE NOTICE '% %', SQLSTATE, SQLERRM;")
        return f"DO $block$ DECLARE r record; BEGIN {body};{caught} END $block$"

    def insert(self) -> str:
        """A row like one that is there, with one thing in it changed; or one of nothing."""
        table = self.draw.choice(self.ours)
        names = [f'"{name}"' for name in self.columns[table]]
        changed = self.draw.randrange(len(names))
        values = [
            self.one(self.literal(), f"{name}::text || 'x'") if i == changed else name
            for i, name in enumerate(names)
        ]
        conflict = self.one(
            "",
            "",
            " ON CONFLICT DO NOTHING",
            f" ON CONFLICT ({names[0]}) DO UPDATE SET {names[changed]} = EXCLUDED.{names[changed]}",
        )
        back = self.one("", "", " RETURNING *")
        if table == "operations.log" or self.draw.random() < 0.3:
            some = (
                names[: self.draw.randint(1, len(names))]
                if table != "operations.log"
                else ['"actor"', '"action"', '"subject"', '"details"']
            )
            return (
                f"INSERT INTO {table} ({', '.join(some)}) VALUES "
                f"({', '.join(self.literal() for _ in some)}){conflict}{back}"
            )
        return (
            f"INSERT INTO {table} ({', '.join(names)}) SELECT {', '.join(values)} FROM "
            f"{table} LIMIT 1{conflict}{back}"
        )

    def update(self) -> str:
        table = self.draw.choice(self.ours)
        column = self.column(table)
        more = self.one("", f" WHERE {self.condition(table)}", f" FROM {self.table()} o WHERE true")
        return (
            f"UPDATE {table} SET {column} = "
            f"{self.one(self.literal(), column, f'({self.query()})')}{more}{self.one('', ' RETURNING *')}"
        )

    def delete(self) -> str:
        table = self.draw.choice(self.ours)
        return self.one(
            f"DELETE FROM {table} WHERE {self.condition(table)} RETURNING *",
            f"DELETE FROM {table}",
            f"TRUNCATE {table} CASCADE",
        )

    def merge(self) -> str:
        table = self.draw.choice(self.ours)
        column = self.column(table)
        return (
            f"MERGE INTO {table} t USING {self.table()} s ON t.{column}::text = 'x' "
            f"WHEN MATCHED THEN UPDATE SET {column} = {self.literal()} "
            f"WHEN NOT MATCHED THEN INSERT ({column}) VALUES ({self.literal()})"
        )

    def define(self) -> str:
        """Objects of one's own, and traps for those who come by."""
        table, schema = (
            self.table(),
            self.one("public", "pg_temp", "operations", "confidential", "dissemination", "pg_catalog"),
        )
        return self.one(
            f"CREATE TABLE {schema}.mine AS SELECT * FROM {table}",
            f"CREATE TEMP TABLE mine AS {self.query()}",
            "CREATE SCHEMA mine",
            f"CREATE VIEW {schema}.mine AS SELECT * FROM {table}",
            f"CREATE MATERIALIZED VIEW {schema}.mine AS SELECT * FROM {table}",
            f"CREATE DOMAIN {schema}.{self.one('text', 'int4', 'timestamptz')} AS pg_catalog.text CHECK "
            f"(VALUE <> '')",
            f"CREATE FUNCTION {schema}.{self.one('lower', 'told')}(x pg_catalog.text) RETURNS "
            f"pg_catalog.text LANGUAGE sql AS 'SELECT x'",
            f"CREATE FUNCTION {schema}.mine() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS 'BEGIN "
            f"RETURN NULL; END'",
            f"CREATE TRIGGER mine BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION "
            f"dissemination.append_only()",
            f"CREATE RULE mine AS ON INSERT TO {table} DO INSTEAD NOTHING",
            f"CREATE INDEX ON {table} ({self.column(table)})",
            f"CREATE POLICY mine ON {table} USING (true)",
            f"CREATE STATISTICS mine ON {self.column(table)}, {self.column(table)} FROM {table}",
            "CREATE EXTENSION IF NOT EXISTS dblink",
            "CREATE ROLE mine SUPERUSER",
            "CREATE LANGUAGE plpython3u",
            "CREATE DATABASE mine",
            f"CREATE OPERATOR {schema}.=== (FUNCTION = texteq, LEFTARG = text, RIGHTARG = text)",
            f"CREATE AGGREGATE {schema}.mine(text) (SFUNC = textcat, STYPE = text)",
            f"CREATE CAST (integer AS {schema}.mine) WITH INOUT",
            f"CREATE SEQUENCE {schema}.mine",
            f"CREATE PUBLICATION mine FOR TABLE {table}",
            "CREATE SERVER mine FOREIGN DATA WRAPPER postgres_fdw",
            "CREATE EVENT TRIGGER mine ON ddl_command_end EXECUTE FUNCTION mine()",
        )

    def change(self) -> str:
        table = self.draw.choice(self.ours)
        return self.one(
            f"ALTER TABLE {table} DISABLE TRIGGER ALL",
            f"ALTER TABLE {table} OWNER TO {self.around.account}",
            f"DROP TABLE {table} CASCADE",
            f"ALTER TABLE {table} ADD COLUMN mine integer",
            f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY",
            "DROP SCHEMA operations CASCADE",
            f"ALTER TABLE {table} ALTER COLUMN {self.column(table)} TYPE text",
            f"COMMENT ON TABLE {table} IS 'mine'",
            f"VACUUM {table}",
            f"ANALYZE {table}",
            f"REINDEX TABLE {table}",
            f"CLUSTER {table}",
            f"ALTER ROLE {self.around.account} SUPERUSER",
            f"ALTER ROLE {self.around.account} CREATEROLE",
            "ALTER SYSTEM SET log_statement = 'all'",
            "ALTER FUNCTION operations.log_gate() RESET ALL",
            "DROP FUNCTION operations.log_gate() CASCADE",
            "CREATE OR REPLACE FUNCTION operations.log_gate() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN "
            "RETURN NEW; END'",
            "CREATE OR REPLACE VIEW dissemination.public_cell AS SELECT * FROM dissemination.eu_cell",
            "DROP OWNED BY CURRENT_USER",
            f"SECURITY LABEL ON TABLE {table} IS 'x'",
            "REASSIGN OWNED BY CURRENT_USER TO CURRENT_USER",
            "ALTER VIEW dissemination.public_cell RENAME TO mine",
        )

    def setting(self) -> str:
        return (
            self.one("SET ", "SET LOCAL ", "SET SESSION ") + self.draw.choice(SETTINGS)
            if self.draw.random() < 0.8
            else "RESET ALL"
        )

    def become(self) -> str:
        who = self.draw.choice(
            (*self.around.others, "postgres", "pg_read_all_data", "pg_execute_server_program", "none")
        )
        return self.one(
            f"SET ROLE {who}",
            f"SET SESSION AUTHORIZATION {who}",
            "RESET ROLE",
            "RESET SESSION AUTHORIZATION",
            f"SET LOCAL ROLE {who}",
        )

    def cursor(self) -> str:
        return (
            f"BEGIN; DECLARE c {self.one('', 'SCROLL', 'BINARY')} CURSOR {self.one('', 'WITH HOLD')} FOR "
            f"{self.query()}; "
            f"FETCH {self.one('ALL', '3', 'LAST', 'ABSOLUTE 2')} FROM c; MOVE 1 FROM c; "
            f"{self.one('COMMIT', 'ROLLBACK')}"
        )

    def notify(self) -> str:
        return self.one("LISTEN x", "NOTIFY x, 'y'", "UNLISTEN *", "SELECT pg_notify('x', 'y')")

    def lock(self) -> str:
        """Locks that stay until the next statement but this: meanwhile writers must write."""
        mode = self.one("ACCESS SHARE", "ROW EXCLUSIVE", "SHARE", "ACCESS EXCLUSIVE")
        held = self.one(
            f"LOCK TABLE {self.table()} IN {mode} MODE",
            "SELECT pg_advisory_xact_lock(1)",
            f"{self.query()} FOR UPDATE",
        )
        return f"BEGIN; {held}"

    def large_object(self) -> str:
        return "SELECT " + self.one(
            "lo_get(4711)",
            "lo_open(4711, 131072)",
            "lo_export(4711, '/tmp/stolen')",
            "lo_unlink(4711)",
            "lo_put(4711, 0, 'x')",
        )

    def grant(self) -> str:
        who = self.one("CURRENT_USER", "PUBLIC", self.around.account)
        return self.one(
            f"GRANT ALL ON {self.table()} TO {who}",
            f"GRANT {self.draw.choice(self.around.others)} TO {who}",
            f"GRANT ALL ON SCHEMA confidential TO {who}",
            f"GRANT pg_read_all_data TO {who}",
            f"ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO {who}",
            "REVOKE ALL ON operations.log FROM PUBLIC",
            "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA operations TO PUBLIC",
            "GRANT SET ON PARAMETER log_statement TO PUBLIC",
        )


def _names(table: Table) -> tuple[str, ...]:
    return tuple(column.name for column in table.columns)


def _quoted(statement: str) -> str:
    return f"$inner${statement}$inner$"


def statements(seed: str, around: Around, number: int) -> Sequence[str]:
    grammar = Grammar(seed, around)
    return [grammar.statement() for _ in range(number)]
