"""`sdc`: the same steps as the DAG, and CTA, rounding and cell suppression by themselves,
for a methodologist at a shell.

Exit codes: 0 published or safe, or a protected table or pattern; 2 bad input; 3 blocked by the audit, not
safe, or no protection found; 4 try again later; 5, 6 `sdc audit`: safe, but the table contradicts the
deliveries, or was not judged completely.
"""

from typing import Annotated

import typer

import sdc_tasks
from sdc_tasks.cli.audit import audit
from sdc_tasks.cli.export import export, export_jj
from sdc_tasks.cli.office import (
    approve,
    explain,
    files,
    keep_secret,
    maintenance,
    new_key,
    retract,
    rotate_keys,
    verify_log,
)
from sdc_tasks.cli.options import as_command
from sdc_tasks.cli.recode import recode
from sdc_tasks.cli.release import demo, findings, release
from sdc_tasks.cli.rounding.perturb import perturb
from sdc_tasks.cli.rounding.round_counts import round_counts
from sdc_tasks.cli.rounding.round_table import round_table
from sdc_tasks.cli.searches.argus import argus
from sdc_tasks.cli.searches.cta import cta
from sdc_tasks.cli.searches.intervals import intervals
from sdc_tasks.cli.searches.protect import protect
from sdc_tasks.cli.searches.suppress import suppress
from sdc_tasks.cli.terminal import out
from sdc_tasks.cli.verify import verify_certificate
from sdc_tasks.cli.what_if import what_if
from sdc_tasks.one_thread import one_thread


def _version(asked: bool) -> None:
    if asked:
        out.print(f"sdc {sdc_tasks.__version__}")
        raise typer.Exit


app = typer.Typer(help=__doc__, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
alone = (cta, suppress, protect, intervals, recode, round_counts, round_table, perturb, argus)  # of any table


@app.callback()
def start(
    version: Annotated[
        bool, typer.Option("--version", help="print the version and stop", is_eager=True, callback=_version)
    ] = False,
) -> None:
    one_thread()


for command in (demo, release, findings, audit, *alone, export, export_jj, verify_certificate, what_if):
    app.command()(as_command(command, "" if command in alone else "release"))
for duty in (approve, retract, files, explain, verify_log, maintenance, new_key, keep_secret, rotate_keys):
    app.command(rich_help_panel="around releases")(as_command(duty, "release"))
