"""Several files of a country are one delivery: which replaces which is a matter of their series.
And what of an inbox is not read.
"""

from __future__ import annotations

import re

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"

VERSION = re.compile(r"(?P<stem>.+)_v(?P<number>[1-9][0-9]{0,5})(?P<suffix>\.[^.]*)?")
BEFORE = "files received; the same bytes for the same domain and period are one delivery"
AFTER = (
    "files received, each known by its bytes; those accepted of a country are its "
    "delivery; series and version: model/series.py"
)
INDEX, KEYS = "ux_delivery_accepted", ["domain", "period", "country"]
ACCEPTED = sa.text("state = 'accepted'")


def upgrade() -> None:
    schema = within("operations")
    op.add_column("delivery", sa.Column("series", sa.Text, nullable=False, server_default=""), schema=schema)
    op.add_column(
        "delivery", sa.Column("version", sa.Integer, nullable=False, server_default="0"), schema=schema
    )
    name_series()
    op.drop_index(INDEX, "delivery", schema=schema)
    op.create_index(
        INDEX,
        "delivery",
        [*KEYS, "series"],
        unique=True,
        schema=schema,
        postgresql_where=ACCEPTED,
        sqlite_where=ACCEPTED,
    )
    if on_postgresql():
        op.create_table_comment("delivery", AFTER, existing_comment=BEFORE, schema=schema)
    op.create_table(
        "unread",
        *(sa.Column(column, sa.Text, primary_key=True) for column in ("domain", "period", "file")),
        sa.Column("why", sa.Text, nullable=False),
        schema=schema,
        comment="what lay in the inbox when it was last looked into, and is not read; no release "
        "is made while there is any",
    )


def downgrade() -> None:
    schema = within("operations")
    op.drop_table("unread", schema=schema)
    one_of_each_country()
    op.drop_index(INDEX, "delivery", schema=schema)
    op.drop_column("delivery", "version", schema=schema)
    op.drop_column("delivery", "series", schema=schema)
    op.create_index(
        INDEX, "delivery", KEYS, unique=True, schema=schema, postgresql_where=ACCEPTED, sqlite_where=ACCEPTED
    )
    if on_postgresql():
        op.create_table_comment("delivery", BEFORE, existing_comment=AFTER, schema=schema)


def name_series() -> None:
    """By their names; what was replaced under the earlier rule, by any file of its country, is of
    the series of what replaced it.
    """
    connection = op.get_bind()
    rows = (
        connection.execute(sa.text(f"SELECT domain, period, digest, file, superseded_by FROM {delivery()}"))
        .mappings()
        .all()
    )
    known = {(row["domain"], row["period"], row["digest"]): row for row in rows}
    for key, row in known.items():
        last, seen = row, {row["digest"]}
        while (by := last["superseded_by"]) is not None and by not in seen:
            last, _ = known[key[0], key[1], by], seen.add(by)
        found = VERSION.fullmatch(last["file"])
        series = found["stem"] + (found["suffix"] or "") if found else last["file"]
        version = int(found["number"]) if found and last is row else 0
        connection.execute(
            sa.text(
                f"UPDATE {delivery()} SET series = :series, version = :version WHERE (domain, period, "
                f"digest) = (:d, :p, :g)"
            ),
            {"series": series, "version": version, "d": key[0], "p": key[1], "g": key[2]},
        )


def one_of_each_country() -> None:
    """The earlier rule knows one accepted file of a country: the last one received."""
    connection = op.get_bind()
    wanted = (
        f"SELECT domain, period, country, digest FROM {delivery()} WHERE state = "
        f"'accepted' ORDER BY received_at, digest"
    )
    newest: dict[tuple[str, ...], str] = {}
    rows = connection.execute(sa.text(wanted)).all()
    for row in rows:
        newest[tuple(row[:3])] = row.digest
    for row in rows:
        if (by := newest[tuple(row[:3])]) != row.digest:
            told = (
                f"UPDATE {delivery()} SET state = 'superseded', superseded_by = :by WHERE "
                f"(domain, period, digest) = (:d, :p, :g)"
            )
            connection.execute(sa.text(told), {"by": by, "d": row.domain, "p": row.period, "g": row.digest})


def delivery() -> str:
    return "operations.delivery" if on_postgresql() else "delivery"


def within(schema: str) -> str | None:
    return schema if on_postgresql() else None


def on_postgresql() -> bool:
    return op.get_context().dialect.name == "postgresql"
