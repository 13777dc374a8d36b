"""Commands of an office around releases: approve, retract, explain, verify the log, replace keys,
purge. They need only the warehouse.
"""

from __future__ import annotations

import json as json_
from pathlib import Path
from typing import Annotated, Any

import typer

from sdc_tasks.cli.options import INPUT, OUTPUT
from sdc_tasks.cli.screen import out
from sdc_tasks.cli.shared import DomainOption, PeriodOption, WarehouseOption
from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.series import Answer

ActorOption = Annotated[
    str | None,
    typer.Option("--as", help="who you are; default: SDC_ACTOR, else your account", rich_help_panel=INPUT),
]
ReleaseArgument = Annotated[str, typer.Argument(help="id of the release, such as sbs-2024-a48a19d9cf5f")]


def approve(
    release: ReleaseArgument,
    warehouse: WarehouseOption,
    publication: Annotated[
        str,
        typer.Option(
            "--publication",
            help="digest of the publication, 12 digits or more: see audit.json",
            rich_help_panel=INPUT,
        ),
    ],
    note: Annotated[str, typer.Option("--note", help="kept with the approval", rich_help_panel=INPUT)] = "",
    actor: ActorOption = None,
) -> None:
    """Approves exactly this publication of a release, on its passed audit. Who started a run of it cannot
    approve it.

    Example: sdc approve RELEASE --publication 3f9a0c51d2e7 --warehouse sqlite:///out/warehouse.db
    """
    from sdc_tasks.steps import open_office
    from sdc_tasks.warehouse.operations.decisions import approve, claimed

    office = open_office(warehouse, actor)
    audit = approve(office, release, publication, note)
    out.print(
        f"approved: {release}, publication {publication[:12]}, audit {audit[:12]}, by {claimed(office)}"
    )


def retract(
    release: ReleaseArgument,
    warehouse: WarehouseOption,
    reason: Annotated[
        str, typer.Option("--reason", help="the public sees it in place of the table", rich_help_panel=INPUT)
    ],
    agree: Annotated[
        bool,
        typer.Option(
            "--agree",
            help="only agree that somebody else takes it back for exactly this reason; nothing is "
            "taken back yet",
            rich_help_panel=INPUT,
        ),
    ] = False,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="the output folder of its period: table.csv, the files beside it and report.html "
            "are taken away there",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    actor: ActorOption = None,
) -> None:
    """Retracts a release: the public no longer sees its cells. An older version does not replace it.

    Where the terms of the release ask for approvals, somebody else agrees first: with --agree and the same
    reason, or in Required Actions.

    Example: sdc retract RELEASE --reason 'revised deliveries' --warehouse sqlite:///out/warehouse.db
    """
    from sdc_tasks import outputs, steps
    from sdc_tasks.warehouse import reader
    from sdc_tasks.warehouse.operations.decisions import claimed, withdraw

    office = steps.open_office(warehouse, actor)
    if agree:
        withdraw(office, release, reason)
        out.print(f"agreed: {release} may be taken back for this reason, by {claimed(office)}")
        return
    steps.retract(office, release, reason, actor)
    out.print(f"retracted: {release}")
    about = reader.of_release(office, release) or {}
    current = reader.current_release(office, about["domain"], about["period"])
    if current is not None:
        out.print(
            f"Version {current.version} is out: table.csv, and the files beside it, are of that version and "
            f"stay"
        )
    elif folder is None:
        out.print(
            "Its table.csv, and the files beside it, still lie where they were written. Take them away, or "
            "give the folder with --out"
        )
    elif outputs.withdraw_public(office, about["domain"], about["period"], folder):
        out.print(f"{folder}: table.csv, the files beside it and report.html are taken away")


def files(
    answer: Annotated[
        Answer,
        typer.Argument(
            help="keep: they do not count; replace: they count instead; both: all are one delivery"
        ),
    ],
    names: Annotated[list[str], typer.Argument(help="the files that wait, such as AT_new.csv")],
    domain: DomainOption,
    period: PeriodOption,
    warehouse: WarehouseOption,
    note: Annotated[str, typer.Option("--note", help="kept with the answer", rich_help_panel=INPUT)] = "",
    actor: ActorOption = None,
) -> None:
    """Says what second files of a country are, and judges what counts then. Until
    somebody does, no release is made.

    Example: sdc files keep AT_new.csv --domain demo/domain.yaml --period 2024 --warehouse
    sqlite:///out/warehouse.db
    """
    from sdc_tasks import steps

    desk = steps.open_desk(warehouse, domain, period, actor=actor)
    steps.settle(desk, names, answer, note)
    out.print(f"{answer.value}: {', '.join(names)}")


