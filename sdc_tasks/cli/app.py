"""`sdc`: the same steps as the DAG, and CTA by itself, for a methodologist at a shell.

Exit codes: 0 published or safe, or a protected table; 2 bad input; 3 blocked by the audit, not safe, or no protected table;
4 try again later.
"""

import typer

from sdc_tasks.cli.cta import cta
from sdc_tasks.cli.export import export_jj
from sdc_tasks.cli.release import audit, demo, release
from sdc_tasks.cli.verify import verify_certificate
from sdc_tasks.cli.what_if import what_if

app = typer.Typer(help=__doc__, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
for command in (demo, release, audit, cta, export_jj, verify_certificate, what_if):
    app.command()(command)
