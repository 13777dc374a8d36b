"""`sdc`: the same steps as the DAG, and CTA, rounding and cell suppression by themselves,
for a methodologist at a shell.

Exit codes: 0 published or safe, or a protected table or pattern; 2 bad input; 3 blocked by the audit, not
safe, or no protection found; 4 try again later; 5, 6 `sdc audit`: safe, but the table contradicts the
deliveries, or was not judged completely.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Annotated

import typer

import sdc_tasks
from sdc_tasks.cli.help import PanelCommand, PanelGroup
from sdc_tasks.cli.options import as_command
from sdc_tasks.cli.screen import out
from sdc_tasks.one_thread import one_thread

# Modules of this package and their commands, in the order of --help: what a release needs beside a table,
# what protects any table, and again of releases.
MODULES = {
    "release": ("demo", "release", "findings"),
    "audit": ("audit",),
    "searches.cta": ("cta",),
    "searches.suppress": ("suppress",),
    "searches.protect": ("protect",),
    "searches.intervals": ("intervals",),
    "recode": ("recode",),
    "rounding.round_counts": ("round_counts",),
    "rounding.round_table": ("round_table",),
    "rounding.perturb": ("perturb",),
    "searches.argus": ("argus",),
    "export": ("export", "export_jj"),
    "verify": ("verify_certificate",),
    "what_if": ("what_if",),
    "office": (
        "approve",
        "retract",
        "files",
        "explain",
        "verify_log",
        "maintenance",
        "new_key",
        "keep_secret",
        "rotate_keys",
    ),
}
OF_ANY_TABLE = ("searches.", "rounding.", "recode")  # these need no extra
PANELS = {"office": "Around releases"}
COMMANDS = {name: module for module, names in MODULES.items() for name in names}


def _version(asked: bool) -> None:
    if asked:
        out.print(f"sdc {sdc_tasks.__version__}")
        raise typer.Exit


def _start(
    version: Annotated[
        bool, typer.Option("--version", help="print the version and stop", is_eager=True, callback=_version)
    ] = False,
) -> None:
    one_thread()


def build(names: Iterable[str] = COMMANDS) -> typer.Typer:
    """`sdc` with these commands. Their modules are loaded, and no others."""
    app = typer.Typer(
        cls=PanelGroup,
        help=__doc__,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_start)
    for name in names:
        module = COMMANDS[name]
        function = getattr(import_module(f"sdc_tasks.cli.{module}"), name)
        extra = "" if module.startswith(OF_ANY_TABLE) else "release"
        app.command(cls=PanelCommand, rich_help_panel=PANELS.get(module))(as_command(function, extra))
    return app