def verify_log(
    warehouse: WarehouseOption,
    head: Annotated[
        str | None,
        typer.Option(
            "--head",
            help="digest of an entry noted earlier: the log must still hold it",
            rich_help_panel=INPUT,
        ),
    ] = None,
    show: Annotated[bool, typer.Option("--show", help="print every entry", rich_help_panel=OUTPUT)] = False,
) -> None:
    """Checks that the log is one unbroken chain, and that log, releases and audits agree. Exit
    code 3 if not.

    Example: sdc verify-log --warehouse sqlite:///out/warehouse.db
    """
    from rich.table import Table

    from sdc_tasks.steps import open_office
    from sdc_tasks.warehouse.database.checks import failures, known_checks
    from sdc_tasks.warehouse.log import broken, entries

    engine = open_office(warehouse)
    chain = entries(engine)
    if show:
        table = Table("number", "when", "who", "account", "what", "of what")
        for each in chain:
            table.add_row(
                str(each.number),
                f"{each.recorded_at:%Y-%m-%d %H:%M:%S}",
                each.actor,
                each.account,
                each.action,
                each.subject[:40],
            )
        out.print(table)
    wrong = broken(chain, head)
    # None of these reads confidential content.
    about = tuple(
        f"{name}_"
        for name in (
            *("log", "release", "submission", "audit", "approval"),
            *("retraction", "withdrawal", "delivery", "row"),
        )
    )
    told = [name for name in known_checks(engine.dialect.name) if name.startswith(about)]
    wrong += failures(engine, told)
    for line in wrong:
        out.print(line)
    newest = chain[-1].digest if chain else "none"
    out.print(f"{'NOT VERIFIED' if wrong else 'verified'}: {len(chain)} entries, newest {newest}")
    if wrong:
        raise typer.Exit(3)


def explain(
    release: ReleaseArgument,
    cell: Annotated[
        str, typer.Argument(help="key of an aggregate cell, such as EU27_2020.TURNOVER.TOTAL._T")
    ],
    warehouse: WarehouseOption,
    json: Annotated[
        Path | None,
        typer.Option(
            "--json", help="write all of it, with every setting, here; confidential", rich_help_panel=OUTPUT
        ),
    ] = None,
    why: Annotated[
        bool,
        typer.Option(
            "--why",
            help="why the cell is not exact: the attack, through whose cells, what would free it; "
            "it names primary cells",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
) -> None:
    """Shows the lineage of a published cell: deliveries, settings, program, solvers, seeds,
    strategies, audit, approvals. No values.

    With --why it shows instead what keeps the cell from being exact. That is confidential:
    it names primary cells, by keys.

    Example: sdc explain RELEASE EU27_2020.TURNOVER.TOTAL._T --warehouse sqlite:///out/warehouse.db
    """
    from rich.table import Table

    from sdc_tasks.steps import open_office
    from sdc_tasks.warehouse.dissemination.lineage import explain

    if why:
        from sdc_tasks.steps.why import why as why_of

        if json is not None:
            raise InvalidInput(
                "--json is for the lineage, which is not confidential. Remedy: leave out --why, or --json"
            )
        found = why_of(open_office(warehouse), release, cell)
        out.print(f"{found.cell}: {found.state}")
        for sentence in found.sentences:
            out.print(f"  {sentence}")
        return
    told = explain(open_office(warehouse), release, cell)
    if json is not None:
        json.write_text(json_.dumps(told, indent=1, default=str, ensure_ascii=False) + "\n", encoding="utf-8")
    table = Table(title=f"{cell} of {release}", show_header=False, title_justify="left")
    for name, text in _lines(told):
        table.add_row(name, text)
    out.print(table)


def _lines(told: dict[str, Any]) -> list[tuple[str, str]]:
    release, cell, audit, settings = told["release"], told["cell"], told["audit"], told["settings"] or {}
    printed = "withheld" if cell["value"] is None else f"{cell['value']:,.10g}"
    base = "" if cell["rounding_base"] is None else f", base {cell['rounding_base']:,.10g}"
    lines = [
        ("published", f"{printed}{base}, OBS_STATUS {cell['obs_status']}"),
        ("version", f"{release['version']}, released {release['released_at']:%Y-%m-%d %H:%M} UTC"),
        ("publication", release["publication_digest"]),
    ]
    if release["embargo"]:
        lines.append(("embargo", f"until {release['embargo']:%Y-%m-%d %H:%M} UTC"))
    if release["retracted"]:
        lines.append(("retracted", release["retracted"]))
    lines += _deliveries(told)
    if settings:
        lines += [
            ("domain file", f"{settings['id']}, digest {told['terms']['digest']}"),
            ("seeds", f"cta {settings['cta']['seed']}, audit {settings['audit']['seed']}"),
            ("bases", f"rule {settings['bases']['rule']}, ladder {settings['bases']['mantissas']}"),
            ("program", ", ".join(f"{name} {version}" for name, version in told["program"].items())),
            ("submitted by", told["submitted"]["submitter"]),
        ]
    lines += [
        ("strategy", f"{each['method']}: {each['outcome']}, {each['reason']}") for each in told["rungs"]
    ]
    lines.append(("audit", f"{audit['verdict']} {audit['attackers']}: {audit['claim']}"))
    lines.append(("certificate", audit["digest"]))
    lines += [
        ("approved by", f"{each['approver']}, {each['approved_at']:%Y-%m-%d %H:%M} UTC {each['note']}")
        for each in told["approvals"]
    ]
    return lines


def _deliveries(told: dict[str, Any]) -> list[tuple[str, str]]:
    """The deliveries that add to a cell, and the countries that decided beside them."""
    adds = [each for each in told["deliveries"] if each["adds"]]
    beside = [each["country"] for each in told["deliveries"] if not each["adds"]]
    lines = [(f"delivery {each['country']}", f"{each['file']}, known as {each['digest']}") for each in adds]
    return [*lines, ("decided beside", ", ".join(beside) or "no other country")]


def maintenance(warehouse: WarehouseOption, actor: ActorOption = None) -> None:
    """Looks for damage in the database, purges confidential content past its retention, verifies the log, and
    runs every check of the warehouse. Exit code 3 if something is wrong.

    Example: sdc maintenance --warehouse sqlite:///out/warehouse.db
    """
    from sdc_tasks.steps import open_office
    from sdc_tasks.warehouse.confidential.maintenance import damage, purge
    from sdc_tasks.warehouse.confidential.secret import secret_of
    from sdc_tasks.warehouse.database.checks import failures
    from sdc_tasks.warehouse.log import broken, entries

    engine = open_office(warehouse, actor)
    secret_of(engine)  # raises where the secret cannot be read
    if wrong := damage(engine):
        for line in wrong:
            out.print(line)
        out.print(
            "Remedy: release nothing, restore the newest backup, and deliver again everything that arrived "
            "after it"
        )
        raise typer.Exit(3)
    out.print(f"{purge(engine)} payloads purged")
    failed = [*broken(entries(engine)), *failures(engine)]
    for line in failed:
        out.print(line)
    if failed:
        raise typer.Exit(3)
    out.print("the log is one chain, and every check passes")


def new_key() -> None:
    """Makes a payload key and prints it. Store it in the secret backend that sets
    SDC_PAYLOAD_KEYS, and show it to nobody.

    Example: sdc new-key
    """
    from sdc_tasks.warehouse.keyring import new_key

    print(new_key())


def keep_secret(
    file: Annotated[
        Path,
        typer.Argument(
            help="where to write it, for SDC_WAREHOUSE_SECRET; only its owner can read it; no file yet"
        ),
    ],
    warehouse: WarehouseOption,
    actor: ActorOption = None,
) -> None:
    """Writes the secret of the warehouse into a new file, to be kept apart from it, and prints its
    fingerprint. The log tells that it is kept. With it in SDC_WAREHOUSE_SECRET, another warehouse draws the
    same tables of the same deliveries. Show it to nobody.

    Example: sdc keep-secret secret.txt --warehouse sqlite:///out/warehouse.db
    """
    import os

    from sdc_tasks.steps import open_office
    from sdc_tasks.warehouse.confidential.secret import keep

    def place(text: str) -> None:
        try:
            with os.fdopen(
                os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="ascii"
            ) as opened:
                opened.write(text + "\n")
                opened.flush()
                os.fsync(opened.fileno())
        except OSError as error:
            raise InvalidInput(
                f"{file}: {error.strerror}. Nothing was kept. Remedy: name a new file in a folder of yours"
            ) from None

    out.print(f"kept in {file}: secret {keep(open_office(warehouse, actor), place)}")


def rotate_keys(
    warehouse: WarehouseOption,
    actor: ActorOption = None,
) -> None:
    """Encrypts everything with the newest key. A SQLite warehouse with a key file gets a new key.
    Elsewhere, first put a new key (sdc new-key) in front of SDC_PAYLOAD_KEYS. Keep the old key as long
    as a backup is encrypted with it.

    Example: sdc rotate-keys --warehouse sqlite:///out/warehouse.db
    """
    import os

    from sqlalchemy import make_url

    from sdc_tasks.steps import open_office
    from sdc_tasks.warehouse.confidential.maintenance import rotate
    from sdc_tasks.warehouse.keyring import key_file, new_key, write_key_file

    url = make_url(warehouse)
    own = (
        None
        if os.environ.get("SDC_PAYLOAD_KEYS") or url.get_backend_name() != "sqlite"
        else key_file(Path(str(url.database)))
    )
    if own is not None:
        if not own.exists():
            raise InvalidInput(f"{own}: no such key file. Remedy: name an existing warehouse")
        write_key_file(own, [new_key(), *own.read_text(encoding="ascii").split()])
    done = rotate(open_office(warehouse, actor))
    if own is not None:
        write_key_file(own, own.read_text(encoding="ascii").split()[:2])
    out.print(f"{done} payloads encrypted with the newest key")
